"""What must wait for a decision is taken out of what goes on to 3.0, whatever it stands in."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.admit.check import refusals_of
from kumamigrate.cli import app
from kumamigrate.model.read import read_resources
from kumamigrate.model.state import Environment
from kumamigrate.source.reading.load import read_file
from tests.runner import CliRunner

SERVICE = """type: MeshService
mesh: default
name: NAME
labels: {kuma.io/origin: zone, kuma.io/zone: east}
spec:
  selector: {dataplaneTags: {kuma.io/service: NAME}}
  ports: [{port: 80, name: main, appProtocol: PROTOCOL}]
---
"""
MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n---\n"
LABELS = "labels: {kuma.io/origin: zone, kuma.io/zone: east}"
DB = "{kind: MeshService, name: db, port: 80}"
LATE = "{kind: MeshServiceSubset, name: db, tags: {version: '*'}}"
"""Labels know no wildcard, so nobody can say what takes its place."""
RULE = "{matches: [{path: {type: PathPrefix, value: /AT}}], default: {backendRefs: [REFS]}}"
MIRROR = (
    "{matches: [{path: {type: PathPrefix, value: /b}}], default: {backendRefs: [DB],"
    " filters: [{type: RequestMirror, requestMirror: {backendRef: LATE}}]}}"
)
WAITS, GOES = RULE.replace("AT", "b").replace("REFS", LATE), RULE.replace("AT", "a")
GOES = GOES.replace("REFS", DB)


def _route(*entries: str, kind: str = "MeshHTTPRoute") -> str:
    return f"type: {kind}\nmesh: default\nname: r\n{LABELS}\nspec: {{to: [{', '.join(entries)}]}}\n"


def _to(name: str, *rules: str) -> str:
    return f"{{targetRef: {{kind: MeshService, name: {name}}}, rules: [{', '.join(rules)}]}}"


def _timeout(name: str, *targets: str, top: str = "{kind: Mesh}") -> str:
    default = "default: {http: {requestTimeout: 9s}}"
    entries = ", ".join(f"{{targetRef: {target}, {default}}}" for target in targets)
    return (
        f"---\ntype: MeshTimeout\nmesh: default\nname: {name}\n{LABELS}\n"
        f"spec: {{targetRef: {top}, to: [{entries}]}}\n"
    )


TWO_RULES = _route(_to("db", GOES, WAITS))
ON_ROUTE = "{kind: MeshHTTPRoute, name: r}"


@pytest.mark.parametrize(
    ("text", "done", "waiting"),
    [
        (TWO_RULES, {"r-rest"}, {"r"}),
        (_route(_to("db", GOES, MIRROR.replace("DB", DB).replace("LATE", LATE))),
         {"r-rest"}, {"r"}),
        (_route(_to("db", GOES), _to("pay", WAITS)), {"r-db"}, {"r"}),
        (_route(_to("db", GOES), _to("gone_shop_svc_80", GOES)), {"r-db"}, {"r"}),
        (_route(_to("raw", "{default: {backendRefs: [REF]}}".replace("REF", DB)),
                _to("pay", "{default: {backendRefs: [REF]}}".replace("REF", LATE)),
                kind="MeshTCPRoute"), {"r-raw"}, {"r"}),
        (TWO_RULES + _timeout("t", ON_ROUTE), {"r-rest", "t"}, {"r"}),
        (TWO_RULES + _timeout("t", "{kind: Mesh}", top=ON_ROUTE), {"r-rest", "t"}, {"r"}),
        (_timeout("t", "{kind: MeshService, name: db}", "{kind: MeshService, name: g_s_svc_80}"),
         {"t-rest"}, {"t"}),
    ],
    ids=["backend", "mirror", "backend elsewhere", "destination", "TCP", "policy on the route",
         "policy at the route", "service that is not there"],
)  # fmt: skip
def test_the_rest_of_it_goes_on(
    text: str, done: set[str], waiting: set[str], tmp_path: Path
) -> None:
    assert _after(text, tmp_path) == (done, waiting)


ONE_RULE = RULE.replace("AT", "a").replace("REFS", f"{DB}, {LATE}")
CLIENTS = "{targetRef: {kind: MeshSubset, tags: {kuma.io/service: CLIENT}}, default: CONF}"


@pytest.mark.parametrize(
    "text",
    [
        _route(_to("db", ONE_RULE)),
        _timeout("t", "{kind: MeshService, name: db}", top="{kind: MeshSubset, tags: {a: '*'}}"),
        _timeout("t", "{kind: MeshService, name: db}", "{kind: MeshHTTPRoute, name: gone}"),
    ],
    ids=["shares of one rule", "whom it is for", "route that is not there"],
)
def test_what_is_one_thing_waits_as_one(text: str, tmp_path: Path) -> None:
    """The weights of a rule add up to all traffic; the top says whom every entry is for; what a
    route does that nobody knows nobody can prove (product.md §5)."""
    done, waiting = _after(text, tmp_path)
    assert not done
    assert waiting == {"r" if text.startswith("type: MeshHTTPRoute") else "t"}


@pytest.mark.parametrize(
    ("kind", "conf"),
    [
        ("MeshTrafficPermission", "{action: Allow}"),
        ("MeshFaultInjection", "{http: [{abort: {httpStatus: 500, percentage: 10}}]}"),
    ],
)
def test_clients_of_an_inbound_are_told_apart_together(
    kind: str, conf: str, tmp_path: Path
) -> None:
    """Of two releases one reads `from` and the other `rules`, and where an inbound has rules no
    `from` is read on it: an entry that went alone would switch the others off."""
    entries = [CLIENTS.replace("CLIENT", name).replace("CONF", conf) for name in ("web", "gone")]
    spec = f"{{targetRef: {{kind: Mesh, proxyTypes: [Sidecar]}}, from: [{', '.join(entries)}]}}"
    text = f"type: {kind}\nmesh: default\nname: p\n{LABELS}\nspec: {spec}\n"
    file = _run(text, tmp_path)
    assert f"name: p\n{LABELS}\nspec: {spec}" in file.read_text(encoding="utf-8")


def _run(text: str, folder: Path) -> Path:
    file = folder / "mesh.yaml"
    http, tcp = (SERVICE.replace("PROTOCOL", one) for one in ("http", "tcp"))
    services = [http.replace("NAME", "db"), http.replace("NAME", "pay"), tcp.replace("NAME", "raw")]
    file.write_text(MESH + "".join(services) + text.removeprefix("---\n"), encoding="utf-8")
    words = ["run", "--target", "3.0", "--zone", "east", "--initial-policies", "none", str(file)]
    CliRunner().invoke(app, words)
    return file


def _after(text: str, folder: Path) -> tuple[set[str], set[str]]:
    """Return the routes and policies that 3.0 takes after a run, and those that it refuses."""
    file = _run(text, folder)
    found: tuple[set[str], set[str]] = (set(), set())
    for resource in read_resources(read_file("mesh.yaml", file.read_bytes())):
        if resource.type in ("MeshHTTPRoute", "MeshTCPRoute", "MeshTimeout"):
            refused = refusals_of(resource, release="3.0", environment=Environment(zone="east"))
            found[bool(refused)].add(resource.name)
    return found
