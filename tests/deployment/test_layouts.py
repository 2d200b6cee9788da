"""Which files are a chart's own, and that the layout of a tree is found out once."""

from __future__ import annotations

from kumamigrate.deployment.filegraph import layout_of
from kumamigrate.deployment.helm import charts_within
from kumamigrate.deployment.tree import Tree


def _tree(*paths: str) -> Tree:
    return Tree(files=dict.fromkeys(paths, b"name: x\n"))


def test_of_a_chart_in_the_root_only_what_helm_reads_is_its_own() -> None:
    inside = ("Chart.yaml", "templates/t.yaml", "charts/a/x.yaml", "crds/c.yaml", "values.yaml",
              "values-prod.yaml")  # fmt: skip
    beside = ("mesh.yaml", "apps/templates/t.yaml", "my-values.yaml")
    folders, own = charts_within(_tree(*inside, *beside))
    assert folders == ("",)
    assert own == {*inside}


def test_all_below_a_chart_in_a_folder_is_its_own() -> None:
    inside = ("shop/Chart.yaml", "shop/templates/t.yaml", "shop/notes/mesh.yaml")
    folders, own = charts_within(_tree(*inside, "shopping.yaml", "mesh.yaml"))
    assert folders == ("shop",)
    assert own == {*inside}


def test_a_chart_that_another_brings_along_is_none_of_its_own() -> None:
    needs = "dependencies:\n- {name: b, repository: 'file://../b'}\n"
    tree = Tree(
        files={
            "a/Chart.yaml": needs.encode(),
            "b/Chart.yaml": b"name: b\n",
            "c/Chart.yaml": b"name: c\n",
            "c/charts/d/Chart.yaml": b"name: d\n",
            "e/Chart.yaml": b"dependencies:\n- {name: c, repository: 'https://x/c'}\n",
        }
    )
    assert charts_within(tree)[0] == ("a", "c", "e")


def test_the_layout_of_a_tree_is_found_out_once() -> None:
    tree = _tree("kustomization.yaml")
    assert layout_of(tree) is layout_of(tree)
    assert layout_of(tree) is not layout_of(_tree("kustomization.yaml"))


def test_a_kustomization_that_is_removed_is_none() -> None:
    gone = Tree(files={"a/kustomization.yaml": None, "b/kustomization.yaml": b"resources: []\n"})
    assert set(layout_of(gone).closures) == {"b"}
    another = Tree(files={"a/kustomization.yaml": b"apiVersion: example.org/v1\n"})
    assert layout_of(another).closures == {}


def test_what_is_a_patch_is_no_manifest_of_its_own() -> None:
    """Whether it is listed as a resource, too, or not."""
    listed = b"resources: [t.yaml, both.yaml]\npatches: [{path: p.yaml}, {path: both.yaml}]\n"
    files = dict.fromkeys(("t.yaml", "both.yaml", "p.yaml"), b"type: Mesh\nname: default\n")
    tree = Tree(files={**files, "kustomization.yaml": listed})
    assert layout_of(tree).owned == {"kustomization.yaml", "both.yaml", "p.yaml"}


def test_a_component_is_no_root_though_nothing_includes_it() -> None:
    files = {
        "a/kustomization.yaml": b"kind: Component\n",
        "b/kustomization.yaml": b"kind: Kustomization\n",
    }
    assert layout_of(Tree(files={**files, "c/kustomization.yaml": b"{}\n"})).roots == ("b", "c")


def test_kustomizations_that_include_each_other_are_all_roots() -> None:
    """Nobody is included by another one alone; each says that it goes in a circle."""
    names = {"a": b"resources: [../b]\n", "b": b"resources: [../a]\n", "c": b"resources: [../d]\n"}
    files = {f"{name}/kustomization.yaml": text for name, text in names.items()}
    tree = Tree(files={**files, "d/kustomization.yaml": b"resources: []\n"})
    assert layout_of(tree).roots == ("a", "b", "c")
