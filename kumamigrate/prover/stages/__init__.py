"""Cheapest first: local asks nothing of the mesh, search looks for proxies that differ."""
