"""Layouts: which folders are environments of their own, and what stands beside all of them."""

from __future__ import annotations

import pytest

from kumamigrate.deployment.discover import FoundEnvironments, discover
from kumamigrate.deployment.tree import Tree

MESH = ("Mesh", "", "", "default")


def _found(files: dict[str, str]) -> FoundEnvironments:
    """Find the environments of files, given with the names of the policies in them."""
    standing = {
        path: [MESH if n == "mesh" else ("MeshTimeout", "default", "", n) for n in names.split()]
        for path, names in files.items()
        if names and not names.startswith("resources")
    }
    texts = {p: (t if t.startswith("resources") else "").encode() for p, t in files.items()}
    return discover(standing, Tree(files=texts))


def _left_out(files: dict[str, str]) -> dict[str, tuple[str, ...]]:
    return {one.name: one.exclude for one in _found(files).deployments}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"a.yaml": "a", "b/c.yaml": "b"}, {"": ()}),
        # clusters/*, with what stands beside them in each
        (
            {"clusters/east/m.yaml": "mesh", "clusters/west/m.yaml": "mesh", "mesh/a.yaml": "a"},
            {"east": ("clusters/west/**",), "west": ("clusters/east/**",)},
        ),
        # a cluster that shares nothing is one all the same; what is called shared is not
        (
            {
                "clusters/east/a.yaml": "a",
                "clusters/west/a.yaml": "a",
                "clusters/north/b.yaml": "b",
                "clusters/shared/c.yaml": "c",
            },
            {
                "east": ("clusters/north/**", "clusters/west/**"),
                "north": ("clusters/east/**", "clusters/west/**"),
                "west": ("clusters/east/**", "clusters/north/**"),
            },
        ),
        # the same names at several places go together
        (
            {"mesh/dev/a.yaml": "a", "mesh/prod/a.yaml": "a", "web/prod/b.yaml": "b c"}
            | {"web/dev/b.yaml": "b", "pay/dev/d.yaml": "d", "pay/prod/d.yaml": "d"},
            {
                "dev": ("mesh/prod/**", "pay/prod/**", "web/prod/**"),
                "prod": ("mesh/dev/**", "pay/dev/**", "web/dev/**"),
            },
        ),
        # one inside of the other
        (
            {f"regions/{r}/{e}/a.yaml": "mesh" for r in ("eu", "us") for e in ("dev", "prod")},
            {
                f"{r}/{e}": tuple(sorted((f"regions/{o}/**", f"regions/{r}/{x}/**")))
                for r, o in (("eu", "us"), ("us", "eu"))
                for e, x in (("dev", "prod"), ("prod", "dev"))
            },
        ),
        # two teams that hold one resource by mistake are applied together
        ({"teams/a/x.yaml": "x a", "teams/b/y.yaml": "x b c"}, {"": ()}),
        # so are a document and what it documents, and an identity twice in one folder
        ({"docs/x.yaml": "x", "policies/x.yaml": "x y z"}, {"": ()}),
        ({"a/x.yaml": "x", "a/y.yaml": "x"}, {"": ()}),
        # any names will do where most is the same
        (
            {"paris/x.yaml": "x y z", "berlin/x.yaml": "x y w"},
            {"berlin": ("paris/**",), "paris": ("berlin/**",)},
        ),
        # a base with overlays
        (
            {
                "base/kustomization.yaml": "resources: [a.yaml]",
                "base/a.yaml": "a",
                "overlays/dev/kustomization.yaml": "resources: [../../base]",
                "overlays/prod/kustomization.yaml": "resources: [../../base]",
            },
            {"dev": ("overlays/prod/**",), "prod": ("overlays/dev/**",)},
        ),
        # builds that share nothing are applied together
        (
            {
                "apps/a/kustomization.yaml": "resources: [a.yaml]",
                "apps/a/a.yaml": "a",
                "apps/b/kustomization.yaml": "resources: [b.yaml]",
                "apps/b/b.yaml": "b",
            },
            {"": ()},
        ),
        # a build above its overlays is not applied together with them
        (
            {
                "kustomization.yaml": "resources: [a.yaml]",
                "a.yaml": "a",
                "prod/kustomization.yaml": "resources: [../a.yaml]",
            },
            {"kustomization": ("prod/**",), "prod": ("kustomization.yaml",)},
        ),
        # which is called after its folder
        (
            {
                "shop/web/kustomization.yaml": "resources: [a.yaml]",
                "shop/web/a.yaml": "a",
                "shop/web/prod/kustomization.yaml": "resources: [../a.yaml]",
            },
            {"web": ("shop/web/prod/**",), "prod": ("shop/web/kustomization.yaml",)},
        ),
    ],
)
def test_layouts(files: dict[str, str], expected: dict[str, tuple[str, ...]]) -> None:
    assert _left_out(files) == expected


@pytest.mark.parametrize(("teams", "expected"), [(2, 4), (6, 64), (7, 1)])
def test_names_that_do_not_agree_may_be_combined_in_every_way(teams: int, expected: int) -> None:
    names = [(f"team{at}", f"{stage}{at}") for at in range(teams) for stage in ("dev", "prod")]
    files = {f"{team}/{name}/m.yaml": "mesh" for team, name in names}
    assert len(_found(files).deployments) == expected


def test_what_no_kustomization_lists_is_said() -> None:
    found = _found({"kustomization.yaml": "resources: [a.yaml]", "a.yaml": "a", "b.yaml": "b"})
    assert found.strays == ("b.yaml",)
    assert [one.exclude for one in found.deployments] == [("b.yaml",)]


@pytest.mark.parametrize(("clusters", "found"), [(64, 64), (65, 1)])
def test_more_than_64_environments_are_not_guessed_at(clusters: int, found: int) -> None:
    files = {f"clusters/c{at}/a.yaml": "a" for at in range(clusters)}
    assert len(_found(files).deployments) == found


@pytest.mark.parametrize(("zones", "found"), [(8, 64), (9, 1)])
def test_nor_are_more_than_64_that_come_of_choices(zones: int, found: int) -> None:
    files = {f"clusters/c{at}/a.yaml": "a" for at in range(8)}
    files |= {f"zones/z{at}/b.yaml": "b" for at in range(zones)}
    assert len(_found(files).deployments) == found


@pytest.mark.parametrize(
    ("files", "found"),
    [
        # The same Mesh at the same place is two control planes, however the folders are called …
        ({"alpha/m.yaml": "mesh", "beta/m.yaml": "mesh"}, {"alpha", "beta"}),
        # … at different places it is one that stands twice, as is one policy.
        ({"alpha/m.yaml": "mesh", "beta/n.yaml": "mesh"}, {""}),
        ({"alpha/t.yaml": "a", "beta/t.yaml": "a"}, {""}),
        ({"alpha/t.yaml": "a b", "beta/t.yaml": "a b c"}, {"alpha", "beta"}),
        ({"alpha/t.yaml": "a b c d e", "beta/t.yaml": "a b f g h"}, {""}),
    ],
)
def test_when_folders_of_any_name_are_environments(files: dict[str, str], found: set[str]) -> None:
    assert {one.name for one in _found(files).deployments} == found
