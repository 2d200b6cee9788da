"""What made-up proxies show: each difference once, at the smallest proxy that shows it."""

from __future__ import annotations

from collections.abc import Iterable

from kumamigrate.dataclass import dataclass, field, replace
from kumamigrate.effective.difference import Witness
from kumamigrate.effective.doubted import Doubt
from kumamigrate.prover.proof import ProxyVerdict, Verdict

ANY_PROXY = "any proxy"
"""What the plainest made-up proxy is called in proofs."""


@dataclass(slots=True, kw_only=True)
class Findings:
    """What was found so far: each difference once, at the smallest proxy that shows it.

    `beyond` says for which proxies besides the listed ones nothing was found out.
    """

    proxies: dict[str, list[Witness]] = field(default_factory=dict)
    seen: set[tuple[str, ...]] = field(default_factory=set)
    unknown: dict[Doubt, None] = field(default_factory=dict)
    beyond: dict[Doubt, None] = field(default_factory=dict)

    def add(self, name: str, found: Iterable[Witness]) -> None:
        """Note the differences of a proxy that no smaller one has shown."""
        for witness in found:
            key = witness.key[1:]
            if key not in self.seen:
                self.seen.add(key)
                self.proxies.setdefault(name, []).append(replace(witness, proxy=name))


def verdicts(found: Findings) -> tuple[ProxyVerdict, ...]:
    """Return the findings proxy by proxy; without any, one verdict for every proxy.

    What could not be decided stands with the plainest proxy: a harmless difference elsewhere
    does not settle it.
    """
    unknown = tuple(found.unknown)
    listed = tuple(
        ProxyVerdict(name=name, verdict=Verdict.DIFFERENT, witnesses=tuple(witnesses), made_up=True)
        for name, witnesses in found.proxies.items()
    )
    if listed and not unknown:
        return listed
    if ANY_PROXY in found.proxies:
        return tuple(replace(p, unknown=unknown) if p.name == ANY_PROXY else p for p in listed)
    verdict = Verdict.UNKNOWN if unknown else Verdict.EQUIVALENT
    any_proxy = ProxyVerdict(name=ANY_PROXY, verdict=verdict, unknown=unknown, made_up=True)
    return (*listed, any_proxy)
