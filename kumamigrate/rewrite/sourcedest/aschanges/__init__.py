"""Conversions of old kinds as changes and findings of a rule."""
