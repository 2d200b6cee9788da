"""Old kinds that speak of outbounds: who wins for each class of proxies, and what says the same."""
