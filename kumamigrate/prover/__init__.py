"""Equivalence of two states, claim by claim (product.md §5)."""

from typing import TYPE_CHECKING, Any

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.prover.proof import ClaimResult, MeshProof, Proof, ProxyVerdict, Verdict, to_json

if TYPE_CHECKING:
    from kumamigrate.prover.prover import prove
    from kumamigrate.universe.traffic import Outbound

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


def __getattr__(name: str) -> Any:
    """Import the prover when it is first asked for: reports of `check` need only the values."""
    if name == "prove":
        from kumamigrate.prover.prover import prove

        return prove
    if name == "Outbound":
        from kumamigrate.universe.traffic import Outbound

        return Outbound
    raise AttributeError(name)
