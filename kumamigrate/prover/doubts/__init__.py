"""Why a verdict cannot be given, and whom that concerns."""
