"""Rewrite Kuma policies in place for a chosen release, and prove that no proxy changes."""

__version__ = "0.1.0"
