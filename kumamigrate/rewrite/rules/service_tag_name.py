"""Targets that name a service tag become the real MeshService."""

from __future__ import annotations

from kumamigrate.rewrite.rereference import plan_references as plan

__all__ = ["plan"]
