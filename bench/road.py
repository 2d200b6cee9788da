"""How far the road to a release goes: `python bench/road.py FOLDER [--target 3.0]`.

Every manifest file of a folder is a mesh of its own. Each is migrated in memory, and what stands in
it then is counted: policies and routes that the target takes as they are, and the others, which it
refuses or of which it ignores fields, by the rules that still say something of them. A document
that the target refuses and that is new, or was none such before, is a fault, and named. A file that
takes longer than `--limit` seconds of processor time is named and counted nowhere; `--save FILE`
keeps what was counted in each as it goes, a line of JSON for each, so that two runs can be held
against each other over the same files: `python bench/road.py --compare BEFORE AFTER`.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from kumamigrate.admit.check import refusals_of, unknown_fields_of
from kumamigrate.flow.pipeline import migrate
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.release import release
from kumamigrate.model.resource import Resource
from kumamigrate.model.state import Environment
from kumamigrate.rewrite.finding import Status
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of

NOBODY = "(nothing said)"
_STRIDE = 16


@dataclass
class Count:
    """What was counted in one file, or in all of them.

    `by_rule` counts the findings about what stays in the old form, `by_policy` such policies by
    all the rules that speak of them.
    """

    policies: int = 0
    at_first: int = 0
    in_the_end: int = 0
    by_rule: Counter[str] = field(default_factory=Counter)
    by_policy: Counter[str] = field(default_factory=Counter)
    new_and_refused: list[str] = field(default_factory=list)
    too_long: list[str] = field(default_factory=list)

    def __iadd__(self, other: Count) -> Count:
        self.policies += other.policies
        self.at_first += other.at_first
        self.in_the_end += other.in_the_end
        self.by_rule += other.by_rule
        self.by_policy += other.by_policy
        self.new_and_refused += other.new_and_refused
        self.too_long += other.too_long
        return self


def main() -> None:
    """Migrate each file and print the sum."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--compare", type=Path, nargs=2, metavar="FILE", help="two that were saved")
    parser.add_argument("--target", default="3.0")
    parser.add_argument("--every", type=int, default=1, help="one file of so many")
    parser.add_argument("--accept", action="append", default=[], metavar="RULE")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit", type=float, default=0, metavar="SECONDS", help="for each file")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="the counts of each file, as JSON"
    )
    parser.add_argument("--list", action="store_true", help="name each policy left behind")
    given = parser.parse_args()
    if given.compare:
        _compare(*map(_saved, given.compare))
        return
    if given.folder is None:
        parser.error("name a folder")
    files = _spread(sorted(given.folder.rglob("*.yaml"))[:: given.every])
    accept = tuple(given.accept)
    asked = [_Asked(file, given.target, accept, given.list, given.limit) for file in files]
    total = Count()
    with ProcessPoolExecutor(given.jobs) as pool:
        for file, one in zip(files, pool.map(_counted_in_time, asked), strict=True):
            total += one
            if given.save:
                with given.save.open("a") as saved:
                    saved.write(json.dumps({"file": file.name, **vars(one)}) + "\n")
    _print(total, given.target)
    sys.exit(1 if total.new_and_refused else 0)


@dataclass(frozen=True)
class _Asked:
    """One file, and how it is to be migrated."""

    path: Path
    target: str
    accept: tuple[str, ...]
    listed: bool
    limit: float


class _TooLong(BaseException):
    """The time of a file is over; no handler of mistakes may take it for one."""


