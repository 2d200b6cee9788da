"""References by tag and by name become references by labels, to proxies and to services."""
