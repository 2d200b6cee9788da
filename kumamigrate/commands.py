"""What each command does with its arguments: read, call the pipeline, print, exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kumamigrate.config import settings
from kumamigrate.errors import OutputError, SourceError, UsageError
from kumamigrate.model.state import Environment
from kumamigrate.pipeline import Options, migrate, prove_scenes, scene_of, write
from kumamigrate.pipeline import check as check_scene
from kumamigrate.report.exit import Exit
from kumamigrate.report.lines import Line, show
from kumamigrate.source.find import JOURNAL, interrupted
from kumamigrate.trial import Scene, owned_by_both

Given = Mapping[str, Any]


def run(given: Given, *, dry_run: bool, diff: Path | None, as_json: bool) -> Exit:
    """Migrate, print, and write unless told not to."""
    from kumamigrate.report.diff import diff_lines, patch_text
    from kumamigrate.report.outcome import exit_of_run, run_json, run_lines
    from kumamigrate.report.progress import progress

    paths, root, options = _asked(given)
    _settle(root, writing=not dry_run)
    scene = scene_of(paths, root, options)
    with progress() as tell:
        outcome = migrate(scene, options, tell)
    if diff is not None:
        _save(diff, patch_text(outcome))
    # The report is made before anything is written: a fault in it must not leave a half story.
    written = not dry_run
    data = run_json(outcome, written=written) if as_json else None
    lines = [] if as_json else run_lines(outcome, written=written)
    if written:
        write(outcome)
    try:
        _print(as_json, data, [*(diff_lines(outcome) if dry_run else ()), *lines])
    except OutputError as error:
        if written and outcome.texts:
            raise OutputError(f"{error}; the files were written") from error
        raise
    return exit_of_run(outcome, written=written)


def check(given: Given, *, as_json: bool) -> Exit:
    """Print findings; change nothing."""
    from kumamigrate.report.outcome import check_json, check_lines, exit_of_check

    paths, root, options = _asked(given)
    _settle(root, writing=False)
    outcome = check_scene(scene_of(paths, root, options), options)
    _print(as_json, check_json(outcome), check_lines(outcome))
    return exit_of_check(outcome)


def prove(
    given: Given, before: Path, after: Path | None, against: str | None, *, as_json: bool
) -> Exit:
    """Print the verdict about two states."""
    from kumamigrate.report.inventory import inventory_json, inventory_lines
    from kumamigrate.report.proof import exit_of_proof, proof_json, proof_lines

    if (after is None) == (against is None):
        raise UsageError("prove needs either BEFORE and AFTER, or --against REF")
    if against is not None:
        first, second = _revision_and_tree(given, against, before)
    else:
        assert after is not None
        first, second = _scene(given, before), _scene(given, after)
    first, second = owned_by_both(first, second)
    proof = prove_scenes(first, second)
    repositories = (first.repository, second.repository)
    data = {**proof_json(proof, repositories), "inventory": inventory_json(second)}
    first_line, *rest = proof_lines(proof, repositories)
    _print(as_json, data, [first_line, *inventory_lines(second), *rest])
    return exit_of_proof(proof)


def inspect(
    given: Given, *, proxy: str | None, labels: Sequence[str], resources: bool, as_json: bool
) -> Exit:
    """Print what proxies resolve to."""
    from kumamigrate.report.inspect import inspect_json, resources_json, resources_lines
    from kumamigrate.report.inventory import inventory_lines
    from kumamigrate.report.proof import not_read
    from kumamigrate.report.proxytree import inspect_lines

    paths, root, options = _asked(given)
    _settle(root, writing=False)
    scene = scene_of(paths, root, options)
    if resources:
        _print(as_json, resources_json(scene), resources_lines(scene))
        return Exit.CLEAN
    if as_json:
        _print_json(inspect_json(scene, proxy=proxy, labels=_pairs(labels)))
    else:
        tree = inspect_lines(scene, proxy=proxy, labels=_pairs(labels))
        show([*inventory_lines(scene), *tree])
    return Exit.INCONCLUSIVE if not_read(scene.repository) else Exit.CLEAN


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


def _asked(given: Given) -> tuple[list[Path], Path, Options]:
    """Return paths relative to the root, the root, and the options asked for.

    The root is the common folder of the paths given; nothing outside it is ever written.
    """
    paths = [Path(path) for path in given.get("paths") or [Path()]]
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: no such file or folder")
    try:
        here = Path.cwd().resolve()
    except FileNotFoundError as error:
        raise UsageError("the current folder does not exist any more") from error
    root = here if all(p.resolve().is_relative_to(here) for p in paths) else _common(paths)
    relative = [path.resolve().relative_to(root) for path in paths]
    return relative, root, _options(settings(given, root))


def _settle(root: Path, *, writing: bool) -> None:
    """Complete what an interrupted run left, or refuse to read half of it."""
    folder = interrupted(root)
    if folder is not None and writing:
        from kumamigrate.source.write import recover

        recover(root)
    elif folder is not None:
        detail = "a run was interrupted, or is at work; `kumamigrate run` completes it"
        raise SourceError(f"{folder}/{JOURNAL}", detail)


def _common(paths: Sequence[Path]) -> Path:
    folders = [p.resolve() if p.is_dir() else p.resolve().parent for p in paths]
    root = folders[0]
    while not all(folder.is_relative_to(root) for folder in folders):
        root = root.parent
    return root


def _options(asked: Mapping[str, Any]) -> Options:
    default = Environment()
    environment = Environment(
        mode=asked.get("control_plane_mode", default.mode),
        zone=asked.get("zone", default.zone),
        system_namespace=asked.get("system_namespace", default.system_namespace),
        mesh_services=asked.get("mesh_services"),
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
    )


def _scene(given: Given, path: Path) -> Scene:
    paths, root, options = _asked({**given, "paths": [path]})
    _settle(root, writing=False)
    return scene_of(paths, root, options)


def _revision_and_tree(given: Given, revision: str, path: Path) -> tuple[Scene, Scene]:
    from dataclasses import replace

    from kumamigrate.gitrev import load_revision

    tree = _scene(given, path)
    paths, root, _ = _asked({**given, "paths": [path]})
    repository = load_revision(revision, paths, root, inventory=tree.inventory)
    return replace(tree, repository=repository, states={}), tree


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
