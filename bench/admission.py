"""What a control plane refuses, beside what we say of it.

`python bench/admission.py ask URL FILE [--kind K …]` changes one thing at a time in the resources
of `bench/admission/` and asks the API of a universal zone control plane in zone east (from where
it runs, as its administrator) whether it takes the result; the answers go to FILE, a line of JSON
for each. `python bench/admission.py compare FILE … [--release R] [--show]` holds `refusals_of`
against them: per kind both agree, it refuses and we take, we refuse and it takes.
`python bench/admission.py sample FILE … --into FOLDER` keeps some of them as goldens.
"""

from __future__ import annotations

import argparse
import copy
import json
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from kumamigrate.admit.check import refusals_of
from kumamigrate.model.problem import Problem
from kumamigrate.model.read import read_resources
from kumamigrate.model.release import release as release_of
from kumamigrate.model.state import Environment
from kumamigrate.source.reading.load import read_file

SEEDS = Path(__file__).with_name("admission")
PLURALS = {
    "ExternalService": "external-services",
    "HostnameGenerator": "hostnamegenerators",
    "Mesh": "meshes",
    "MeshIdentity": "meshidentities",
    "VirtualOutbound": "virtual-outbounds",
    "ZoneEgress": "zoneegresses",
    "ZoneIngress": "zone-ingresses",
}
GLOBAL = {"HostnameGenerator", "Mesh", "Zone", "ZoneEgress", "ZoneIngress"}
EAST = Environment(mode="zone", zone="east")
KEEP = {"type", "name", "mesh", "skipCreatingInitialPolicies"}
SLOW = {"RSAbits"}
"""What makes a control plane busy for minutes."""
NOWHERE = object()
SILENT = 599
ABSENT = "(absent)"
UNANSWERED = ["no answer"]
TEXTS = ("", "x y", "UPPER_x", "*", "x", "a.b", "-", 5, True, None, [], {}, "0s", "-1s", "5x", "é")
NUMBERS = (0, -1, 1, 101, 70000, 2**32, 1.5, "5", "x", "", True, None, [], {})
SWITCHES = (False, "true", 1, None, [], {})
ENTRIES = ({"": "a"}, {"a b": "c"}, {"k": ""}, {"k": "a b"}, {"k": 5}, {"k/l": "*"})
Step = str | int


def seeds(files: str = "*.yaml") -> Iterator[dict[str, Any]]:
    """Yield the resources of some files; those at the top a control plane takes as they are."""
    for file in sorted(SEEDS.glob(files)):
        yield from yaml.safe_load_all(file.read_text(encoding="utf-8"))


def leaves(value: Any, path: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Any]]:
    """Yield path and value of everything inside a value."""
    steps = value.items() if isinstance(value, dict) else enumerate(value)
    for step, inner in steps:
        if step not in SLOW and (path or step not in KEEP):
            yield (*path, step), inner
            if isinstance(inner, dict | list):
                yield from leaves(inner, (*path, step))


def changes(value: Any) -> Iterator[Any]:
    """Yield what may stand in the place of a value; NOWHERE takes it away."""
    yield NOWHERE
    if isinstance(value, dict):
        yield from (None, {}, [], "x", {**value, "extra": 1})
        yield from ({**value, **entry} for entry in ENTRIES)
    elif isinstance(value, list):
        yield from (None, [], {}, "x", [None], ["x"], [5], value * 2, value[::-1])
    elif isinstance(value, bool):
        yield from SWITCHES
    elif isinstance(value, int | float):
        yield from NUMBERS
    else:
        yield from (*TEXTS, f"{value}x", str(value).upper(), str(value).lower(), "b" * 300)


def changed(resource: dict[str, Any], path: tuple[Step, ...], value: Any) -> dict[str, Any]:
    """Return a resource with one thing changed."""
    result = copy.deepcopy(resource)
    inner: Any = result
    for step in path[:-1]:
        inner = inner[step]
    if value is NOWHERE:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return result


