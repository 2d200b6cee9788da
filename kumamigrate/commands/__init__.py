"""What each command does with its arguments: read, call the pipeline, print, exit code."""
