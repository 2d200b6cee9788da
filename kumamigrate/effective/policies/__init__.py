"""How each policy type is read, and the old kind that it takes the place of: one module a type."""
