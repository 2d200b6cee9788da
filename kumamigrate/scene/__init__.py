"""One environment in memory: its files, what a control plane makes of them, changes on trial."""
