"""What a run is about: which files are read, which environments they make, what stands beside."""
