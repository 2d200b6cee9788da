"""Rules: what is changed, why, and into what. Says edits as values; never writes."""
