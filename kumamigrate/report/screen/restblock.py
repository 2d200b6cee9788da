"""The second block: what a verdict rests on. Each fact once, facts of one ground together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kumamigrate.model.taken import Ground, Taken
from kumamigrate.prover import Proof
from kumamigrate.report.screen.causes import sentences
from kumamigrate.report.screen.counted import some
from kumamigrate.report.styled import Line, line

MOST = 2
MOST_FACTS = 8
IF_TCP = ", if services whose Dataplanes are not here carry TCP"
_ZONE = "kuma.io/zone="
_NAME, _HOME = "kuma.io/display-name=", "k8s.kuma.io/namespace="


def facts_of(proof: Proof, *, old_policies: bool, verbose: bool) -> list[str]:
    """Return what is taken for granted and why not every proxy is spoken of, each thing once.

    `old_policies` says whether there are any but those that Kuma may have made itself.
    """
    taken = list(proof.assumptions)
    limits = [why for why in proof.beyond if not any(fact in why for fact in taken)]
    grouped = [
        *_initial(_of(taken, Ground.INITIAL_POLICIES)),
        *_same_proxies(_of(taken, Ground.SAME_PROXIES), verbose),
        *_services(_of(taken, Ground.SERVICE), verbose),
        *_of_one_protocol(_of(taken, Ground.PROTOCOL), verbose),
    ]
    others = [fact for fact in taken if not isinstance(fact, Taken)]
    old = _of(taken, Ground.OLD_POLICIES)
    others += old if old_policies else _up_to_25(old)
    said = (limits, others, list(proof.ties)) if verbose else map(sentences, (limits, others))
    first, second, *_ = said
    return [*grouped, *(f"not for every proxy: {why}" for why in first), *second]


def about_protocol(limit: str) -> bool:
    """Say whether what limits a verdict is that of some service the protocol is not known."""
    return isinstance(limit, Taken) and limit.ground is Ground.PROTOCOL


def _up_to_25(facts: Sequence[str]) -> list[str]:
    """Say what matters only to who was given policies that nobody sees."""
    return [f"if Kuma gave it the policies up to 2.5: {'; '.join(facts)}"] if facts else []


def rest_lines(facts: Sequence[str], more: Iterable[Line], *, verbose: bool) -> list[Line]:
    """Return the block: facts, then what else there is to say; nothing where there is neither."""
    most = len(facts) if verbose else MOST_FACTS
    lines = [line(f"  {fact}") for fact in facts[:most]]
    if len(facts) > most:
        lines.append(line((f"  … and {len(facts) - most} more: --verbose", "dim")))
    lines += more
    return [(), line(("RESTS ON", "strong")), *lines] if lines else []


def _of(facts: Iterable[str], ground: Ground) -> list[Taken]:
    return [fact for fact in facts if isinstance(fact, Taken) and fact.ground is ground]


def _initial(facts: Sequence[Taken]) -> list[str]:
    """Say that each choice of initial policies was tried, where they are not known; which they
    are where it is settled stands in the first line."""
    by_words: dict[str, list[str]] = {}
    for fact in facts:
        mesh, settled, tried = fact.parts
        if not settled:
            by_words.setdefault(tried, []).append(mesh)
    return [
        f"what Kuma gave mesh {', '.join(meshes)} at creation is not known, so each was tried:"
        f" {tried} (--initial-policies or an inventory settles it)"
        for tried, meshes in by_words.items()
    ]


def _same_proxies(facts: Sequence[Taken], verbose: bool) -> list[str]:
    """Say of tags and labels that they choose the same workloads, how many they are."""
    mirrored: list[tuple[str, int]] = []
    others: list[str] = []
    services: list[tuple[str, str]] = []
    for fact in facts:
        old, new, chosen = fact.parts
        tags, labels = _chosen_by(old), _chosen_by(new)
        if tags and tags == labels:
            mirrored.append((tags, int(chosen)))
        elif _is_service(old) and new.startswith("Dataplane with "):
            services.append((old, new))
        else:
            others.append(_same(old, new))
    said = []
    if mirrored:
        names = some((tags for tags, _ in mirrored), len(mirrored) if verbose else MOST)
        number = sum(chosen for _, chosen in mirrored)
        proxies = f"the same {number} workloads" if number > 1 else "the same workload"
        known = proxies if number else "the same workloads (none is known here: --inventory)"
        verb = "chooses" if len(mirrored) == 1 else "choose"
        said.append(f"{names} as tag and as label {verb} {known}")
    if len(services) == 1 or verbose:
        others += [
            f"{_short(old)} and {_short(new)} choose the same proxies" for old, new in services
        ]
    elif services:
        names = some((old.removeprefix("MeshService ") for old, _ in services), MOST)
        tagged = f"{len(services)} service tags"
        said.append(f"{tagged} and the labels in their place choose the same proxies: {names}")
    return [*said, *(others if verbose else sentences(others))]


def _same(old: str, new: str) -> str:
    return f"{_short(old)} and {_short(new)} choose the same proxies"


def _is_service(reference: str) -> bool:
    return reference.startswith("MeshService ") and " with " not in reference


def _chosen_by(reference: str) -> str:
    """Return the tags or labels of a reference, nothing where it has a name."""
    kind, _, by = reference.partition(" with ")
    return "" if " " in kind else by.replace(": ", "=")


def _short(reference: str) -> str:
    kind, _, by = reference.partition(" with ")
    if kind == "Dataplane" and by:
        return f"the labels {by.replace(': ', '=')}"
    name = kind.partition(" ")[2]
    if _is_service(reference):
        return f"service tag {name}"
    return reference.replace(": ", "=")


def _services(facts: Sequence[Taken], verbose: bool) -> list[str]:
    """Say which services are not among the files; one that two references mean, once."""
    named: dict[tuple[str, str], dict[str, None]] = {}
    for fact in facts:
        mesh, kind, *labels = fact.parts
        known = [label for label in labels if not label.startswith(_ZONE)]
        named.setdefault((mesh, kind), {})[_service(known)] = None
    return [
        f"mesh {mesh} has {kind} {some(names, len(names) if verbose else MOST * 2)}, which"
        f" {'is' if len(names) == 1 else 'are'} neither in these files nor in an inventory"
        for (mesh, kind), names in named.items()
    ]


def _of_one_protocol(facts: Sequence[Taken], verbose: bool) -> list[str]:
    """Say of which services nothing here tells the protocol, where it matters."""
    if not facts:
        return []
    names = some((fact.parts[0] for fact in facts), len(facts) if verbose else MOST * 2)
    verb = "it counts as a service" if len(facts) == 1 else "they count as services"
    return [f"no Dataplane of {names} is known, so {verb} of TCP (--inventory settles it)"]


def _service(labels: Sequence[str]) -> str:
    """Return a service by its name and namespace, by its labels where it has other ones."""
    name = [one.removeprefix(_NAME) for one in labels if one.startswith(_NAME)]
    home = [one.removeprefix(_HOME) for one in labels if one.startswith(_HOME)]
    if len(name) == 1 and len(labels) == len(name) + len(home):
        return ".".join((*name, *home))
    return f"with {', '.join(labels)}"