def _counted_in_time(asked: _Asked) -> Count:
    def stop(*_: object) -> None:
        raise _TooLong

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, asked.limit)
    try:
        return _counted(asked)
    except _TooLong:
        return Count(too_long=[asked.path.name])
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _counted(asked: _Asked) -> Count:
    path = asked.path
    environment = Environment(initial_policies="none")
    options = Options(target=asked.target, environment=environment, accept=frozenset(asked.accept))
    outcome = migrate(scene_of([Path(path.name)], path.parent, options), options)
    left = _left(outcome)
    found = Count()
    began = outcome.before.repository.resources
    found.at_first = sum(_taken(r, outcome) for r in _policies(began, outcome))
    was_refused = {r.identity for r in began if _is_refused(r, outcome)}
    for policy in _policies(outcome.after.repository.resources, outcome):
        found.policies += 1
        if _taken(policy, outcome):
            found.in_the_end += 1
            continue
        rules = left.get((policy.type, policy.name), [])
        found.by_rule += Counter(rules or [NOBODY])
        found.by_policy[" + ".join(sorted(set(rules))) or NOBODY] += 1
        if asked.listed:
            print(f"{path.name}: {policy.type} {policy.name}: {', '.join(rules)}", file=sys.stderr)
    for resource in outcome.after.repository.resources:
        if resource.identity not in was_refused and _is_refused(resource, outcome):
            found.new_and_refused.append(f"{path.name}: {resource.type} {resource.name}")
    return found


def _policies(resources: tuple[Resource, ...], outcome: Outcome) -> Iterator[Resource]:
    types = release(outcome.before.source).policy_types
    return (r for r in resources if r.type in types)


def _is_refused(resource: Resource, outcome: Outcome) -> bool:
    target = outcome.before.target
    return bool(refusals_of(resource, release=target, environment=outcome.options.environment))


def _taken(resource: Resource, outcome: Outcome) -> bool:
    unread = unknown_fields_of(resource, outcome.before.target)
    return not unread and not _is_refused(resource, outcome)


def _left(outcome: Outcome) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = {}
    for finding in outcome.findings:
        if finding.resource is not None and finding.status in (Status.MANUAL, Status.HELD):
            of = (finding.resource.type, finding.resource.name)
            found.setdefault(of, []).append(finding.rule)
    return found


def _spread(files: list[Path]) -> list[Path]:
    """Return files so that those already done are a fair share of all whenever a run stops."""
    return [file for start in range(_STRIDE) for file in files[start::_STRIDE]]


def _saved(path: Path) -> dict[str, Count]:
    found = {}
    for line in path.read_text().splitlines():
        counts = json.loads(line)
        name = counts.pop("file")
        counts |= {key: Counter(counts[key]) for key in ("by_rule", "by_policy")}
        found[name] = Count(**counts)
    return found


def _compare(before: dict[str, Count], after: dict[str, Count]) -> None:
    """Print two runs side by side, over the files that both came to the end of."""
    long = {one for run in (before, after) for c in run.values() for one in c.too_long}
    files = [name for name in before if name in after and name not in long]
    sums = [Count(), Count()]
    for name in files:
        for total, run in zip(sums, (before, after), strict=True):
            total += run[name]
    old, new = sums
    print(f"{len(files)} files; {len(long)} took too long in one of the runs")
    for label, one in (("before", old), ("after", new)):
        share = one.in_the_end / one.policies if one.policies else 1.0
        print(f"{label}: {one.in_the_end} of {one.policies} ({share:.1%}), at first {one.at_first}")
    rows = (
        ("findings", old.by_rule, new.by_rule),
        ("policies", old.by_policy, new.by_policy),
    )
    for what, was, now in rows:
        print(f"\n{'before':>7} {'after':>7}  left by rule ({what})")
        for rule in sorted(was | now, key=lambda r: (-max(was[r], now[r]), r)):
            print(f"{was[rule]:7} {now[rule]:7}  {rule}")
    print(f"\nnew and refused: {len(old.new_and_refused)} before, {len(new.new_and_refused)} after")


def _print(total: Count, target: str) -> None:
    share = total.in_the_end / total.policies if total.policies else 1.0
    print(
        f"{total.policies} policies and routes in the end, {total.in_the_end} of them ({share:.1%})"
    )
    print(f"in the form of {target}; at first {total.at_first}")
    print("\nleft by rule (findings)")
    for rule, number in total.by_rule.most_common():
        print(f"{number:6} {rule}")
    print("\nleft by all rules of a policy (policies)")
    for rules, number in total.by_policy.most_common():
        print(f"{number:6} {rules}")
    for name in total.too_long:
        print(f"not within the limit: {name}")
    for one in total.new_and_refused:
        print(f"new and refused: {one}")


if __name__ == "__main__":
    main()
