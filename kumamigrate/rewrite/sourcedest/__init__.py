"""Old source/destination policies into targetRef policies, as functions from values to values."""
