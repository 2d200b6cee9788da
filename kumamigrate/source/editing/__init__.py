"""From the values that resources shall have to edits of their text, and to files on disk."""
