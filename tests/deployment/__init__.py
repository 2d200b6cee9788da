"""Tests of environments: found, read, built."""
