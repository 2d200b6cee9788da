"""Snapshots: an inventory taken from a cluster, a control plane or exports, on request only."""
