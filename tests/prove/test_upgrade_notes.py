"""What an upgrade changes by itself stands with the verdict, and changes no verdict."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
---
type: KIND
name: probes
mesh: default
spec: SPEC
"""
PROBES = "{to: [{targetRef: {kind: Mesh}, default: {interval: 10s, timeout: 2s, HOW}}]}"
HTTP = PROBES.replace("HOW", "http: {path: /healthz}")
TCP = PROBES.replace("HOW", "tcp: {}")
FAULTS = "{rules: [{default: {http: [{abort: {httpStatus: 500, percentage: 1}}]}}]}"


@pytest.mark.parametrize(
    ("kind", "spec", "target", "said"),
    [
        ("MeshHealthCheck", HTTP, "3.0", True),
        ("MeshHealthCheck", TCP, "3.0", False),
        ("MeshHealthCheck", HTTP, "2.14", False),
        ("MeshFaultInjection", FAULTS, "3.0", True),
    ],
)
def test_the_header_x_kuma_tags_is_announced(
    kind: str, spec: str, target: str, said: bool, tmp_path: Path
) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(MESH.replace("KIND", kind).replace("SPEC", spec), encoding="utf-8")
    words = ["--from", "2.13" if target == "2.14" else "2.14", "--target", target]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words, "--format", "json"])
    proof = json.loads(result.stdout)
    assert proof["claims"]["release"]["verdict"] == "equivalent"
    assert ("x-kuma-tags" in json.dumps(proof["assumptions"])) is said


TRACE = "{default: {backends: [{type: Zipkin, zipkin: {url: 'http://z:9411/api'}}]}}"
FILE = "{to: [{targetRef: {kind: Mesh}, default: {backends: [{type: File, file: {path: /a}}]}}]}"
OTEL = FILE.replace("File, file: {path: /a}", "OpenTelemetry, openTelemetry: {endpoint: otel}")


@pytest.mark.parametrize(
    ("kind", "spec", "source", "said"),
    [
        ("MeshTrace", TRACE, "2.9", True),
        ("MeshTrace", TRACE, "2.14", False),
        ("MeshAccessLog", OTEL, "2.9", True),
        ("MeshAccessLog", FILE, "2.9", False),
    ],
)
def test_what_telemetry_says_of_its_place_is_announced(
    kind: str, spec: str, source: str, said: bool, tmp_path: Path
) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(MESH.replace("KIND", kind).replace("SPEC", spec), encoding="utf-8")
    words = ["--from", source, "--target", "3.0" if source == "2.14" else "2.14"]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words, "--format", "json"])
    assert ("name mesh and zone" in json.dumps(json.loads(result.stdout)["assumptions"])) is said


TO_ALL = "{to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s}}}]}"
TO_SOME = "{targetRef: {kind: Dataplane, labels: {app: a}}, " + TO_ALL[1:]


@pytest.mark.parametrize(
    ("mode", "spec", "said"),
    [
        ("Disabled", TO_ALL, False),
        ("Disabled", TO_ALL.replace("{to:", "{targetRef: {kind: Mesh}, to:"), False),
        ("Disabled", TO_SOME, True),
        ("Disabled", TO_ALL.replace("kind: Mesh", "kind: MeshService, name: a"), True),
        ("Everywhere", TO_SOME, True),
        ("Exclusive", TO_SOME, False),
    ],
)
def test_the_default_time_limit_is_announced(
    mode: str, spec: str, said: bool, tmp_path: Path
) -> None:
    """What no policy sets at an outbound by tag is no limit, and 15s at a real one."""
    path = tmp_path / "in.yaml"
    text = MESH.replace("KIND", "MeshTimeout").replace("Exclusive", mode).replace("SPEC", spec)
    path.write_text(text, encoding="utf-8")
    words = ["--from", "2.14", "--target", "3.0", "--format", "json"]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words])
    assert ("15s" in json.dumps(json.loads(result.stdout)["assumptions"])) is said


LOG = "{SECTION: [{ENTRY default: {backends: [BACKEND]}}]}"
FILE = "{type: File, file: {path: /tmp/a.log, FORMAT}}"
OTEL = (
    "{type: OpenTelemetry, openTelemetry: {backendRef: {kind: MeshOpenTelemetryBackend,"
    " labels: {kuma.io/display-name: otel}}, FORMAT}}"
)
COLLECTOR = """---
type: MeshOpenTelemetryBackend
mesh: default
name: otel
spec: {endpoint: {address: otel, port: 4317}, protocol: grpc}
"""


