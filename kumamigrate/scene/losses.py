"""What would go with a policy that was only tried to be taken away, in words."""

from __future__ import annotations

from kumamigrate.effective.difference import Effect
from kumamigrate.model.shown import value_words
from kumamigrate.prover import Witness
from kumamigrate.scene.held import Held

MOST = 2


def losses(held: Held) -> tuple[str, ...]:
    """Return what would be lost with what was only tried to be taken away, or is not known."""
    values = [w for w in held.witnesses if w.effect is Effect.VALUE] or held.witnesses
    if not values:
        return tuple(f"whether anything reads it is not known: {why}" for why in held.unknown[:1])
    policy = held.change.findings[0].resource
    said = [*dict.fromkeys(map(_in_words, values))]
    more = f" and {len(said) - MOST} more" if len(said) > MOST else ""
    name = f"{policy.type} {policy.name}" if policy is not None else "it"
    return (f"without {name}: {', '.join(said[:MOST])}{more}",)


def _in_words(witness: Witness) -> str:
    proxy = witness.proxy or "any proxy"
    arrow = "→" if witness.direction == "outbound" else "at"
    where = f"{proxy} {arrow} {witness.destination}" if witness.destination else proxy
    before, after = (value_words(side.value) for side in (witness.before, witness.after))
    return f"{where} {witness.field} {before} → {after}"
