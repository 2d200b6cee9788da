"""Declared in rules/prometheus-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
