"""Declared in rules/builtin-gateway-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
