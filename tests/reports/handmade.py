"""Reports made by hand, and names that forms of text must hold without meaning anything."""

from __future__ import annotations

from typing import Any

HOSTILE = (
    "a|b",
    "`tick`` tick",
    "<script>alert(1)</script>",
    "</details><h1>x",
    "\\|x\\",
    "[a](javascript:x) ![b](c)",
    "@org/team #12 http://evil.test www.evil.test",
    "*b* _i_ ~~s~~ $m$ &amp; &#124;",
    "line\n| --- |\n# head",
    "\x1b[31mred\u202e",
    "1. one",
    "- item",
    "+ item",
    "# head",
    "===",
    "\"' onmouseover='alert(1)",
    "]]>--></script><script>alert(1)</script>",
    "\udcff\x00\ufffe",
)


def witness(**more: Any) -> dict[str, Any]:
    """Return a difference as the JSON has it."""
    return {
        "policyType": "MeshTimeout",
        "direction": "outbound",
        "destination": "pay",
        "field": "http.requestTimeout",
        "before": {"value": "15s", "policy": "a", "at": "a.yaml:3:5"},
        "after": {"value": "60s", "policy": "b", "at": "b.yaml:3:5"},
        "effect": "activation",
        **more,
    }


def entry(**more: Any) -> dict[str, Any]:
    """Return a finding as the JSON has it."""
    return {
        "rule": "from-section",
        "status": "manual",
        "safety": "manual",
        "danger": "refused",
        "resource": {"type": "MeshTimeout", "mesh": "default", "name": "t"},
        "file": "a.yaml",
        "line": 3,
        "column": 1,
        "message": "is refused",
        "action": "decide",
        "notes": [],
        **more,
    }


def report(witnesses: list[dict[str, Any]], findings: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the report of a run that is proven."""
    proxy = {"verdict": "different", "witnesses": witnesses, "madeUp": True}
    claim = {"verdict": "different", "allowing": "equivalent", "dataplanes": {"any proxy": proxy}}
    return {
        "schema": "kumamigrate.report/1",
        "target": "2.14",
        "from": "2.14",
        "written": False,
        "findings": findings,
        "coverage": {"files": 3, "documents": 3, "kuma": 3, "unread": []},
        "proof": {"proxies": "all", "allow": ["activation"], "claims": {"live": claim}},
        "held": [],
        "files": ["a.yaml"],
        "whole": "proven",
        "decides": "live",
        "steps": [],
        "meshes": [
            {"mesh": "m", "environment": "", "verdict": "equivalent", "changed": 1, "files": 1}
        ],
        "command": "kumamigrate run --dry-run",
    }


def named(name: str) -> dict[str, Any]:
    """Return a report in which everything that comes from files is one name."""
    resource = {"type": "MeshTimeout", "mesh": name, "name": name}
    words = {"resource": resource, "file": name, "message": name, "action": name, "rule": name}
    value = {"value": name, "policy": name, "at": name}
    different = witness(destination=name, field=name, before=value, after=value)
    said = [entry(**words, notes=[name]) for _ in range(7)]
    said += [entry(**words, status=status) for status in ("fixed", "held", "pending")]
    made = report([different] * 12, said)
    made["meshes"] = [{**made["meshes"][0], "mesh": name, "environment": name}] * 8
    made["proof"]["assumptions"] = [name]
    made["proof"]["claims"]["live"] |= {"allowing": "unknown", "unknown": [name]}
    made["steps"] = [name]
    made["command"] = f"kumamigrate run '{name}'"
    place = {"file": name, "line": 1, "column": 1}
    refused = {**place, "reason": "x", "message": name, "action": name}
    made["held"] = [
        {
            "rule": name,
            "resources": [name],
            "about": [{"resource": resource, "message": name}],
            "witnesses": [],
            "unknown": [name],
            "refused": [refused],
        }
    ]
    made["coverage"] = {**made["coverage"], "unread": [refused]}
    made["patch"] = f"+++ {name}\n@@\n+{name}\n-{name}\n"
    picture = {
        "mesh": name,
        "environment": name,
        "policies": [{"type": name, "name": name, "change": "changed", "at": name}],
        "proxies": [{"names": [name, name], "kind": "madeUp", "number": 0}],
        "reach": [[0, 0, "new"]],
        "left": {"policies": 1, "proxies": 0},
    }
    made["pictures"] = [picture]
    return made
