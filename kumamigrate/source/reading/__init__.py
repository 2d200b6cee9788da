"""From the bytes of a file to documents: found, masked, parsed, or said why not."""
