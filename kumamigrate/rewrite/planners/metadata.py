"""Annotations and labels that go, move or get another value, as the rule's table says."""

from kumamigrate.rewrite.declarative.metadatarules import plan as plan
