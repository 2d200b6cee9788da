"""Proofs of parts of the environments put together: what one machine would have said.

A report without one of its parts, or of parts that speak of different states, says nothing: it
is refused and not completed with a guess.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from kumamigrate.errors import UsageError
from kumamigrate.flow.shard import Shard
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.styled import Line, line

PROOF = "kumamigrate.proof/1"
_BADNESS = ("equivalent", "unknown", "different")
_SAME = ("schema", "allow", "coverage", "inventory", "world", "decides")
"""What all parts say alike, since each has read everything."""
MOST = 20


Part = dict[str, Any]
"""The report of one part."""


def shard_json(shard: Shard, environments: Sequence[str], code: Exit, digest: str) -> Part:
    """Return what a part says of itself, for those who put parts together."""
    return {
        "number": shard.number,
        "of": shard.of,
        "environments": list(environments),
        "exit": int(code),
        "states": digest,
    }


def read_parts(paths: Iterable[Path]) -> list[Part]:
    """Return the parts of one proof, in order. Raises UsageError, naming the file, for a report
    that is no part of it, and where one is missing or stands twice."""
    parts: dict[int, tuple[Path, Part]] = {}
    for path in paths:
        part = _part(path)
        number = part["shard"]["number"]
        if number in parts:
            raise UsageError(f"{path}: part {number} also stands in {parts[number][0]}")
        parts[number] = (path, part)
    listed = [parts[number] for number in sorted(parts)]
    if not listed:
        raise UsageError("merge needs the reports of all parts")
    of = listed[0][1]["shard"]["of"]
    for path, part in listed:
        _check_alike(path, part, listed[0])
    if missing := sorted(set(range(1, of + 1)) - parts.keys()):
        raise UsageError(f"part {missing[0]} of {of} is missing; give the reports of all parts")
    return [part for _, part in listed]


def _part(path: Path) -> Part:
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise UsageError(f"{path}: is no JSON: {error}") from error
    if not _is_part(data):
        raise UsageError(f"{path}: is no report of `kumamigrate prove --shard I/N --format json`")
    part: Part = data
    return part


def _is_part(data: Any) -> bool:
    """Say whether some JSON has all that parts are put together by."""
    shard = data.get("shard") if isinstance(data, dict) else None
    if not isinstance(shard, dict) or data.get("schema") != PROOF:
        return False
    numbers = [shard.get(key) for key in ("number", "of", "exit")]
    claims = data.get("claims")
    return (
        all(type(number) is int for number in numbers)
        and numbers[2] in tuple(Exit)
        and isinstance(shard.get("environments"), list)
        and isinstance(data.get("decides"), str)
        and isinstance(claims, dict)
        and all(_is_claim(claim) for claim in claims.values())
    )


def _is_claim(claim: Any) -> bool:
    if not isinstance(claim, dict) or not isinstance(claim.get("dataplanes"), dict):
        return False
    said = [claim, *claim["dataplanes"].values()]
    verdicts = [claim.get("allowing"), *(one.get("verdict") for one in said)]
    return all(verdict in _BADNESS for verdict in verdicts)


def _check_alike(path: Path, part: Part, first: tuple[Path, Part]) -> None:
    """Raise UsageError where two parts are not of one proof."""
    known = first[1]
    for key in ("of", "states"):
        if part["shard"].get(key) != known["shard"].get(key):
            what = "of other states" if key == "states" else "of another number of parts"
            raise UsageError(f"{path}: is {what} than {first[0]}; prove all parts anew")
    for key in _SAME:
        if part.get(key) != known.get(key):
            raise UsageError(f"{path}: says another {key} than {first[0]}; prove all parts anew")


def merged_json(parts: Sequence[Mapping[str, Any]]) -> Part:
    """Return the proof that some parts make up."""
    names = list(dict.fromkeys(name for part in parts for name in part["claims"]))
    kept = [part for part in parts if part["shard"]["environments"]] or parts[:1]
    whole = {key: kept[0][key] for key in (*_SAME, "release") if key in kept[0]}
    for key in ("beyond", "assumptions", "ties", "uncommitted"):
        whole[key] = list(dict.fromkeys(one for part in parts for one in part.get(key, ())))
    whole["proxies"] = "all" if all(p.get("proxies") == "all" for p in kept) else "listed"
    whole["claims"] = {name: _claim([p["claims"].get(name, {}) for p in parts]) for name in names}
    whole["meshes"] = [row for part in parts for row in part.get("meshes", ())]
    whole["shards"] = [part["shard"] for part in parts]
    return whole


def _claim(parts: Sequence[Mapping[str, Any]]) -> Part:
    """Return what some parts say of one claim, the worst deciding."""
    out: Part = {
        key: max((p.get(key, _BADNESS[0]) for p in ({}, *parts)), key=_BADNESS.index)
        for key in ("verdict", "allowing")
    }
    told = (part.get("dataplanes", {}) for part in parts)
    out["dataplanes"] = {name: one for mine in told for name, one in mine.items()}
    unknown = list(dict.fromkeys(why for part in parts for why in part.get("unknown", ())))
    modes: dict[str, str] = {}
    for mode, verdict in ((m, v) for part in parts for m, v in part.get("modes", {}).items()):
        modes[mode] = max(modes.get(mode, _BADNESS[0]), verdict, key=_BADNESS.index)
    return out | ({"unknown": unknown} if unknown else {}) | ({"modes": modes} if modes else {})


def merged_exit(parts: Sequence[Mapping[str, Any]]) -> Exit:
    """Return the exit code of all parts: the worst."""
    return worst(Exit(int(part["shard"]["exit"])) for part in parts)


def merged_lines(whole: Mapping[str, Any]) -> list[Line]:
    """Return the verdict of all parts in one line, and where it is not the best."""
    claim = whole["claims"].get(whole["decides"]) or _claim([])
    verdict = claim["allowing"]
    environments = sum(len(shard["environments"]) for shard in whole["shards"])
    style = {"equivalent": "good", "different": "bad"}.get(verdict, "warn")
    count = f"{environments} environment{'' if environments == 1 else 's'}"
    parts = f"{len(whole['shards'])} part{'' if len(whole['shards']) == 1 else 's'}"
    lines = [line((verdict.capitalize(), style), f": {count} in {parts} ({whole['decides']})")]
    worse = [name for name, one in claim["dataplanes"].items() if one["verdict"] != "equivalent"]
    for name in worse[:MOST]:
        lines.append(line("  ", (name, "place"), f"   {claim['dataplanes'][name]['verdict']}"))
    if len(worse) > MOST:
        lines.append(line(f"  … and {len(worse) - MOST} more; --format json has them all"))
    lines += [line(f"  cannot tell: {why}") for why in claim.get("unknown", ())[:MOST]]
    return lines
