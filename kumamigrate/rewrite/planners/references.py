"""References to routes and services in `to`, in backends and in routes."""

from kumamigrate.rewrite.references.rereference import plan_references as plan

__all__ = ["plan"]
