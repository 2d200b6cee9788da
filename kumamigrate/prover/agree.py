"""One verdict from several worlds: only what holds in each of them holds (world.md §1).

The worlds differ in what the control plane made with the mesh. Where all of them show a
difference it is one; where only some do, nobody knows, and the reason names the worlds, the value
in each, and what settles it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.effective.difference import HARMLESS, Value, Witness, inbound_and_client
from kumamigrate.effective.doubted import Doubt, DoubtKind
from kumamigrate.model.initial import CHOICES, named
from kumamigrate.prover.proof import ClaimResult, MeshProof, ProxyVerdict, Verdict, gathered, worst
from kumamigrate.targetref.permission import PERMISSION

MOST = 20
"""So many settings are named that depend on the world; the rest is counted."""

Found = Mapping[str, Sequence[Witness]]
"""By world: the differences that count there."""
Doubted = Mapping[str, Sequence[Doubt]]
"""By world: what makes the verdict unknown there."""


def agreed(parts: Mapping[str, MeshProof]) -> MeshProof:
    """Return the proof of a mesh that holds whichever of the worlds it lives in."""
    proofs = tuple(parts.values())
    first = proofs[0]
    if len(proofs) == 1:
        return first
    claims = {
        name: _claim({w: p.claims[name] for w, p in parts.items() if name in p.claims})
        for name in first.claims
    }
    return gathered(proofs, claims)


def apart(found: Found, unknown: Doubted) -> tuple[Doubt, ...]:
    """Return why worlds that do not agree make a verdict unknown: what settles it, and what
    becomes of each setting in each world."""
    shared = set.intersection(*(set(doubts) for doubts in unknown.values()))
    slots = dict.fromkeys(w.slot for witnesses in found.values() for w in witnesses)
    settings = [f"{words}: {_each(slot, found)}" for slot, words in _worded(slots, found)]
    if len(settings) > MOST:
        settings = [*settings[:MOST], f"{len(settings) - MOST} more settings depend on it as well"]
    doubted = [
        Doubt(doubt.kind, f"with {named(world)}: {doubt}")
        for world, doubts in unknown.items()
        for doubt in doubts
        if doubt not in shared
    ]
    apart = (*(Doubt(DoubtKind.WORLD, text) for text in settings), *doubted)
    header = (_settled_by(slots),) if apart else ()
    return tuple(dict.fromkeys((*header, *apart, *_in_order(unknown, shared))))


def _settled_by(slots: Iterable[tuple[str, ...]]) -> Doubt:
    """Return what it depends on, and how to say which it is."""
    meshes = sorted({slot[0] for slot in slots})
    mesh = f"mesh {' and '.join(meshes)}" if meshes else "the mesh"
    return Doubt(
        DoubtKind.WORLD,
        f"it depends on the policies that the control plane gave {mesh} when it made it; say"
        f" --initial-policies {'|'.join(CHOICES)}, or give an --inventory",
    )


def _in_order(unknown: Doubted, shared: set[Doubt]) -> Iterator[Doubt]:
    return (doubt for doubts in unknown.values() for doubt in doubts if doubt in shared)


def _claim(parts: Mapping[str, ClaimResult]) -> ClaimResult:
    counting = {world: _counting(part.witnesses) for world, part in parts.items()}
    first = next(iter(parts.values()))
    modes = {mode: _one_of(p.modes.get(mode) for p in parts.values()) for mode in first.modes}
    if all(counting.values()):
        proxies = tuple(_proxies(parts, split=False))
        unknown = tuple(dict.fromkeys(u for p in parts.values() for u in p.unknown))
        return ClaimResult(verdict=Verdict.DIFFERENT, proxies=proxies, unknown=unknown, modes=modes)
    disagree = any(counting.values())
    proxies = tuple(_proxies(parts, split=disagree))
    unknown = apart(counting, {w: p.doubts for w, p in parts.items()})
    verdicts = [Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT]
    return ClaimResult(
        verdict=worst((*verdicts, *(p.verdict for p in proxies))),
        proxies=proxies,
        unknown=unknown,
        modes=modes,
    )


def _proxies(parts: Mapping[str, ClaimResult], *, split: bool) -> Iterator[ProxyVerdict]:
    """Yield what holds for each proxy in every world.

    Made-up proxies stand for different sets in different worlds: those of the first world are
    shown, and where the worlds do not agree none of them is sure.
    """
    by_name = {w: {(p.name, p.made_up): p for p in part.proxies} for w, part in parts.items()}
    first = next(iter(by_name.values()))
    names = dict.fromkeys(key for found in by_name.values() for key in found if not key[1])
    for key in names:
        yield _proxy({w: found[key] for w, found in by_name.items() if key in found})
    for key, proxy in first.items():
        if not key[1]:
            continue
        own = {w: found[key] for w, found in by_name.items() if key in found}
        elsewhere = any(_counting(p.witnesses) for p in own.values())
        if split or (elsewhere and not _counting(proxy.witnesses)):
            yield _unsure(proxy, own)
        else:
            yield _shown(proxy, own)


def _proxy(parts: Mapping[str, ProxyVerdict]) -> ProxyVerdict:
    first = next(iter(parts.values()))
    counting = {world: _counting(part.witnesses) for world, part in parts.items()}
    if all(counting.values()):
        return first
    unknown = apart(counting, {w: p.unknown for w, p in parts.items()})
    return _settled(first, parts.values(), unknown)


def _unsure(proxy: ProxyVerdict, parts: Mapping[str, ProxyVerdict]) -> ProxyVerdict:
    """Return a made-up proxy where the worlds disagree; the claim says in what."""
    found = _settled(proxy, parts.values(), proxy.unknown)
    return replace(found, verdict=Verdict.UNKNOWN)


def _shown(proxy: ProxyVerdict, parts: Mapping[str, ProxyVerdict]) -> ProxyVerdict:
    """Return a made-up proxy where the worlds agree."""
    if _counting(proxy.witnesses):
        return proxy
    unknown = tuple(dict.fromkeys(u for p in parts.values() for u in p.unknown))
    return _settled(proxy, parts.values(), unknown)


def _settled(
    proxy: ProxyVerdict, parts: Iterable[ProxyVerdict], unknown: tuple[Doubt, ...]
) -> ProxyVerdict:
    """Return a proxy with the harmless differences of all worlds and what is unknown of it."""
    harmless = {w.key: w for part in parts for w in part.witnesses if w.effect in HARMLESS}
    verdict = Verdict.UNKNOWN if unknown else Verdict.DIFFERENT if harmless else Verdict.EQUIVALENT
    return replace(proxy, verdict=verdict, witnesses=tuple(harmless.values()), unknown=unknown)


def _one_of(verdicts: Iterable[Verdict | None]) -> Verdict:
    found = {verdict for verdict in verdicts if verdict is not None}
    return found.pop() if len(found) == 1 else Verdict.UNKNOWN


def _counting(witnesses: Iterable[Witness]) -> tuple[Witness, ...]:
    return tuple(w for w in witnesses if w.effect not in HARMLESS)


def _worded(
    slots: Iterable[tuple[str, ...]], found: Found
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield each setting with the words for it."""
    first: dict[tuple[str, ...], Witness] = {}
    for witnesses in found.values():
        for witness in witnesses:
            first.setdefault(witness.slot, witness)
    for slot in slots:
        witness = first[slot]
        field = f" {witness.field}" if witness.field and not _is_grant(witness) else ""
        inbound = witness.direction == "inbound"
        to, client = inbound_and_client(witness) if inbound else (witness.destination, "")
        way = f"{witness.direction} to {to}" if to else witness.direction
        where = ", ".join(filter(None, (way, client)))
        yield slot, f"{witness.policy_type}{field} ({where})"


def _each(slot: tuple[str, ...], found: Found) -> str:
    """Return what becomes of a setting in each world, worlds that say the same together."""
    said: dict[str, list[str]] = {}
    for world, witnesses in found.items():
        witness = next((w for w in witnesses if w.slot == slot), None)
        said.setdefault("nothing changes" if witness is None else _change(witness), []).append(
            named(world)
        )
    return "; ".join(f"with {' or '.join(worlds)} {what}" for what, worlds in said.items())


def _is_grant(witness: Witness) -> bool:
    """Say whether it is about who may connect, of which each form of a permission has its own
    fields: their values are no help to a reader."""
    return witness.policy_type == PERMISSION


def _change(witness: Witness) -> str:
    if _is_grant(witness):
        return "something else decides who may connect"
    return f"it goes {_value(witness.before)} → {_value(witness.after)}"


def _value(side: Value) -> str:
    by = f" ({side.policy.rsplit('/', 1)[-1]})" if side.policy else ""
    return f"{_words(side.value)}{by}"


def _words(value: Any) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return text if len(text) <= 80 else text[:77] + "…"
