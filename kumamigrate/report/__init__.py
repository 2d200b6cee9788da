"""Results for people and programs: text, JSON, exit codes."""
