"""Which proxies, services, destinations and clusters there are, or could be, in one mesh."""
