"""What proxies resolve to: the JSON shapes of the matcher, and the labels resources get."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kumamigrate.dataclass import replace
from kumamigrate.errors import UsageError
from kumamigrate.model.kinds import KUBERNETES, OLD_POLICIES
from kumamigrate.model.kubernetes.workloads import implied_dataplanes
from kumamigrate.model.labels import Refused, compute_labels
from kumamigrate.model.problem import Problem
from kumamigrate.model.resource import SERVICE, Identity, Resource
from kumamigrate.model.state import State
from kumamigrate.report.styled import Line, line
from kumamigrate.scene.scene import Scene
from kumamigrate.sourcedest.admit import refusals_beside
from kumamigrate.sourcedest.order import Ties
from kumamigrate.sourcedest.table import legacy_table
from kumamigrate.targetref.meshdump import inspect_mesh
from kumamigrate.universe.madeup import OTHER_SERVICE
from kumamigrate.universe.madeupproxy import dataplane_of

MADE_UP = "any-proxy"


def inspect_json(scene: Scene, *, proxy: str | None, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return per Dataplane and policy type all that the release's matcher resolves.

    `legacy` (releases that have the old engine) lists the winners of old policies; ties by
    creation time are decided there by file order and named under `ties`.
    """
    state = chosen_state(scene, proxy=proxy, labels=labels)
    dataplanes: dict[str, Any] = {}
    warnings: dict[str, list[str]] = {}
    for mesh in state.meshes():
        found = inspect_mesh(state.mesh(mesh))
        for name, types in found["dataplanes"].items():
            dataplanes[name if name not in dataplanes else f"{mesh}/{name}"] = types
        for name, texts in found["warnings"].items():
            warnings.setdefault(name, []).extend(texts)
    result: dict[str, Any] = {"dataplanes": dataplanes, "warnings": warnings}
    if any(True for _ in state.of_type(*OLD_POLICIES)):
        result["legacy"] = legacy_table(state, Ties.FILE_ORDER)
        ties = {name: _ties(rows) for name, rows in legacy_table(state, Ties.UNKNOWN).items()}
        result["ties"] = {name: rows for name, rows in ties.items() if rows}
    return result


def _ties(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"attachment": row["attachment"], "name": row["name"], "policies": row["ties"]}
        for row in rows
        if "ties" in row
    ]


def chosen_state(scene: Scene, *, proxy: str | None, labels: Mapping[str, str]) -> State:
    """Return the state with only the Dataplanes asked for, listed or of a workload, or with one
    made up from labels."""
    state = scene.state(scene.source)[0]
    if labels:
        return replace(state, resources=(*_without_proxies(state), *_made_up(state, labels)))
    if proxy is not None:
        listed = (*state.of_type("Dataplane"), *of_workloads(state))
        kept = [r for r in listed if proxy in (r.name, r.display_name)]
        if not kept:
            raise UsageError(
                f"there is no Dataplane {proxy}, nor a workload whose Pods have one;"
                " --labels asks for a made-up one"
            )
        return replace(state, resources=(*_without_proxies(state), *kept))
    return state


def of_workloads(state: State) -> tuple[Resource, ...]:
    """Return the Dataplanes that the Pods of known workloads have."""
    return tuple(one for mesh in state.meshes() for one in implied_dataplanes(state, mesh))


def _without_proxies(state: State) -> tuple[Resource, ...]:
    return tuple(r for r in state.resources if r.type != "Dataplane")


def _made_up(state: State, labels: Mapping[str, str]) -> list[Resource]:
    inbound = {"port": 80, "tags": {SERVICE: OTHER_SERVICE, **labels}}
    return [dataplane_of(MADE_UP, labels, {"inbound": [inbound]}, mesh) for mesh in state.meshes()]


def resources_json(scene: Scene) -> dict[str, Any]:
    """Return every resource with the labels that the control plane gives it, or its refusal."""
    rejected = _rejected(scene)
    found = []
    for resource in (*scene.repository.resources, *scene.inventory):
        if resource.type in KUBERNETES:
            continue
        entry: dict[str, Any] = {"type": resource.type, "name": resource.name}
        if resource.namespace:
            entry["namespace"] = resource.namespace
        labelled = compute_labels(resource, release=scene.source, environment=scene.environment)
        if isinstance(labelled, Refused):
            found.append({**entry, "error": labelled.message})
        elif resource.identity in rejected:
            found.append({**entry, "error": rejected[resource.identity]})
        else:
            found.append({**entry, "labels": dict(sorted(labelled.labels.items()))})
    return {"resources": found}


def _rejected(scene: Scene) -> dict[Identity, str]:
    """Return why resources are refused, by themselves or beside others of their mesh."""
    state, rejections = scene.state(scene.source)
    found = {one.resource.identity: _in_words(one.problems) for one in rejections}
    external = list(state.of_type("ExternalService"))
    for policy in state.of_type("RateLimit"):
        beside = refusals_beside(policy, [r for r in external if r.mesh == policy.mesh])
        if beside and not policy.templated:
            found[policy.identity] = _in_words(beside)
    return found


def _in_words(problems: Iterable[Problem]) -> str:
    return "; ".join(problem.message for problem in problems)


def resources_lines(scene: Scene) -> list[Line]:
    """Return every resource with its labels, as text."""
    lines: list[Line] = []
    for entry in resources_json(scene)["resources"]:
        lines.append(line((f"{entry['type']} {entry['name']}", "strong")))
        if "error" in entry:
            lines.append(line("  refused: ", (entry["error"], "bad")))
        for key, value in entry.get("labels", {}).items():
            lines.append(line(f"  {key}: {value}"))
    return lines
