"""Equivalence of two states, claim by claim (product.md §5)."""

from kumamigrate.prove.proof import (
    ClaimResult,
    Effect,
    MeshProof,
    Outbound,
    Proof,
    ProxyVerdict,
    Value,
    Verdict,
    Witness,
    to_json,
)
from kumamigrate.prove.prover import prove

__all__ = [
    "ClaimResult",
    "Effect",
    "MeshProof",
    "Outbound",
    "Proof",
    "ProxyVerdict",
    "Value",
    "Verdict",
    "Witness",
    "prove",
    "to_json",
]
