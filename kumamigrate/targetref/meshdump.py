"""The whole mesh, printed as the goldens are, with the deprecation warnings of its policies."""

from __future__ import annotations

from typing import Any

from kumamigrate.model.release import Release
from kumamigrate.model.resource import Resource, sequence
from kumamigrate.model.state import State
from kumamigrate.targetref.items import top_of
from kumamigrate.targetref.matcher import Matcher


def inspect_mesh(state: State) -> dict[str, Any]:
    """Return what every Dataplane resolves to, by type, and the warnings, by resource name."""
    matcher = Matcher(state)
    types = matcher.policy_types()
    dataplanes = {
        proxy.name: {kind: matcher.rules(proxy, kind).as_json() for kind in types}
        for proxy in matcher.proxies()
    }
    warnings: dict[str, list[str]] = {}
    for policy in state.resources:
        found = deprecations(policy, matcher.release)
        if found:
            warnings.setdefault(policy.name, []).extend(found)
    return {"dataplanes": dataplanes, "warnings": warnings}


def deprecations(policy: Resource, release: Release) -> list[str]:
    """Return Kuma's deprecation texts for a policy, in its order (matcher-notes E)."""
    kind, texts = release.policy_types.get(policy.type), release.deprecations
    if kind is None or not texts:
        return []
    out = []
    items = sequence(policy.spec.get("from")) if "from" in kind.sections else []
    from_texts = texts.get("from", {})
    if items and from_texts:
        out.append(from_texts.get(policy.type) or from_texts["*"])
    if policy.type in texts.get("fromMeshServiceTypes", ()):
        named = [i for i in items if _kind(i) == "MeshService"]
        out.extend(texts["fromMeshService"] for _ in named)
    top = texts.get("top", {}).get(top_of(policy, release).kind)
    if top and policy.type not in texts.get("silentAboutTop", ()):
        out.append(top)
    return out


def _kind(item: Any) -> Any:
    target = item.get("targetRef") if isinstance(item, dict) else None
    return target.get("kind") if isinstance(target, dict) else None
