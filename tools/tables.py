"""Write kumamigrate/model/tables/*.json from the acceptance table: `python tools/tables.py`.

The table, acceptance.json beside this file, says release by release and type by type what is
accepted; it is what one edits when a release comes. What is equal in several releases is written
once, with `in` naming them. `behaviour.json` in the same folder is written by hand and not touched.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ACCEPTANCE = Path(__file__).with_name("acceptance.json")
OUT = Path(__file__).resolve().parent.parent / "kumamigrate" / "model" / "tables"
MERGE = {
    "object-deep-merge": "object",
    "scalar-replace": "scalar",
    "list-replace": "list",
    "list-append": "append",
    "list-merge-by-key": "by-key",
    "merge key": "key",
    "partition-key (mergeValues)": "partition",
    "list-element (never merged on its own)": "element",
}
NUMBERS = ("min", "max", "minLength", "maxLength", "minItems", "maxItems")
TEXTS = ("enum", "itemEnum")
MARKS = ("required", "alwaysSerialised", "emptyListDropped", "zeroValueDropped")
WHOLE = ("int", "int32", "int64", "uint", "uint32", "int-or-string")


def field(row: dict[str, Any]) -> dict[str, Any]:
    """Return one conf field: path, type, merge, and only the marks that are set."""
    out: dict[str, Any] = {"path": row["path"].removeprefix("rules[0].")}
    out["type"] = row.get("type", "object")
    out["merge"] = MERGE[row["merge"]]
    if row.get("default") == "":
        out["zeroValueDropped"] = True
    elif "default" in row:
        text = row["default"]
        out["default"] = text == "true" if row["type"] == "bool" else text
        if row["type"] in WHOLE:
            out["default"] = int(text)
    out |= {k: int(row[k]) for k in NUMBERS if k in row}
    out |= {k: row[k] for k in TEXTS if k in row}
    if "pattern" in row:
        out["pattern"] = row["pattern"].strip("`")
    out |= {k: True for k in MARKS if row.get(k)}
    if row["type"] == "int":
        out |= {"enum": [int(x) for x in out["enum"]]} if "enum" in out else {}
    return out


def fields_of(kind: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the fields of one section; a route rule's `default` is a struct always printed."""
    out = [field(row) for row in rows]
    struct = {"type": "object", "merge": "object", "alwaysSerialised": True}
    if kind == "MeshTCPRoute":
        out.insert(0, {"path": "default", **struct})
    if kind == "MeshHTTPRoute":
        at = next(i for i, f in enumerate(out) if f["path"].startswith("rules[].default"))
        out.insert(at, {"path": "rules[].default", **struct, "merge": "object"})
    return out


def united(lists: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return rows of all releases, equal ones once with `in`, each release's order kept."""
    out: list[dict[str, Any]] = []
    for release in sorted(lists, key=lambda r: float(r) if r != "2.14" else 2.0):
        at = 0
        for row in lists[release]:
            same = next((r for r in out if {k: v for k, v in r.items() if k != "in"} == row), None)
            if same:
                same["in"].append(release)
                at = out.index(same) + 1
            else:
                out.insert(at, {**row, "in": [release]})
                at += 1
    for row in out:
        row["in"].sort(key=list(lists).index)
    return out


def conf_table(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return kind → sections → fields; `*` where all sections have the same fields."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for entry in entries:
        for key, rows in entry["conf"].items():
            kind = entry["kind"]
            section = key.split("[")[0] if kind == "MeshTrafficPermission" else "*"
            lists = found.setdefault(kind, {}).setdefault(section, {})
            lists[entry["version"]] = fields_of(kind, rows)
    return {k: {s: united(v) for s, v in sections.items()} for k, sections in found.items()}


def kinds(part: Any) -> Any:
    """Return a table of kinds without its citations."""
    if isinstance(part, dict):
        return {k: kinds(v) for k, v in part.items() if k not in ("src", "fieldRules", "note")}
    return part


def policy(entry: dict[str, Any]) -> dict[str, Any]:
    """Return what one policy type is in one release, conf fields aside."""
    flags, top = entry["flags"], kinds(entry["topLevelTargetRef"])
    rules = entry.get("rules") or {}
    return {
        "sections": sorted(k for k, v in entry["sections"].items() if v and k != "targetRef"),
        "targetRefRequired": entry["targetRefRequired"],
        "singleItem": bool(flags["singleItemRules"]),
        "fromAsRules": bool(flags["isFromAsRules"]),
        "top": {k: v for k, v in top.items() if isinstance(v, dict)},
        "dataplaneSectionName": bool(top.get("dataplaneSectionName")),
        "to": kinds(entry.get("to")) or None,
        "from": kinds(entry.get("from")) or None,
        "backendRefs": kinds(entry.get("backendRefs")) or None,
        "matchFields": rules.get("matchFields") if rules.get("hasMatches") else None,
    }


def policy_table(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return kind → identity and its forms, one for each set of equal releases."""
    out: dict[str, Any] = {}
    for entry in entries:
        known = out.setdefault(entry["kind"], {"plural": entry["plural"], "forms": []})
        form = {k: v for k, v in policy(entry).items() if v not in (None, False, {}, [])}
        same = next((f for f in known["forms"] if f["is"] == form), None)
        if same:
            same["in"].append(entry["version"])
        else:
            known["forms"].append({"in": [entry["version"]], "is": form})
    return out


def release_table(versions: dict[str, Any]) -> dict[str, Any]:
    """Return the orders, KRI short names and targetRef fields of each release."""
    dropped = ("src", "typeFields", "schemaEnums", "removedFields", "apiVersionQuirk")
    return {
        name: {
            "kindOrder": v["targetRefKindOrder"],
            "originOrder": {k.strip("()"): n for k, n in v["originOrder"].items()},
            "roleOrder": v["roleOrder"],
            "kriShortNames": {
                k: s for k, s in (v["kriShortNames"] or {}).items() if "DoNo" not in k
            },
            "targetRefTypeFields": v["targetRefFields"]["typeFields"],
            "targetRefFields": {
                k: kinds(f) for k, f in v["targetRefFields"].items() if k not in dropped
            },
        }
        for name, v in versions.items()
    }


def text(value: Any, depth: int, indent: int = 0) -> str:
    """Return JSON that is broken into lines down to `depth` and compact below."""
    pad, end = " " * (indent + 1), " " * indent
    if depth and isinstance(value, dict) and value:
        parts = [
            f"{pad}{json.dumps(k)}: {text(v, depth - 1, indent + 1)}" for k, v in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{end}}}"
    if depth and isinstance(value, list) and value:
        parts = [pad + text(v, depth - 1, indent + 1) for v in value]
        return "[\n" + ",\n".join(parts) + f"\n{end}]"
    return json.dumps(value)


def main() -> None:
    """Write the three generated tables."""
    schema = json.loads(ACCEPTANCE.read_text(encoding="utf-8"))
    entries = [e for e in schema["entries"] if e["present"] and e["kind"] != "DoNothingPolicy"]
    tables = {
        "releases": (release_table(schema["versions"]), 3),
        "policies": (policy_table(entries), 5),
        "conf": (conf_table(entries), 3),
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for name, (value, depth) in tables.items():
        (OUT / f"{name}.json").write_text(text(value, depth) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
