"""Backends by service tag become real ones; shares by tags are for a human."""

from __future__ import annotations

from kumamigrate.rewrite.rereference import plan_references as plan

__all__ = ["plan"]
