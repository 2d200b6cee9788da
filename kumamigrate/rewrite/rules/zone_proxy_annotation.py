"""Declared in rules/zone-proxy-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