def cases(kinds: list[str]) -> Iterator[dict[str, Any]]:
    """Yield every seed and each change of it."""
    for one in seeds("alone/*.yaml"):
        if not kinds or one["type"] in kinds:
            yield {"resource": one}
    for seed in seeds():
        if kinds and seed["type"] not in kinds:
            continue
        yield {"resource": seed}
        for path, value in leaves(seed):
            for new in changes(value):
                if new is NOWHERE or new != value or type(new) is not type(value):
                    yield {"resource": changed(seed, path, new), "at": list(path)}


class ControlPlane:
    """The API of a control plane, with one mesh that everything goes into."""

    def __init__(self, url: str) -> None:
        """Make the mesh."""
        self._url = url
        skip = {"type": "Mesh", "name": "admission", "skipCreatingInitialPolicies": ["*"]}
        self._request("PUT", "meshes/admission", skip)

    def fields_refused(self, number: int, resource: dict[str, Any]) -> list[str] | None:
        """Return the fields that it refuses, or None when it takes the resource."""
        kind, name = resource["type"], f"{resource['name']}-{number}"
        asked = {**resource, "name": name}
        plural = PLURALS.get(kind) or _plural(kind)
        where = f"{plural}/{name}"
        if kind not in GLOBAL:
            asked["mesh"], where = "admission", f"meshes/admission/{where}"
        code, answer = self._request("PUT", where, asked)
        if code < 300:
            self._request("DELETE", where, None)
            return None
        if code == SILENT:
            return UNANSWERED
        if code >= 500 and not answer.get("detail"):
            raise RuntimeError(f"{code} for {asked}: {answer}")
        found = answer.get("invalid_parameters") or [{"field": str(answer.get("detail"))[:80]}]
        return [str(one.get("field")) for one in found]

    def _request(self, method: str, where: str, body: Any) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body).encode()
        head = {"content-type": "application/json"}
        request = urllib.request.Request(f"{self._url}/{where}", data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, json.loads(answer.read() or b"{}")
        except urllib.error.HTTPError as error:
            return error.code, json.loads(error.read() or b"{}")
        except TimeoutError:
            return SILENT, {}


def _plural(kind: str) -> str:
    known = release_of("2.14").policy_types.get(kind)
    return known.plural if known else f"{kind.lower()}s"


def ask(url: str, file: Path, kinds: list[str]) -> None:
    """Write what a control plane says of every case."""
    plane = ControlPlane(url)
    asked = list(cases(kinds))
    with ThreadPoolExecutor(4) as pool, file.open("w", encoding="utf-8") as out:
        found = pool.map(lambda n: plane.fields_refused(n, asked[n]["resource"]), range(len(asked)))
        for case, fields in zip(asked, found, strict=True):
            if fields == UNANSWERED:
                continue
            out.write(json.dumps({**case, "refused": fields}) + "\n")


def ours(resource: dict[str, Any], release: str) -> list[str]:
    """Return why we say that the release refuses a resource."""
    return [f"{one.field}: {one.message}" for one in _problems(resource, release)]


def _problems(resource: dict[str, Any], release: str) -> tuple[Problem, ...]:
    file = read_file("resource.yaml", json.dumps(resource).encode())
    found = list(read_resources(file))
    if file.refusals or not found:
        return (Problem(path=(), message="cannot be read"),)
    return refusals_of(found[0], release=release, environment=EAST)


def compare(files: list[Path], release: str, *, show: bool) -> None:
    """Print per kind where both agree and where they do not."""
    table: dict[str, Counter[str]] = {}
    told: Counter[str] = Counter()
    for case in (json.loads(line) for file in files for line in file.open(encoding="utf-8")):
        kind, refused = case["resource"]["type"], case["refused"]
        said = ours(case["resource"], release)
        word = ("both take" if not said else "we alone refuse") if refused is None else ""
        word = word or ("both refuse" if said else "we alone take")
        table.setdefault(kind, Counter())[word] += 1
        if word.startswith("we"):
            at = ".".join("[]" if isinstance(step, int) else step for step in case.get("at", ()))
            value = json.dumps(_value(case))[:50]
            told[f"{word}: {kind} {at} = {value}  {(said or refused)[0][:90]}"] += 1
    words = ("both refuse", "both take", "we alone take", "we alone refuse")
    print(f"{'':28}" + "".join(f"{word:>17}" for word in words))
    for kind, found in [*sorted(table.items()), ("all", sum(table.values(), Counter()))]:
        print(f"{kind:28}" + "".join(f"{found[word]:17}" for word in words))
    for line, count in sorted(told.items()) if show else ():
        print(f"{count:4} {line}")


def _value(case: dict[str, Any]) -> Any:
    inner: Any = case["resource"]
    for step in case.get("at", ()):
        absent = not isinstance(inner, list) and step not in inner
        inner = (
            ABSENT if absent or (isinstance(inner, list) and step >= len(inner)) else inner[step]
        )
    return inner


def sample(files: list[Path], folder: Path) -> None:
    """Keep as goldens a change for each place and answer, and one for each reason of ours."""
    kept: dict[str, dict[str, dict[str, Any]]] = {}
    seen: set[Any] = set()
    for case in (json.loads(line) for file in files for line in file.open(encoding="utf-8")):
        resource, refused = case["resource"], case["refused"] is not None
        kind, name, at = resource["type"], resource["name"], case.get("at")
        if at is None:
            row = {"resource": resource, "taken": not refused, "refused": [], "accepted": []}
            kept.setdefault(kind, {})[name] = row
            continue
        keys = {(kind, name, *at, refused)}
        keys |= {(kind, one.message) for one in _problems(resource, "2.14")} if refused else set()
        if keys - seen:
            seen |= keys
            gone = _length(resource, at) < _length(kept[kind][name]["resource"], at)
            change = [at] if gone else [at, _value(case)]
            kept[kind][name]["refused" if refused else "accepted"].append(change)
    folder.mkdir(parents=True, exist_ok=True)
    for kind, seeds_of in kept.items():
        (folder / f"{kind}.json").write_text(_lines(list(seeds_of.values())), encoding="utf-8")


def _length(resource: dict[str, Any], at: list[Step]) -> int:
    """Return how much there is in what a place lies in."""
    inner: Any = resource
    for step in at[:-1]:
        inner = inner[step]
    return len(inner)


def _lines(rows: list[dict[str, Any]]) -> str:
    """Return JSON with a line for each change."""
    parts = []
    for row in rows:
        head = json.dumps({"resource": row["resource"], "taken": row["taken"]})[1:-1]
        lists = (
            f'"{name}": [\n  ' + ",\n  ".join(json.dumps(one) for one in row[name]) + "\n ]"
            for name in ("refused", "accepted")
        )
        parts.append("{" + ",\n ".join((head, *lists)) + "}")
    return "[" + ",\n".join(parts) + "]\n"


def main() -> None:
    """Read the arguments and do one of the three."""
    parser = argparse.ArgumentParser(description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    asking = verbs.add_parser("ask")
    asking.add_argument("url")
    asking.add_argument("file", type=Path)
    asking.add_argument("--kind", action="append", default=[])
    comparing = verbs.add_parser("compare")
    comparing.add_argument("files", type=Path, nargs="+")
    comparing.add_argument("--release", default="2.14")
    comparing.add_argument("--show", action="store_true")
    sampling = verbs.add_parser("sample")
    sampling.add_argument("files", type=Path, nargs="+")
    sampling.add_argument("--into", type=Path, required=True)
    given = parser.parse_args()
    if given.verb == "ask":
        ask(given.url, given.file, given.kind)
    elif given.verb == "compare":
        compare(given.files, given.release, show=given.show)
    else:
        sample(given.files, given.into)


if __name__ == "__main__":
    main()
