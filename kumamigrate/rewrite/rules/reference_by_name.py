"""References by name become references by labels."""

from __future__ import annotations

from kumamigrate.rewrite.rereference import plan_references as plan

__all__ = ["plan"]
