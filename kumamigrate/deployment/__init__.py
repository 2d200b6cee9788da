"""Environments: which sources are applied together to one control plane, and what it gets."""
