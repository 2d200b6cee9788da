"""What has to agree: claim *carry* and claim *release*; *live* is `prover.slots.mesh` itself.

A new claim goes here: a module that says which slots of two sides are held together.
"""
