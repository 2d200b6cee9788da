"""Commands that only look: what proxies resolve to, which environments there are, the rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kumamigrate.admit.form import FORMS
from kumamigrate.commands.given import Given, alone, loaded
from kumamigrate.commands.printed import print_json, print_report
from kumamigrate.errors import UsageError
from kumamigrate.library import read
from kumamigrate.report.exit import Exit
from kumamigrate.report.styled import line, show
from kumamigrate.scene.scene import Scene
from kumamigrate.world.config import settings_file


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

    made_up = _asked_proxy(proxy, labels)
    scene = _inspected(given, environment)
    if resources:
        print_report(as_json, resources_json(scene), resources_lines(scene))
        return Exit.CLEAN
    if as_json:
        print_json(inspect_json(scene, proxy=proxy, labels=made_up))
    else:
        tree = inspect_lines(scene, proxy=proxy, labels=made_up)
        show([*inventory_lines(scene), *tree])
    return Exit.INCONCLUSIVE if not_read(scene.repository) else Exit.CLEAN


def environments(given: Given, *, write_them: bool, as_json: bool) -> Exit:
    """Print which environments the repository has, and save them if asked to."""
    from kumamigrate.deployment.environmentsettings import environments_text
    from kumamigrate.report.worldtext import world_json, world_lines

    sources = loaded(given)
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
    print_report(as_json, {**world_json(estate), "saved": saved}, lines)
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

    print_report(as_json, rules_json(), rules_lines())
    return Exit.CLEAN


def rule(rule_id: str, *, as_json: bool) -> Exit:
    """Print one rule explained."""
    from kumamigrate.report.rules import rule_json, rule_lines

    print_report(as_json, rule_json(rule_id), rule_lines(rule_id))
    return Exit.CLEAN


def _inspected(given: Given, environment: str | None) -> Scene:
    """Return what proxies get: of the paths given, which are all there is then, or of the one
    environment of the repository that was named."""
    paths = [Path(path) for path in given.get("paths") or ()]
    sites = read(alone(given, *paths) if paths else loaded(given)).estate.sites
    chosen = [site for site in sites if environment in (None, site.name)]
    if len(chosen) != 1:
        names = ", ".join(site.name or "(all files)" for site in sites)
        raise UsageError(f"--environment must be one of {names}")
    return chosen[0].applied


def _asked_proxy(proxy: str | None, words: Sequence[str]) -> dict[str, str]:
    """Return the labels of the proxy that was made up: `key=value`, several with commas or one by
    one, as kubectl takes them. What no proxy can have would be answered for another one."""
    if words and proxy is not None:
        raise UsageError("--proxy names a Dataplane, --labels makes one up: give one of them")
    pairs: dict[str, str] = {}
    for word in (one.strip() for given in words for one in given.split(",")):
        key, equals, value = word.partition("=")
        if not (equals and FORMS["tag-name"](key) and FORMS["tag-text"](value)):
            raise UsageError(
                f"--labels {word or '(nothing)'}: write key=value, or several with commas"
            )
        if pairs.setdefault(key, value) != value:
            raise UsageError(f"--labels {word}: {key} is {pairs[key]} already")
    return pairs
