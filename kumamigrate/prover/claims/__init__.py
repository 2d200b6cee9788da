"""What has to agree: claim *carry* and claim *release*; *live* is `prover.mesh` itself."""
