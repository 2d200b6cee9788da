"""Rules that need more than literal steps: one module each, named like the rule, with `plan`."""
