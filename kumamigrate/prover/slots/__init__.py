"""Two sides of one mesh compared slot by slot: what proxies read at each place of both."""
