"""What no proxy would miss (`check --dead`), and why."""
