"""Kuma's objects as frozen values. Knows no YAML text and no rules."""
