"""Rules that are tables: which fields are selected, and what is done with them."""
