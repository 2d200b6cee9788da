"""What each command does with its arguments: read, call the pipeline, print, exit code."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from kumamigrate.dataclass import replace
from kumamigrate.errors import OutputError, UsageError
from kumamigrate.flow.claims import claim_of
from kumamigrate.flow.pipeline import check as check_estate
from kumamigrate.flow.pipeline import write
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.flow.shard import Shard
from kumamigrate.flow.told import WHOLE
from kumamigrate.library import Reading, Sources, load, migrate, read
from kumamigrate.library import prove as prove_states
from kumamigrate.prover.claimed import RELEASE
from kumamigrate.report.baselinetext import baseline_json, baseline_lines
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.forms import JSON, TEXT, Answer, Forms, forms_of
from kumamigrate.report.invocation import invocation
from kumamigrate.report.stats import PLANNING, REPORT, Stopwatch, stats_json, tell_stats
from kumamigrate.report.styled import Line, line, show
from kumamigrate.scene.scene import Scene
from kumamigrate.source.reading.find import interrupted
from kumamigrate.world.config import settings_file
from kumamigrate.world.estate import Estate
from kumamigrate.world.scope import Extent, scope_of
from kumamigrate.world.survey import survey_again

if TYPE_CHECKING:
    from kumamigrate.cache.remembered import Remembered

Given = Mapping[str, Any]


def run(
    given: Given,
    *,
    dry_run: bool,
    diff: Path | None,
    adopt: Path | None,
    markdown: bool,
    printed: str,
    saved: Sequence[str],
) -> Exit:
    """Migrate, print, and write unless told not to; with `adopt` initial policies as well, with
    `markdown` examples too."""
    from kumamigrate.flow.guides import migrated_guides
    from kumamigrate.report.diff import diff_lines, patch_text
    from kumamigrate.report.guidetext import guide_lines, guides_json
    from kumamigrate.report.ondisk import on_disk
    from kumamigrate.report.outcome import exit_of_run, run_json
    from kumamigrate.report.progress import progress
    from kumamigrate.report.screen.changeblock import is_short
    from kumamigrate.report.screen.runscreen import run_lines
    from kumamigrate.report.screen.userpaths import from_here

    forms, watch = forms_of(printed, saved), Stopwatch()
    if not dry_run:
        _complete(given)
    sources = _loaded(given)
    reading = read(sources)
    new = {} if adopt is None else _adopted(reading.estate, adopt)
    began = read(sources, new) if new else reading
    if given.get("interactive") or "answers" in given:
        from kumamigrate.choose.asking import asker_of, migrate_asking

        outcome = migrate_asking(began, asker_of(given))
    else:
        with progress() as tell:
            outcome = migrate(began, progress=watch.telling(tell))
    watch.begin(REPORT)
    guides = tuple(migrated_guides(reading.estate, reading.options)) if markdown else ()
    examples = {guide.path: (guide.old, guide.new) for guide in guides if guide.old != guide.new}
    outcome = replace(outcome, adopted=frozenset(new), examples=examples)
    if diff is not None:
        _save(diff, patch_text(outcome))
    # The report is made before anything is written: a fault in it must not leave a half story.
    written = not dry_run
    as_text, verbose = forms.printed == TEXT, bool(given.get("verbose"))
    lines: list[Line] = []
    if as_text:
        command = invocation("run", {**given, "dry_run": False})
        if "plan" in given:
            command = f"kumamigrate apply {given['plan']}"
        told = run_lines(outcome, written=written, verbose=verbose, command=command)
        lines = from_here(told, outcome.ended)
    outcome = outcome if written else on_disk(outcome)
    data = run_json(outcome, written=written) if forms.needs_data else None
    if data is not None:
        data["command"] = invocation("run", {**given, "dry_run": True})
        data |= baseline_json(outcome)
    if markdown and data is not None:
        data["markdown"] = guides_json(guides)
    lines += guide_lines(guides, written=written) if markdown and as_text else []
    lines += baseline_lines(outcome) if as_text else []
    if tool := given.get("deletions"):
        from kumamigrate.choose.handwork import deletion_lines, deletions_json

        lines += deletion_lines(outcome, tool) if as_text else []
        data = data if data is None else {**data, "deletions": deletions_json(outcome, tool)}
    data = _with_stats(given, data, watch, reading.estate)
    if written:
        if as_text and outcome.texts:
            from kumamigrate.report.uncommittedtext import mixed_lines
            from kumamigrate.scene.gitrev import uncommitted

            edited = uncommitted(reading.estate.whole.repository.root)
            lines += mixed_lines(edited, outcome.texts)
        write(outcome)
    elif "plan" in given:
        from kumamigrate.choose.planfile import plan_text, planned
        from kumamigrate.flow.pipeline import sound

        _save(given["plan"], plan_text(planned(sound(outcome))))
    try:
        with_diff = dry_run and as_text and (verbose or is_short(patch_text(outcome)))
        diff_first = diff_lines(outcome) if with_diff else ()
        _tell(forms, data, [*diff_first, *lines], _more_of(outcome))
    except OutputError as error:
        if written and outcome.texts:
            raise OutputError(f"{error}; the files were written") from error
        raise
    return exit_of_run(outcome, written=written)


def _adopted(estate: Estate, folder: Path) -> dict[str, bytes]:
    """Return the files that initial policies are adopted in."""
    from kumamigrate.world.adopt import adoption

    root = estate.whole.repository.root.resolve()
    if not folder.resolve().is_relative_to(root):
        raise UsageError(f"{folder}: lies outside {root}, of which this run writes")
    return adoption(estate, folder.resolve().relative_to(root).as_posix())


def check(given: Given, *, printed: str, saved: Sequence[str]) -> Exit:
    """Print findings; change nothing."""
    forms = forms_of(printed, saved)
    watch = Stopwatch()
    sources = _checked(given)
    before = _asked_before(given, sources)
    answer = None if before is None else before.answer()
    if answer is None:
        answer, estate = _answered(given, forms, sources, watch)
        if before is not None:
            before.keep(answer, estate)
    _tell(forms, answer.data, answer.lines)
    return answer.code


def _asked_before(given: Given, sources: Sources) -> Remembered | None:
    """Return a check as one that may have been asked before. That of some files costs less than
    to look it up."""
    if sources.scope.world is Extent.NAMED:
        return None
    from kumamigrate.cache.remembered import remembered

    return remembered(sources, given)


def _answered(
    given: Given, forms: Forms, sources: Sources, watch: Stopwatch
) -> tuple[Answer, Estate]:
    """Return what a check says, and of what."""
    from kumamigrate.report.outcome import check_json, exit_of_check
    from kumamigrate.report.screen.checkscreen import check_lines
    from kumamigrate.report.screen.deadtext import dead_lines, is_dead
    from kumamigrate.report.screen.userpaths import from_here

    reading = read(sources)
    watch.begin(PLANNING)
    outcome = check_estate(reading.estate, sources.options)
    watch.begin(REPORT)
    data = check_json(outcome) if forms.needs_data else None
    if data is not None:
        data["command"] = invocation("check", given)
        data |= baseline_json(outcome)
    lines: list[Line] = []
    if forms.printed == TEXT:
        command = invocation("run", {**given, "dead": False})
        others = tuple(f for f in outcome.findings if not is_dead(f))
        verbose = bool(given.get("verbose"))
        later = _asked_later(outcome)
        alive = replace(outcome, findings=others)
        told = check_lines(alive, verbose=verbose, command=command, later=later)
        told += dead_lines(outcome.findings) if given.get("dead") else []
        lines = from_here([*told, *baseline_lines(outcome)], outcome.began)
    data = _with_stats(given, data, watch, reading.estate)
    return Answer(code=exit_of_check(outcome), lines=lines, data=data), reading.estate


def _asked_later(outcome: Outcome) -> int:
    """Return how much a later release asks for, which a hook has no time to find out."""
    scope = outcome.began.scope
    if scope is None or scope.world is Extent.NAMED:
        return 0
    from kumamigrate.flow.later import asked_later

    return asked_later(outcome)


def prove(
    given: Given,
    before: Path,
    after: Path | None,
    against: str | None,
    *,
    printed: str,
    saved: Sequence[str],
    shard: Shard | None = None,
) -> Exit:
    """Print the verdict about two states, or about a part of their environments."""
    from kumamigrate.report.bymesh import proof_meshes
    from kumamigrate.report.inventory import inventory_json, inventory_lines
    from kumamigrate.report.proofjson import exit_of_proof, proof_json
    from kumamigrate.report.screen.onscreen import texts_of
    from kumamigrate.report.screen.provescreen import Compared, proof_lines
    from kumamigrate.report.screen.userpaths import from_here
    from kumamigrate.report.uncommittedtext import compared_lines
    from kumamigrate.report.unread import exit_of_kinds
    from kumamigrate.report.worldtext import environment_lines, given_lines, world_json
    from kumamigrate.scene.gitrev import uncommitted

    if (after is None) == (against is None):
        raise UsageError("prove needs either BEFORE and AFTER, or --against REF")
    forms, watch = forms_of(printed, saved), Stopwatch()
    if against is not None:
        first, second = _revision_and_tree(given, against, before)
    else:
        assert after is not None
        first, second = _state(given, before), _state(given, after)
    watch.telling()(WHOLE, 0, 1)
    proof = prove_states(first, second, shard)
    watch.begin(REPORT)
    whole, allow = second.estate.whole, second.options.allow
    claim = claim_of(whole.source, whole.target)
    repositories = (first.estate.whole.repository, whole.repository)
    data = proof_json(proof, repositories, claim, allow, qualified=shard is not None)
    data = {**data, "inventory": inventory_json(whole), "world": world_json(second.estate)}
    data["meshes"] = proof_meshes(first.estate, second.estate, proof, claim, allow)
    data["command"] = invocation("prove", given, *map(str, (before, after) if after else (before,)))
    edited = uncommitted(whole.repository.root) if against is not None else frozenset[str]()
    known = [*environment_lines(second.estate), *given_lines(second.estate)]
    known += compared_lines(edited)
    data["uncommitted"] = sorted(edited)
    code = worst([exit_of_proof(proof, claim, allow), exit_of_kinds(repositories)])
    if shard is not None:
        data["shard"] = _shard(shard, first, second, code)
    compared = Compared(
        proof=proof,
        repositories=repositories,
        claim=claim,
        allow=allow,
        texts=(texts_of(first.estate), texts_of(second.estate)),
        verbose=bool(given.get("verbose")),
        known=[*known, *inventory_lines(whole)],
    )
    lines = from_here(proof_lines(compared), second.estate) if forms.printed == TEXT else []
    states = (first.estate, second.estate, claim)
    told = _with_stats(given, data if forms.needs_data else None, watch, second.estate)
    _tell(forms, told, lines, {"html": lambda: _drawn(*states)})
    return code


def merge(reports: Sequence[Path], *, printed: str, saved: Sequence[str]) -> Exit:
    """Print what the proofs of all parts of the environments come to."""
    from kumamigrate.report.parts.shards import merged_exit, merged_json, merged_lines, read_parts

    forms = forms_of(printed, saved)
    parts = read_parts(reports)
    whole = {**merged_json(parts), "command": invocation("merge", {}, *map(str, reports))}
    _tell(forms, whole if forms.needs_data else None, merged_lines(whole))
    return merged_exit(parts)


def _shard(shard: Shard, first: Reading, second: Reading, code: Exit) -> dict[str, Any]:
    """Return what the report of a part says of itself."""
    from kumamigrate.flow.comparison import compared
    from kumamigrate.report.parts.shards import shard_json
    from kumamigrate.source.reading.seen import digest_of

    files = (one.estate.tree.files for one in (first, second))
    parts = [part for f in files for p in sorted(f) for part in (os.fsencode(p), f[p] or b"")]
    names = compared(first.estate, second.estate, shard)
    return shard_json(shard, names, code, digest_of(*parts))


def inspect(
    given: Given,
    *,
    proxy: str | None,
    labels: Sequence[str],
    resources: bool,
    environment: str | None,
    as_json: bool,
) -> Exit:
    """Print what proxies resolve to."""
    from kumamigrate.report.inspect import inspect_json, resources_json, resources_lines
    from kumamigrate.report.inventory import inventory_lines
    from kumamigrate.report.proxytree import inspect_lines
    from kumamigrate.report.unread import not_read

    scene = _inspected(given, environment)
    if resources:
        _print(as_json, resources_json(scene), resources_lines(scene))
        return Exit.CLEAN
    if as_json:
        _print_json(inspect_json(scene, proxy=proxy, labels=_pairs(labels)))
    else:
        tree = inspect_lines(scene, proxy=proxy, labels=_pairs(labels))
        show([*inventory_lines(scene), *tree])
    return Exit.INCONCLUSIVE if not_read(scene.repository) else Exit.CLEAN


def environments(given: Given, *, write_them: bool, as_json: bool) -> Exit:
    """Print which environments the repository has, and save them if asked to."""
    from kumamigrate.deployment.environmentsettings import environments_text
    from kumamigrate.report.worldtext import world_json, world_lines

    sources = _loaded(given)
    estate = read(sources).estate
    lines, saved = world_lines(estate, all_of_them=True), ""
    if write_them:
        file, prefix = settings_file(sources.scope.root)
        if sources.options.environments:
            raise UsageError(f"{file}: it lists environments already; change them there")
        deployments = [site.deployment for site in estate.sites]
        _append(file, environments_text(deployments, table=f"{prefix}environment"))
        saved = file.as_posix()
        lines.append(line(f"Saved in {saved}; what they say of their control planes goes there"))
    _print(as_json, {**world_json(estate), "saved": saved}, lines)
    return Exit.CLEAN


def _append(file: Path, text: str) -> None:
    try:
        known = file.read_text(encoding="utf-8") if file.exists() else ""
        ended = known if not known or known.endswith("\n") else f"{known}\n"
        file.write_text(f"{ended}{text if known else text.lstrip()}", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error


def rules(*, as_json: bool) -> Exit:
    """Print all rules."""
    from kumamigrate.report.rules import rules_json, rules_lines

    _print(as_json, rules_json(), rules_lines())
    return Exit.CLEAN


def rule(rule_id: str, *, as_json: bool) -> Exit:
    """Print one rule explained."""
    from kumamigrate.report.rules import rule_json, rule_lines

    _print(as_json, rule_json(rule_id), rule_lines(rule_id))
    return Exit.CLEAN


def _loaded(given: Given) -> Sources:
    """Return what is read and may be written, and the options asked for."""
    return load(*given.get("paths") or (), **_settings(given))


def _alone(given: Given, *paths: Path) -> Sources:
    """Return files and folders that are all there is, whatever stands around them."""
    return load(*paths, alone=True, **_settings(given))


def _settings(given: Given) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "paths"}


def _checked(given: Given) -> Sources:
    """Return what a check reads. A pre-commit hook names files and has a moment's time: they
    are read by themselves; a folder is read with all of its repository."""
    paths = [Path(path) for path in given.get("paths") or ()]
    if not paths or not all(path.is_file() for path in paths):
        return _loaded(given)
    return _alone(given, *paths)


def _inspected(given: Given, environment: str | None) -> Scene:
    """Return what proxies get: of the paths given, which are all there is then, or of the one
    environment of the repository that was named."""
    paths = [Path(path) for path in given.get("paths") or ()]
    sites = read(_alone(given, *paths) if paths else _loaded(given)).estate.sites
    chosen = [site for site in sites if environment in (None, site.name)]
    if len(chosen) != 1:
        names = ", ".join(site.name or "(all files)" for site in sites)
        raise UsageError(f"--environment must be one of {names}")
    return chosen[0].applied


def _complete(given: Given) -> None:
    """Complete what an interrupted run left."""
    root = scope_of([Path(path) for path in given.get("paths") or [Path()]]).root
    if interrupted(root) is not None:
        from kumamigrate.source.editing.write import recover

        recover(root)


def _state(given: Given, path: Path) -> Reading:
    """Return a file or folder as a state of its own, whatever stands around it."""
    return read(_alone(given, path))


def _revision_and_tree(given: Given, revision: str, path: Path) -> tuple[Reading, Reading]:
    """Return a revision and the working tree, both whole, in the environments of the latter."""
    from kumamigrate.scene.gitrev import contents_of_revision

    sources = _loaded({**given, "paths": [path]})
    tree, scope = read(sources), sources.scope
    contents, refusals, beside = contents_of_revision(revision, scope.read, scope.root)
    estate = survey_again(tree.estate, contents, refusals, tree.options, beside)
    return replace(tree, estate=estate), tree


def _pairs(words: Sequence[str]) -> dict[str, str]:
    pairs = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise UsageError(f"--labels {word}: write key=value")
        pairs[key] = value
    return pairs


def _save(path: Path, text: str) -> None:
    try:
        # Names of files need not be UTF-8.
        path.write_text(text, encoding="utf-8", errors="surrogateescape", newline="")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error


def _with_stats(
    given: Given, data: dict[str, Any] | None, watch: Stopwatch, estate: Estate
) -> dict[str, Any] | None:
    """Return a report's data with the stats, and say them aside, where that was asked for."""
    if not given.get("stats"):
        return data
    stats = stats_json(watch, estate.whole.repository)
    tell_stats(stats)
    return None if data is None else {**data, "stats": stats}


