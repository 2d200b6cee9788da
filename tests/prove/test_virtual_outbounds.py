"""A VirtualOutbound makes names and outbounds for every transparent proxy, but in Exclusive."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.frontdoor import command

NAMES = """\
type: VirtualOutbound
mesh: default
name: names
selectors:
- match: {kuma.io/service: '*'}
conf:
  host: '{{.service}}.mesh'
  port: '80'
  parameters:
  - name: service
    tagKey: kuma.io/service
"""


def _mesh(mode: str, *more: str) -> str:
    return "---\n".join((f"type: Mesh\nname: default\nmeshServices: {{mode: {mode}}}\n", *more))


@pytest.mark.parametrize("mode", ["Disabled", "Everywhere", "ReachableBackends"])
@pytest.mark.parametrize(
    "after", [(), (NAMES.replace(".mesh", ".test"),), (NAMES.replace("'80'", "'81'"),)]
)
def test_other_names_are_a_difference(mode: str, after: tuple[str, ...], tmp_path: Path) -> None:
    was, now = tmp_path / "was.yaml", tmp_path / "now.yaml"
    was.write_text(_mesh(mode, NAMES))
    now.write_text(_mesh(mode, *after))

    for sides in ((was, now), (now, was)):
        answer = command("prove", *sides, "--format", "json")

        assert answer.code == 4
        proxies = answer.json["claims"]["live"]["dataplanes"].values()
        shown = {w["policyType"] for proxy in proxies for w in proxy["witnesses"]}
        assert shown == {"VirtualOutbound"}


def test_in_exclusive_nothing_reads_it(tmp_path: Path) -> None:
    """Kuma resolves no names of its own there (mesh_context_builder.go, since 2.9)."""
    was, now = tmp_path / "was.yaml", tmp_path / "now.yaml"
    was.write_text(_mesh("Exclusive", NAMES))
    now.write_text(_mesh("Exclusive"))

    assert command("prove", was, now).code == 0
