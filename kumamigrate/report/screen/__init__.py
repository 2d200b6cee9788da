"""What stands on the terminal: what changes, what that rests on, what is left."""
