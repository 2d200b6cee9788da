"""Declared in rules/sidecar-injection-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
