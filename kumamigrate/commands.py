"""What each command does with its arguments: read, call the pipeline, print, exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from kumamigrate.deployment.environment import Facts
from kumamigrate.errors import OutputError, SourceError, UsageError
from kumamigrate.flow.claims import allowed, claim_of
from kumamigrate.flow.pipeline import check as check_estate
from kumamigrate.flow.pipeline import migrate, write
from kumamigrate.model.state import Environment
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.forms import JSON, TEXT, Forms, forms_of
from kumamigrate.report.invocation import invocation
from kumamigrate.report.styled import Line, line, show
from kumamigrate.scene.trial import Scene
from kumamigrate.source.reading.find import JOURNAL, interrupted
from kumamigrate.world.config import settings, settings_file
from kumamigrate.world.estate import Estate
from kumamigrate.world.options import Options
from kumamigrate.world.scope import Scope, only, scope_of
from kumamigrate.world.survey import survey, survey_again

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
    from kumamigrate.report.outcome import exit_of_run, run_json, run_lines
    from kumamigrate.report.progress import progress

    forms = forms_of(printed, saved)
    scope, options = _asked(given)
    _settle(scope.root, writing=not dry_run)
    estate = survey(scope, options)
    new = {} if adopt is None else _adopted(estate, adopt)
    with progress() as tell:
        outcome = migrate(survey(scope, options, new) if new else estate, options, tell)
    guides = tuple(migrated_guides(estate, options)) if markdown else ()
    examples = {guide.path: (guide.old, guide.new) for guide in guides if guide.old != guide.new}
    outcome = replace(outcome, adopted=frozenset(new), examples=examples)
    if diff is not None:
        _save(diff, patch_text(outcome))
    # The report is made before anything is written: a fault in it must not leave a half story.
    written = not dry_run
    outcome = outcome if written else on_disk(outcome)
    as_text = forms.printed == TEXT
    data = run_json(outcome, written=written) if forms.needs_data else None
    if data is not None:
        data["command"] = invocation("run", {**given, "dry_run": True})
    lines = run_lines(outcome, written=written) if as_text else []
    if markdown and data is not None:
        data["markdown"] = guides_json(guides)
    lines += guide_lines(guides, written=written) if markdown and as_text else []
    if written:
        write(outcome)
    try:
        _tell(forms, data, [*(diff_lines(outcome) if dry_run else ()), *lines])
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
    from kumamigrate.report.outcome import check_json, check_lines, exit_of_check

    forms = forms_of(printed, saved)
    scope, options = _checked(given)
    _settle(scope.root, writing=False)
    outcome = check_estate(survey(scope, options), options)
    data = check_json(outcome) if forms.needs_data else None
    if data is not None:
        data["command"] = invocation("check", given)
    _tell(forms, data, check_lines(outcome) if forms.printed == TEXT else [])
    return exit_of_check(outcome)


def prove(
    given: Given, before: Path, after: Path | None, against: str | None, *, as_json: bool
) -> Exit:
    """Print the verdict about two states."""
    from kumamigrate.flow.comparison import prove_estates
    from kumamigrate.report.inventory import inventory_json, inventory_lines
    from kumamigrate.report.prooftext import exit_of_proof, proof_json, proof_lines
    from kumamigrate.report.unread import exit_of_kinds
    from kumamigrate.report.worldtext import environment_lines, given_lines, world_json

    if (after is None) == (against is None):
        raise UsageError("prove needs either BEFORE and AFTER, or --against REF")
    if against is not None:
        first, second = _revision_and_tree(given, against, before)
    else:
        assert after is not None
        first, second = _state(given, before), _state(given, after)
    proof = prove_estates(first, second)
    claim = claim_of(second.whole.source, second.whole.target)
    allow = _asked({**given, "paths": [before]})[1].allow
    repositories = (first.whole.repository, second.whole.repository)
    data = proof_json(proof, repositories, claim, allow)
    data = {**data, "inventory": inventory_json(second.whole), "world": world_json(second)}
    verdict, world, *rest = proof_lines(proof, repositories, claim, allow)
    known = [*environment_lines(second), *given_lines(second), *inventory_lines(second.whole)]
    _print(as_json, data, [verdict, world, *known, *rest])
    return worst([exit_of_proof(proof, claim, allow), exit_of_kinds(repositories)])


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

    scope, options = _asked(given)
    _settle(scope.root, writing=False)
    estate = survey(scope, options)
    lines, saved = world_lines(estate, all_of_them=True), ""
    if write_them:
        file, prefix = settings_file(scope.root)
        if options.environments:
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


def _asked(given: Given) -> tuple[Scope, Options]:
    """Return what is read and may be written, and the options asked for."""
    scope = scope_of([Path(path) for path in given.get("paths") or [Path()]])
    return scope, _settled(given, scope.root)


def _settled(given: Given, root: Path) -> Options:
    """Return the options: what the command line says of control planes is so in all of them."""
    options = _options(settings(given, root))
    stated = {f.name: None for f in fields(Facts) if given.get(f.name) is not None}
    environments = (
        replace(one, facts=replace(one.facts, **stated)) for one in options.environments
    )
    return replace(options, environments=tuple(environments))


def _checked(given: Given) -> tuple[Scope, Options]:
    """Return what a check reads. A pre-commit hook names files and has a moment's time: they
    are read by themselves; a folder is read with all of its repository."""
    paths = [Path(path) for path in given.get("paths") or ()]
    if not paths or not all(path.is_file() for path in paths):
        return _asked(given)
    scope = only(paths)
    return scope, _settled(given, scope.root)


def _inspected(given: Given, environment: str | None) -> Scene:
    """Return what proxies get: of the paths given, which are all there is then, or of the one
    environment of the repository that was named."""
    if given.get("paths"):
        scope = only([Path(path) for path in given["paths"]])
    else:
        scope = scope_of([Path()])
    options = _settled(given, scope.root)
    _settle(scope.root, writing=False)
    sites = survey(scope, options).sites
    chosen = [site for site in sites if environment in (None, site.name)]
    if len(chosen) != 1:
        names = ", ".join(site.name or "(all files)" for site in sites)
        raise UsageError(f"--environment must be one of {names}")
    return chosen[0].applied


def _settle(root: Path, *, writing: bool) -> None:
    """Complete what an interrupted run left, or refuse to read half of it."""
    folder = interrupted(root)
    if folder is not None and writing:
        from kumamigrate.source.editing.write import recover

        recover(root)
    elif folder is not None:
        detail = "a run was interrupted, or is at work; `kumamigrate run` completes it"
        raise SourceError(f"{folder}/{JOURNAL}", detail)


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
    )


def _state(given: Given, path: Path) -> Estate:
    """Return a file or folder as a state of its own, whatever stands around it."""
    scope = only([path])
    _settle(scope.root, writing=False)
    return survey(scope, _settled(given, scope.root))


def _revision_and_tree(given: Given, revision: str, path: Path) -> tuple[Estate, Estate]:
    """Return a revision and the working tree, both whole, in the environments of the latter."""
    from kumamigrate.scene.gitrev import contents_of_revision

    scope, options = _asked({**given, "paths": [path]})
    _settle(scope.root, writing=False)
    tree = survey(scope, options)
    contents, refusals = contents_of_revision(revision, scope.read, scope.root)
    return survey_again(tree, contents, refusals, options), tree


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


def _tell(forms: Forms, data: Mapping[str, Any] | None, lines: Sequence[Line]) -> None:
    """Save a report in the forms asked for, then print it."""
    if data is None or (forms.printed == JSON and not forms.saved):
        _print(data is not None, data, lines)
        return
    from kumamigrate.report.formats import formatted

    for form, file in forms.saved:
        _save(file, formatted(form, data))
    if forms.printed in (TEXT, JSON):
        _print(forms.printed == JSON, data, lines)
    else:
        _print_text(formatted(forms.printed, data))


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
