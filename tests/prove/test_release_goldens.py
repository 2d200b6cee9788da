"""The step to 3.0, judged by running control planes of both releases, through the command.

The control planes were asked for what policies make of Envoy, not for endpoints: on 3.0 a
MeshService chosen by tags has none, so `equivalent` is never said of who may call one. Chosen by
labels it is the same mesh to every policy, and there the answers have to be as green as the truth.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.cases import FIXTURES
from tests.prove.states import COMMITTED, SHARED
from tests.runner import CliRunner

ASKED = [
    *("--from", "2.14", "--target", "3.0", "--zone", "east"),
    *("--initial-policies", "none", "--format", "json"),
]
KEPT = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: kept, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 0s, streamIdleTimeout: 5m}}}]
"""
"""Says of requests by tag what they have without it."""
STRICTER = 20
"""At most one Dataplane of so many may be called other than it is."""
EVERY = 1 if os.environ.get("KUMAMIGRATE_GOLDENS") else 7


def _folders(root: Path) -> list[Path]:
    found = sorted(p.parent for p in (root / "release-3.0").glob("*/verdict.json"))
    found = found[::EVERY] if root is SHARED else found
    if not found:
        pytest.skip("the goldens are not beside the checkout")
    return found


def _same(said: Mapping[str, Any]) -> bool:
    return bool(said["outbound"]["same"] and said["inbound"]["same"])


def _asked(before: Path, after: Path) -> tuple[dict[str, Any], int]:
    result = CliRunner().invoke(app, ["prove", str(before), str(after), *ASKED])
    assert result.exit_code in (0, 3, 4), result.output
    claim: dict[str, Any] = json.loads(result.stdout)["claims"]["release"]
    return claim, result.exit_code


@pytest.mark.parametrize("root", [COMMITTED, SHARED], ids=["committed", "all"])
def test_nothing_that_the_upgrade_changes_is_called_equivalent(root: Path) -> None:
    for folder in _folders(root):
        claim, code = _asked(folder / "before.yaml", folder / "after.yaml")
        truth = json.loads((folder / "verdict.json").read_text())["dataplanes"]
        found = {name: one["verdict"] for name, one in claim["dataplanes"].items()}
        lax = [n for n, said in truth.items() if not _same(said) and found[n] == "equivalent"]
        assert lax == [], folder.name
        if not all(map(_same, truth.values())):
            assert (claim["verdict"] != "equivalent", code != 0) == (True, True), folder.name


@pytest.mark.parametrize("root", [COMMITTED, SHARED], ids=["committed", "all"])
def test_where_services_are_chosen_by_labels_the_same_is_equivalent(
    root: Path, tmp_path: Path
) -> None:
    dataplanes, strict = 0, []
    for folder in _folders(root):
        paths = [tmp_path / f"{name}.yaml" for name in ("before", "after")]
        for path in paths:
            path.write_text(_by_labels((folder / path.name).read_text()), encoding="utf-8")
        claim, _ = _asked(*paths)
        truth = json.loads((folder / "verdict.json").read_text())["dataplanes"]
        dataplanes += len(truth)
        found = {name: one["verdict"] for name, one in claim["dataplanes"].items()}
        assert [n for n, t in truth.items() if not _same(t) and found[n] == "equivalent"] == []
        strict += [n for n, t in truth.items() if _same(t) and found[n] != "equivalent"]
    assert len(strict) * STRICTER <= dataplanes, strict


@pytest.mark.parametrize(
    ("case", "verdict"),
    [
        ("share-of-known-proxies", "equivalent"),
        ("two-shares-that-nobody-has", "equivalent"),
        ("share-in-mode-disabled", "equivalent"),
        ("share-of-a-service-to-come", "equivalent"),
        ("share-on-your-word", "unknown"),
    ],
)
def test_a_service_for_a_share_by_tags_is_that_share(
    case: str, verdict: str, tmp_path: Path
) -> None:
    """3.0 has no shares by tags: a MeshService that selects the same proxies by labels is one."""
    for side in ("before", "after"):
        shutil.copytree(FIXTURES / "subset-backend" / case / side, tmp_path / side)
        (tmp_path / side / "kept.yaml").write_text(KEPT, encoding="utf-8")
    claim, _ = _asked(tmp_path / "before", tmp_path / "after")
    assert claim["verdict"] == verdict


@pytest.mark.parametrize(
    ("case", "web", "others"),
    [
        ("12-routes-by-tag", "unknown", "unknown"),
        ("12-mirror-by-tag", "unknown", "unknown"),
        ("12-share-by-tags", "unknown", "unknown"),
        # What others call by real resources without certificates is no longer encrypted.
        ("12-certificates-of-the-client", "equivalent", "unknown"),
        ("12-service-without-certificates", "unknown", "unknown"),
        ("12-service-half-with-certificates", "unknown", "unknown"),
        ("12-service-with-certificates", "equivalent", "unknown"),
    ],
)
def test_plain_text_begins_and_ends_with_the_certificates_of_servers(
    case: str, web: str, others: str
) -> None:
    folder = COMMITTED / "release-3.0" / case
    claim, _ = _asked(folder / "before.yaml", folder / "after.yaml")
    found = {name: one["verdict"] for name, one in claim["dataplanes"].items()}
    servers = {n: "equivalent" for n in found if n not in ("web-1", "any proxy")}
    assert found == {"web-1": web, **servers, "any proxy": others}


def _by_labels(text: str) -> str:
    """Return a mesh whose services choose their Dataplanes by the label of the same meaning."""
    lines: list[str] = []
    for line in text.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        if line.strip() == "dataplaneTags:":
            lines += [f"{indent}dataplaneLabels:", f"{indent}  matchLabels:"]
        elif lines and lines[-1].strip() == "matchLabels:":
            lines.append(f"  {indent}app: {line.split(':')[1].strip()}")
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"
