"""What a control plane on Universal labels the MeshServices with that it makes itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cases import GOLDEN
from tests.frontdoor import command

RELEASES = ("2.14", "3.0")
ASKED = [
    (release, *one)
    for release in RELEASES
    for one in json.loads((GOLDEN / f"generated-services-{release}.json").read_text("utf-8"))[
        "reached"
    ]
]

MESH = {
    "type": "Mesh",
    "name": "default",
    "meshServices": {"mode": "Exclusive"},
    "skipCreatingInitialPolicies": ["*"],
}


def _dataplane(service: str, port: int, **more: Any) -> dict[str, Any]:
    tags = {"kuma.io/service": service, "kuma.io/protocol": "http"}
    inbound = [{"port": port, "protocol": "http", "tags": tags}]
    networking = {"address": f"10.0.0.{port % 9}", "inbound": inbound, **more}
    return {
        "type": "Dataplane",
        "mesh": "default",
        "name": service,
        "labels": {"kuma.io/workload": service},
        "networking": networking,
    }


CALLED = {"port": 9090, "backendRef": {"kind": "MeshService", "name": "backend", "port": 8080}}
PROXIES = (_dataplane("web", 80, outbound=[CALLED]), _dataplane("backend", 8080))


@pytest.mark.parametrize(("release", "labels", "reached"), ASKED)
def test_a_policy_reaches_a_service_by_the_labels_it_is_given(
    tmp_path: Path, release: str, labels: dict[str, str], reached: bool
) -> None:
    to = {
        "targetRef": {"kind": "MeshService", "labels": labels},
        "default": {"http": {"requestTimeout": "20s"}},
    }
    policy = {"type": "MeshTimeout", "mesh": "default", "name": "slow", "spec": {"to": [to]}}
    for side, there in (("before", [policy]), ("after", [])):
        text = yaml.safe_dump_all([MESH, *PROXIES, *there])
        (tmp_path / f"{side}.yaml").write_text(text, encoding="utf-8")
    paths = [tmp_path / f"{side}.yaml" for side in ("before", "after")]
    said = command(
        "prove", *paths, "--from", release, "--target", release, "--zone", "east", given=None
    ).out
    lines = [line for line in said.splitlines() if "request timeout  20s → 15s" in line]
    # Another service that has the labels may be there, so that somebody reads it in any case.
    assert lines
    assert any("web → backend:8080 /" in line for line in lines) is reached
