"""One module per policy type: what its conf comes to in each slot, and what the old policy before
it came to (`of_old`), so that a Retry equals a MeshRetry exactly where both come to the same."""
