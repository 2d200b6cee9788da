"""A field in other letters is no unknown one on Universal: the API reads it.

Asked of a control plane of 2.14: `idletimeout` is `idleTimeout`, the later of both counts, and
`Rules` are rules; `serviceport` of a Dataplane is nothing: that is no policy.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

POLICY = """type: MeshTimeout
name: t
mesh: default
spec:
  SECTION: [{default: {connectionTimeout: 5s, FIELD: SECONDSs}}]
"""
SERVICE = """type: MeshService
name: web
mesh: default
labels: {SECTION: web}
spec:
  selector: {dataplaneLabels: {matchLabels: {FIELD: web}}}
  ports: [{port: SECONDS, appProtocol: http}]
"""
KUBERNETES = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system}
spec:
  SECTION: [{default: {connectionTimeout: 5s, FIELD: SECONDSs}}]
"""


@pytest.mark.parametrize(
    ("text", "section", "field", "verdict"),
    [
        (POLICY, "rules", "idleTimeout", "different"),
        (POLICY, "rules", "idletimeout", "unknown"),
        (POLICY, "Rules", "idleTimeout", "unknown"),
        (POLICY, "rules", "idletimeouts", "equivalent"),
        (KUBERNETES, "rules", "idletimeout", "equivalent"),
        (SERVICE, "app", "App", "different"),
    ],
)
def test_a_change_of_what_stands_there(
    tmp_path: Path, text: str, section: str, field: str, verdict: str
) -> None:
    """Of labels letters count, and of what Kubernetes stores."""
    paths = [tmp_path / f"{name}.yaml" for name in ("before", "after")]
    for path, seconds in zip(paths, ("81", "82"), strict=True):
        there = text.replace("SECTION", section).replace("FIELD", field)
        path.write_text(there.replace("SECONDS", seconds), encoding="utf-8")
    words = ("--target", "2.14", "--mesh-services", "Exclusive", "--initial-policies", "none")
    found = command("prove", *paths, *words, "--format", "json", given=None).json["claims"]
    assert found["live"]["verdict"] == verdict


def test_check_says_how_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "t.yaml"
    path.write_text(POLICY.replace("SECTION", "rules").replace("FIELD", "idletimeout"))
    out = command("check", path, "--target", "2.14", given=None).out
    assert "2.14 reads spec.rules[0].default.idletimeout as idleTimeout" in out
    assert "without a word" not in out
