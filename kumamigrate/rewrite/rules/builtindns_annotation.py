"""Declared in rules/builtindns-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
