"""What is said of a name that a release refuses: why, and who calls the resource by it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

LONG = "a" * 64
TEXT = f"""\
type: Zone
name: zone_1
---
type: MeshExternalService
name: 1-password
mesh: default
spec:
  match: {{type: HostnameGenerator, port: 443, protocol: tls}}
  endpoints: [{{address: example.com, port: 443}}]
---
type: MeshTimeout
name: on-password
mesh: default
spec:
  to:
    - targetRef: {{kind: MeshExternalService, name: 1-password}}
      default: {{connectionTimeout: 1s}}
---
type: MeshTimeout
name: of-another-mesh
mesh: other
spec:
  to:
    - targetRef: {{kind: MeshExternalService, name: 1-password}}
      default: {{connectionTimeout: 1s}}
---
type: Dataplane
name: web-1
mesh: default
labels: {{kuma.io/zone: zone_1}}
networking:
  address: 10.0.0.1
  inbound: [{{port: 80, tags: {{kuma.io/service: web}}}}]
---
type: MeshTimeout
name: on_all
mesh: default
spec: {{to: [{{targetRef: {{kind: Mesh}}, default: {{connectionTimeout: 1s}}}}]}}
---
type: Mesh
name: {LONG}
"""


@pytest.fixture(scope="module")
def findings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, list[str]]]:
    """What a check says of each name, with its notes."""
    folder = Path(tmp_path_factory.mktemp("names"))
    (folder / "a.yaml").write_text(TEXT)
    words = ("--select", "name-not-rfc1035", "--target", "3.0", "--format", "json")
    found = command("check", folder, *words).json["findings"]
    return {f["resource"]["name"]: (f["message"], f["notes"]) for f in found}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("zone_1", "3.0 accepts for a Zone: it may hold lower-case letters, digits and hyphens"),
        ("1-password", "3.0 accepts for a MeshExternalService: it must begin with a letter"),
        ("on_all", "2.10 accepts for a MeshTimeout: it holds an underscore"),
        (LONG, "3.0 accepts for a Mesh: it is 64 long, at most 63 are allowed"),
    ],
)
def test_it_is_said_why_and_from_which_release_on(
    name: str, why: str, findings: dict[str, tuple[str, list[str]]]
) -> None:
    assert f"{name} is no name that {why}" in findings[name][0]


@pytest.mark.parametrize(
    ("name", "who"),
    [
        ("zone_1", ["Dataplane web-1 at a.yaml:27 names it"]),
        ("1-password", ["MeshTimeout on-password at a.yaml:11 names it"]),
        ("on_all", []),
        (LONG, []),
    ],
)
def test_who_calls_it_so_in_its_mesh_is_named(
    name: str, who: list[str], findings: dict[str, tuple[str, list[str]]]
) -> None:
    assert findings[name][1] == who


def test_no_other_name_is_spoken_of(findings: dict[str, tuple[str, list[str]]]) -> None:
    assert set(findings) == {"zone_1", "1-password", "on_all", LONG}
