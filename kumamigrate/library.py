"""The library: load, read, plan, apply, prove, migrate. The commands ask nothing else.

    load   → files below some paths, and the settings that hold for them
    read   → what the control plane of each environment gets of them
    plan   → what every rule would change or asks; nothing is proven
    apply  → the same, with changes written into the texts and read back
    prove  → whether two readings configure every proxy alike
    migrate → all of it to a fixed point, keeping what is proven

Only `migrate(…, write=True)` writes to disk. What cannot be is an error of `kumamigrate.errors`;
what cannot be told is an answer, `Verdict.UNKNOWN` with reasons.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import dataclass, fields, replace
from kumamigrate.deployment.environment import Facts
from kumamigrate.errors import SourceError
from kumamigrate.flow.claims import allowed, left_for_later
from kumamigrate.flow.pipeline import migrate as migrate_estate
from kumamigrate.flow.pipeline import wanted
from kumamigrate.flow.pipeline import write as write_outcome
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.told import Progress, silent
from kumamigrate.model.state import Environment
from kumamigrate.prover import Proof
from kumamigrate.rewrite.change import Change, without_conflicts
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.loadfiles import FileContents
from kumamigrate.source.reading.find import JOURNAL, interrupted
from kumamigrate.source.text import Refusal
from kumamigrate.world.accepted import accepted_of
from kumamigrate.world.baseline import baseline_file, read_baseline
from kumamigrate.world.config import settings as completed
from kumamigrate.world.estate import Estate
from kumamigrate.world.estate import apply as applied
from kumamigrate.world.options import Options, jobs_of
from kumamigrate.world.scope import Scope, only, scope_of
from kumamigrate.world.survey import contents_in, survey

if TYPE_CHECKING:
    from kumamigrate.flow.shard import Shard

NOTHING: Mapping[str, bytes] = MappingProxyType({})


@dataclass(frozen=True, kw_only=True)
class Sources:
    """Files as they lie on disk: their bytes by path, where they may be written, the options."""

    scope: Scope
    options: Options
    contents: FileContents


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What the control plane of each environment gets, and what was asked of it."""

    estate: Estate
    options: Options


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What the rules want: changes, of which none is proven, and findings to decide on."""

    changes: tuple[Change, ...]
    findings: tuple[Finding, ...]


class EditRefusedError(SourceError):
    """Changes ask for edits of text that must stay as it is. `refusals` tells all places."""

    def __init__(self, refusals: tuple[Refusal, ...]) -> None:
        first = refusals[0]
        super().__init__(f"{first.path}:{first.line}:{first.column}", str(first.reason))
        self.refusals = refusals


def load(*paths: str | Path, alone: bool = False, **settings: Any) -> Sources:
    """Return the files that count for some paths, by default those of the current folder.

    The repository around them is read whole (world.md §4) unless they stand `alone`; only what
    lies below the paths may be written. `settings` are those of `kumamigrate.toml` with `_` for
    `-`, and win over what stands there: `target="3.0"`, `source="2.9"`, `inventory=["x.yaml"]`,
    `initial_policies="none"`, … Raises UsageError for paths that do not exist and settings that
    cannot be, SourceError where a run was interrupted while it wrote: half of it is no state.
    """
    places = [Path(path) for path in paths or (Path(),)]
    scope = only(places) if alone else scope_of(places)
    folder = interrupted(scope.root)
    if folder is not None:
        detail = "a run was interrupted, or is at work; `kumamigrate run` completes it"
        raise SourceError(f"{folder}/{JOURNAL}", detail)
    options = options_in(scope.root, settings)
    return Sources(scope=scope, options=options, contents=contents_in(scope, options))


def read(sources: Sources, more: Mapping[str, bytes] = NOTHING) -> Reading:
    """Return what each environment's control plane gets of the sources.

    `more` are files that are not on disk, by path below the root. Raises UsageError for
    environments that cannot be.
    """
    estate = survey(sources.scope, sources.options, sources.contents, more)
    return Reading(estate=estate, options=sources.options)


def plan(reading: Reading) -> Plan:
    """Return what every rule would change or asks, rule by rule. Raises UsageError for a rule
    that the options name and that there is not."""
    said = list(wanted(reading.estate, reading.options))
    return Plan(
        changes=tuple(one for one in said if isinstance(one, Change)),
        findings=tuple(one for one in said if isinstance(one, Finding)),
    )


def apply(reading: Reading, changes: Iterable[Change]) -> Reading:
    """Return the reading with changes written into its texts, and those read back.

    Of changes to one place the first counts. Raises EditRefusedError where a text must stay.
    """
    estate = applied(reading.estate, without_conflicts(changes))
    if isinstance(estate, tuple):
        raise EditRefusedError(estate)
    return replace(reading, estate=estate)


def prove(before: Reading, after: Reading, shard: Shard | None = None) -> Proof:
    """Return the proof, claim by claim, in every environment that both sides have.

    With a `shard` it is about that part of them. Raises UsageError where they have none in common.
    """
    from kumamigrate.flow.comparison import prove_estates

    return prove_estates(before.estate, after.estate, shard)


def migrate(reading: Reading, *, write: bool = False, progress: Progress = silent) -> Outcome:
    """Return all that is proven to be safe to change, what was held and why, and the proof.

    `Outcome.texts` holds old and new bytes of each file that changes. With `write` they are
    written, all or none. Raises SourceError where that cannot be done.
    """
    outcome = migrate_estate(reading.estate, reading.options, progress)
    if write:
        write_outcome(outcome)
    return outcome


def options_in(root: Path, given: Mapping[str, Any]) -> Options:
    """Return the settings of a folder as options, what is given winning over them.

    What is given of control planes is so in all environments.
    """
    asked = completed(given, root)
    options = _options(asked)
    stated = {f.name: None for f in fields(Facts) if given.get(f.name) is not None}
    environments = (
        replace(one, facts=replace(one.facts, **stated)) for one in options.environments
    )
    accept, accept_at = accepted_of(options.accept, root=root, home=options.home)
    file = baseline_file(asked.get("baseline"), root)
    return replace(
        options,
        environments=tuple(environments),
        accept=accept,
        accept_at=accept_at,
        baseline=None if file is None else read_baseline(file),
    )


def _options(asked: Mapping[str, Any]) -> Options:
    default = Environment()
    environment = Environment(
        mode=asked.get("control_plane_mode", default.mode),
        zone=asked.get("zone", default.zone),
        system_namespace=asked.get("system_namespace", default.system_namespace),
        mesh_services=asked.get("mesh_services"),
        initial_policies=asked.get("initial_policies"),
    )
    return Options(
        target=asked.get("target", "2.14"),
        source=asked.get("source", ""),
        stage=asked.get("stage", "auto"),
        environment=environment,
        inventory=tuple(Path(path) for path in asked.get("inventory", ())),
        select=tuple(asked.get("select", ())),
        ignore=tuple(asked.get("ignore", ())),
        accept=tuple(asked.get("accept", ())),
        environments=tuple(asked.get("environments", ())),
        exclude=tuple(asked.get("exclude", ())),
        home=asked.get("home"),
        allow=allowed(asked.get("allow")),
        hold=left_for_later(asked.get("hold")),
        dead=bool(asked.get("dead", False)),
        fail_on=asked.get("fail_on", ""),
        jobs=jobs_of(asked.get("jobs")),
    )
