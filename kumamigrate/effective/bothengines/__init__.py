"""What proxies are configured with where source/destination policies stand beside newer ones."""
