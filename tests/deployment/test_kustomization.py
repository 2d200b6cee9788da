"""Kustomizations as written: what they include, what else they use, which are roots."""

from __future__ import annotations

from kumamigrate.deployment.kustomization import claimed, kustomizations, roots

FILES = {
    "base/kustomization.yml": b"resources: [a.yaml, b.yaml]\n",
    "base/a.yaml": b"",
    "base/b.yaml": b"",
    "overlays/dev/kustomization.yaml": b"resources:\n  - ../../base\npatches:\n  - path: p.yaml\n",
    "overlays/dev/p.yaml": b"",
    "overlays/prod/Kustomization": b"bases: [../../base/]\nresources: [https://x.example/y.yaml]\n",
    "flux/kustomization.yaml": b"apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\n",
}


def test_what_a_kustomization_includes_and_uses() -> None:
    found = kustomizations(FILES)
    assert set(found) == {"base", "overlays/dev", "overlays/prod"}
    assert found["base"].resources == ("base/a.yaml", "base/b.yaml")
    assert found["base"].plain
    assert found["overlays/dev"].folders == ("base",)
    assert found["overlays/dev"].uses == ("overlays/dev/p.yaml",)
    assert not found["overlays/dev"].plain
    assert found["overlays/prod"].remote == ("https://x.example/y.yaml",)


def test_roots_are_those_that_nobody_includes() -> None:
    found = kustomizations(FILES)
    assert roots(found) == ["overlays/dev", "overlays/prod"]
    reached, cycle = claimed(found, "overlays/dev")
    assert [one.folder for one in reached] == ["overlays/dev", "base"]
    assert cycle == []


def test_a_cycle_is_named() -> None:
    found = kustomizations(
        {
            "a/kustomization.yaml": b"resources: [../b]\n",
            "b/kustomization.yaml": b"resources: [../a, gone.yaml]\n",
        }
    )
    assert claimed(found, "a")[1] == ["a", "b", "a"]
    assert found["b"].missing == ("gone.yaml",)
    assert roots(found) == []


def test_a_file_that_cannot_be_read_is_a_kustomization_all_the_same() -> None:
    (one,) = kustomizations({"kustomization.yaml": b"resources: [\n"}).values()
    assert one.unread
    assert not one.plain