def _tell(
    forms: Forms,
    data: Mapping[str, Any] | None,
    lines: Sequence[Line],
    more: Mapping[str, Callable[[], Mapping[str, Any]]] = MappingProxyType({}),
) -> None:
    """Save a report in the forms asked for, then print it; some forms show `more`."""
    if data is None or (forms.printed == JSON and not forms.saved):
        _print(data is not None, data, lines)
        return
    from kumamigrate.report.formats import formatted

    def formed(form: str) -> str:
        return formatted(form, {**data, **more[form]()} if form in more else data)

    for form, file in forms.saved:
        _save(file, formed(form))
    if forms.printed in (TEXT, JSON):
        _print(forms.printed == JSON, data, lines)
    else:
        _print_text(formed(forms.printed))


def _more_of(outcome: Outcome) -> Mapping[str, Callable[[], Mapping[str, Any]]]:
    """Return what only some forms show of a run: a page the diff and who reaches whom."""
    from kumamigrate.report.diff import patch_text
    from kumamigrate.report.replacements import replacements

    def page() -> Mapping[str, Any]:
        drawn = _drawn(outcome.began, outcome.ended, outcome.claim)
        return {"patch": patch_text(outcome), **drawn}

    return {"html": page, "sarif": lambda: {"replacements": replacements(outcome)}}


def _drawn(before: Estate, after: Estate, claim: str) -> Mapping[str, Any]:
    from kumamigrate.report.reachpicture import pictures

    scene = after.whole
    return {"pictures": pictures(before, after, scene.target if claim == RELEASE else scene.source)}


def _print_text(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))


def _print(as_json: bool, data: Any, lines: Sequence[Line]) -> None:
    try:
        if as_json:
            _print_json(data)
        else:
            show(lines)
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot print the report: {error.strerror}") from error


def _print_json(data: Any) -> None:
    encoding = (sys.stdout.encoding or "ascii").replace("-", "").lower()
    text = json.dumps(data, indent=1, ensure_ascii=encoding != "utf8")
    # What is no character, from names of files, is an escape in JSON too.
    sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
