"""What a release's control plane refuses or warns about. Imports the model only."""
