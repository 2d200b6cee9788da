"""Declared in rules/mesh-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
