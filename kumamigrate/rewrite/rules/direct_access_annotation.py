"""Declared in rules/direct-access-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
