"""`[[environment]]`: what it may say, and how it says no."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kumamigrate.deployment.environment import Chart, Deployment, Facts, matches
from kumamigrate.deployment.environmentsettings import environments_text, read_environments
from kumamigrate.errors import UsageError

FILE = Path("repo/kumamigrate.toml")


def _read(text: str) -> tuple[Deployment, ...]:
    return read_environments(FILE, tomllib.loads(text)["environment"])


def test_an_environment_with_all_it_may_say() -> None:
    (one,) = _read(
        """
        [[environment]]
        name = "prod-east"
        include = ["clusters/prod-east/**", "mesh/**"]
        exclude = ["mesh/old.yaml"]
        kustomize = "./clusters/prod-east/"
        helm = { chart = "charts/shop", values = ["env/prod.yaml"], release = "shop" }
        zone = "east"
        control-plane-mode = "zone"
        mesh-services = "Exclusive"
        system-namespace = "mesh-system"
        initial-policies = "2.6"
        inventory = ["inventory/prod-east.yaml"]
        """
    )
    assert one == Deployment(
        name="prod-east",
        include=("clusters/prod-east/**", "mesh/**"),
        exclude=("mesh/old.yaml",),
        kustomize=("clusters/prod-east",),
        charts=(Chart(chart="charts/shop", values=("env/prod.yaml",), release="shop"),),
        facts=Facts(
            zone="east",
            control_plane_mode="zone",
            mesh_services="Exclusive",
            system_namespace="mesh-system",
            initial_policies="2.6",
        ),
        inventory=(Path("repo/inventory/prod-east.yaml"),),
        why="kumamigrate.toml",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[environment]\nname = 'a'", "write [[environment]]"),
        ("[[environment]]\ninclude = ['a/**']", "environment 1 has no name"),
        ("[[environment]]\nname = 'a'", "environment a names no sources"),
        ("[[environment]]\nname = 'a'\ninclude = 'a/**'", "include must be a list of strings"),
        ("[[environment]]\nname = 'a'\ninclude = ['a']\nzones = 'b'", "unknown setting zones"),
        ("[[environment]]\nname = 'a'\ninclude = ['a']\nzone = 1", "zone must be a string"),
        ("[[environment]]\nname = 'a'\ninclude = ['a']\nzone = ''", "zone must be a string"),
        (
            "[[environment]]\nname = 'a'\ninclude = ['a']\nmesh-services = 'On'",
            "mesh-services must be one of Disabled",
        ),
        ("[[environment]]\nname = 'a'\nhelm = 'charts/a'", "helm must be a table"),
        ("[[environment]]\nname = 'a'\nhelm = {chart = 'c', sets = 'x'}", "helm: unknown sets"),
        ("[[environment]]\nname = 'a'\nhelm = {chart = 'c', set = 'x'}", "set must be a table"),
        (
            "[[environment]]\nname = 'a'\ninclude = ['a']\n"
            "[[environment]]\nname = 'a'\ninclude = ['b']",
            "two environments are called a",
        ),
    ],
)
def test_what_may_not_be_said_is_named_with_its_file(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        _read(text)
    assert str(error.value).startswith(f"{FILE}: ")
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("**", "a/b.yaml", True),
        (".", "a/b.yaml", True),
        ("a/**", "a/b/c.yaml", True),
        ("a/**", "ab/c.yaml", False),
        ("a", "a/b.yaml", True),
        ("a", "ab.yaml", False),
        ("./a/", "a/b.yaml", True),
        ("a/*.yaml", "a/b.yaml", True),
        ("a/*.yaml", "a/b/c.yaml", False),
        ("**/x.yaml", "x.yaml", True),
        ("**/x.yaml", "a/b/x.yaml", True),
        ("a/?.yaml", "a/bc.yaml", False),
        ("a+b/**", "a+b/c.yaml", True),
    ],
)
def test_globs(glob: str, path: str, expected: bool) -> None:
    assert matches(path, [glob]) is expected


def test_what_is_written_is_read_back() -> None:
    stated = Deployment(
        name='a "b"',
        include=("x/**",),
        exclude=("x/ü.yaml",),
        kustomize=("k",),
        charts=(
            Chart(chart="c", values=("v.yaml",), release="r", settings=(("a.b", "1"),)),
            Chart(chart="d", namespace="shop"),
        ),
        facts=Facts(zone="east", initial_policies="none"),
        inventory=(Path("i.yaml"),),
        why="kumamigrate.toml",
    )
    (read,) = read_environments(
        Path("kumamigrate.toml"), tomllib.loads(environments_text([stated]))["environment"]
    )
    assert read == stated
