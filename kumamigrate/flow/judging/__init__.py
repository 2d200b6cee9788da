"""May one scene follow another? Claims asked of the prover, in every world and environment."""
