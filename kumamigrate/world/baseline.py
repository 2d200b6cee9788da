"""A baseline: the findings that were there when somebody began, so that only new ones count.

It is keyed by rule and resource, since lines move with every edit and files are renamed. Where a
rule has several things to say of a resource, their number is kept.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.errors import UsageError
from kumamigrate.rewrite.finding import Finding, Status

SCHEMA = "kumamigrate.baseline/1"
DEFAULT = "kumamigrate-baseline.json"
NONE = "none"
OPEN = (Status.PENDING, Status.MANUAL, Status.HELD)

Key = tuple[str, str]
"""A rule, and what a resource (or, without one, a file) is called."""


@dataclass(frozen=True, kw_only=True)
class Baseline:
    """How many findings of a rule about a resource are known. `target` is what was asked for."""

    file: Path
    target: str
    known: Mapping[Key, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Return how many findings are known."""
        return sum(self.known.values())

    def needed(self, findings: Iterable[Finding]) -> Baseline:
        """Return what some findings still need of the baseline."""
        there = counted(findings)
        left = {key: min(number, there[key]) for key, number in self.known.items()}
        return Baseline(
            file=self.file,
            target=self.target,
            known={key: number for key, number in left.items() if number},
        )


def key_of(finding: Finding) -> Key:
    """Return under which name a finding is known."""
    resource = finding.resource
    if resource is None:
        return finding.rule, finding.file
    parts = (resource.mesh, resource.namespace, resource.name)
    return finding.rule, f"{resource.type} {'/'.join(part for part in parts if part)}"


def counted(findings: Iterable[Finding]) -> Counter[Key]:
    """Return how many open findings there are under each name."""
    return Counter(key_of(finding) for finding in findings if finding.status in OPEN)


def baseline_file(said: str | Path | None, root: Path) -> Path | None:
    """Return the file of the baseline that is used: the one said, or the one that is there.

    Raises UsageError where one was said and is not there.
    """
    if said is None:
        found = root / DEFAULT
        return found if found.is_file() else None
    if str(said) == NONE:
        return None
    path = Path(said)
    if not path.is_file():
        raise UsageError(
            f"{path}: there is no such baseline; `kumamigrate baseline write` makes it"
        )
    return path


def read_baseline(file: Path) -> Baseline:
    """Read a baseline. Raises UsageError for what is none."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError
        known = {
            (rule, name): _number(number)
            for rule, names in data["findings"].items()
            for name, number in names.items()
        }
        return Baseline(file=file, target=str(data["target"]), known=known)
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        detail = "is no baseline that this version knows; `kumamigrate baseline write` makes one"
        raise UsageError(f"{file}: {detail}") from error


def _number(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return value
    raise ValueError


def baseline_text(target: str, known: Mapping[Key, int]) -> str:
    """Return a baseline as text: one finding a line, so that two branches can be merged."""
    rules: dict[str, dict[str, int]] = {}
    for rule, name in sorted(known):
        rules.setdefault(rule, {})[name] = known[rule, name]
    data = {"schema": SCHEMA, "target": target, "findings": rules}
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
