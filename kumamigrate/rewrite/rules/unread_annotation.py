"""Declared in rules/unread-annotation.yaml."""

from kumamigrate.rewrite.metadata import plan as plan
