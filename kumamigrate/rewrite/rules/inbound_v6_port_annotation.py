"""Declared in rules/inbound-v6-port-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
