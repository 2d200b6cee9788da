"""What a check came to, kept for when it is asked the same again of the same files."""
