"""What Envoy calls the matchers and filters of rules: after the policies that they are of."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.effective.difference import Value, Witness
from kumamigrate.effective.policies.meshfault import FILTER_NAME
from kumamigrate.model.kri import kri_of
from kumamigrate.prover.slots.letin import Read


def renamed(policy_type: str, old: Read, new: Read) -> Iterator[Witness]:
    """Yield the names at an inbound where both sides have rules there, and not the same names.

    What takes the place of something else, or is of another release, is told as such.
    """
    if old.side.release != new.side.release or old.point is None or new.point is None:
        return
    numbers = [r.side.contents.of_list(r.point.policies) for r in (old, new) if r.point]
    if numbers[0] == numbers[1]:
        return
    before, after = _names(policy_type, old), _names(policy_type, new)
    if before and after and before != after:
        yield Witness(
            mesh=old.side.mesh,
            proxy="",
            policy_type=policy_type,
            direction="inbound",
            destination=old.point.key,
            place=old.point.key,
            field=FILTER_NAME,
            before=Value(value=before),
            after=Value(value=after),
        )


def _names(policy_type: str, read: Read) -> list[str]:
    answer = read.answer(policy_type)
    rules = () if answer is None else answer.rules
    return [str(kri_of(entry.policy)) for rule in rules if rule.conf for entry in rule.entries]