@pytest.mark.parametrize(
    ("backend", "target", "said"),
    [
        (FILE.replace("FORMAT", ""), "3.0", True),
        (FILE.replace("FORMAT", ""), "2.14", False),
        (FILE.replace("FORMAT", "format: {type: Plain, plain: '%START_TIME%'}"), "3.0", False),
        (
            FILE.replace("FORMAT", "format: {type: Plain, plain: '%KUMA_SOURCE_SERVICE%'}"),
            "3.0",
            True,
        ),
        (
            FILE.replace(
                "FORMAT",
                "format: {type: Json, json: [{key: to, value: '%KUMA_DESTINATION_SERVICE%'}]}",
            ),
            "3.0",
            True,
        ),
        (
            FILE.replace(
                "FORMAT", "format: {type: Json, json: [{key: at, value: '%START_TIME%'}]}"
            ),
            "3.0",
            False,
        ),
        (OTEL.replace("FORMAT", ""), "3.0", True),
        (OTEL.replace("FORMAT", "body: {kvlistValue: {values: []}}"), "3.0", False),
    ],
)
@pytest.mark.parametrize(
    "section", [("to", "targetRef: {kind: Mesh},"), ("rules", "")], ids=["to", "rules"]
)
def test_who_is_named_in_access_logs_is_announced(
    section: tuple[str, str], backend: str, target: str, said: bool, tmp_path: Path
) -> None:
    """The default formats name services, which 3.0 no longer knows: it writes the workload."""
    spec = LOG.replace("SECTION", section[0]).replace("ENTRY", section[1])
    path = tmp_path / "in.yaml"
    text = MESH.replace("KIND", "MeshAccessLog").replace("SPEC", spec.replace("BACKEND", backend))
    path.write_text(text + (COLLECTOR if "otel" in backend else ""), encoding="utf-8")
    words = ["--from", "2.13" if target == "2.14" else "2.14", "--target", target]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words, "--format", "json"])
    proof = json.loads(result.stdout)
    assert proof["claims"]["release"]["verdict"] == "equivalent"
    assert ("kuma.io/service" in json.dumps(proof["assumptions"])) is said


TRACE = "{default: {backends: [BACKEND]}}"
DATADOG = "{type: Datadog, datadog: {url: 'http://d.example:8126'MORE}}"


@pytest.mark.parametrize(
    ("backend", "names", "calls"),
    [
        (DATADOG.replace("MORE", ""), True, False),
        (DATADOG.replace("MORE", ", splitService: true"), True, True),
        (OTEL.replace("FORMAT", ""), True, False),
        ("{type: Zipkin, zipkin: {url: 'http://z.example:9411/api/v2/spans'}}", False, False),
    ],
    ids=["Datadog", "split", "OpenTelemetry", "Zipkin"],
)
def test_who_is_named_in_traces_is_announced(
    backend: str, names: bool, calls: bool, tmp_path: Path
) -> None:
    """A web with the workload w-web sends spans as `web` on 2.14 and as `w-web` on 3.0; split, they
    go to `…_msvc_80` and to `kri_msvc_…` (asked of both; of Zipkin Envoy's own start decides)."""
    path = tmp_path / "in.yaml"
    text = MESH.replace("KIND", "MeshTrace").replace("SPEC", TRACE.replace("BACKEND", backend))
    path.write_text(text + (COLLECTOR if "otel" in backend else ""), encoding="utf-8")
    words = ["--from", "2.14", "--target", "3.0", "--format", "json"]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words])
    told = json.dumps(json.loads(result.stdout)["assumptions"], ensure_ascii=False)
    assert ("spans of MeshTrace" in told, "`kri_…`" in told) == (names, calls)


GATEWAY = """---
type: MeshGateway
name: gw
mesh: default
selectors: [{match: {kuma.io/service: gw}}]
conf: {listeners: [{port: 80, protocol: HTTP}]}
"""
GATEWAY_ROUTE = """---
type: MeshGatewayRoute
name: all
mesh: default
selectors: [{match: {kuma.io/service: gw}}]
conf: {http: {rules: [{matches: [{path: {match: PREFIX, value: /}}],
  backends: [{destination: {kuma.io/service: web}}]}]}}
"""
WEB = """---
type: Dataplane
name: web-1
mesh: default
labels: {kuma.io/workload: web}
networking: {address: 10.0.0.1, inbound: [{port: 80, protocol: http, tags: {kuma.io/service: web}}]}
"""


@pytest.mark.parametrize("gone", [GATEWAY, GATEWAY_ROUTE], ids=["gateway", "route"])
def test_what_goes_with_built_in_gateways_concerns_no_other_proxy(
    gone: str, tmp_path: Path
) -> None:
    path = tmp_path / "in.yaml"
    mesh = MESH.split("---")[0]
    path.write_text(mesh + gone + WEB, encoding="utf-8")
    words = ["--from", "2.14", "--target", "3.0", "--format", "json"]
    result = CliRunner().invoke(app, ["prove", str(path), str(path), *words])
    found = json.loads(result.stdout)["claims"]["release"]
    assert found["verdict"] == "unknown"
    assert found["dataplanes"]["web-1"]["verdict"] == "equivalent"
