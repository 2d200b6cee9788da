"""The old source/destination policies: who wins where, as the 2.x control plane decides it."""
