"""Declared in rules/virtual-probes-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
