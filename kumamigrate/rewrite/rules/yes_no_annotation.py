"""Declared in rules/yes-no-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
