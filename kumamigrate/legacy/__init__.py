"""Kuma's old engine: which source/destination policy wins where. Imports the model only."""
