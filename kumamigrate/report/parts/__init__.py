"""Reports of parts of the environments, told apart and put together (docs/scale.md)."""
