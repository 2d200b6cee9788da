"""Kuma's targetRef matcher: what every proxy resolves to. Imports the model only."""
