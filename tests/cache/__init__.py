"""Answers that are kept from one check for the next."""
