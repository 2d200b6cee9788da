"""With which values charts are installed: told by objects, by files, or by nobody."""

from __future__ import annotations

import pytest

from kumamigrate.deployment.environment import Chart, Deployment
from kumamigrate.deployment.gitops import pointers
from kumamigrate.deployment.installs import with_charts
from kumamigrate.deployment.tree import Tree
from tests.deployment.trees import timeout, tree

ALL = Deployment(name="", include=("**",), found=True)
CHART = f"""\
=== charts/shop/Chart.yaml
apiVersion: v2
name: shop
version: 0.1.0
=== charts/shop/templates/t.yaml
{{{{ if .Values.slow }}}}
{timeout("t")}{{{{ end }}}}
"""
ARGO = """\
=== apps/{name}.yaml
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {{name: {name}}}
spec:
  destination: {{name: {cluster}, namespace: shop}}
  source:
    path: charts/shop
    helm:
      valueFiles: [values-x.yaml, /env/y.yaml]
      valuesObject: {{slow: true}}
      parameters: [{{name: a.b, value: c}}]
"""
FLUX = """\
=== clusters/prod/shop.yaml
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: shop, namespace: flux-system}
spec:
  targetNamespace: shop
  chart:
    spec:
      chart: ./charts/shop
      sourceRef: {kind: GitRepository, name: x}
      valuesFiles: [env/y.yaml]
  values: {slow: true}
"""
SET = """\
=== apps/all.yaml
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators:
    - list: {elements: [{env: dev}, {env: prod}]}
  template:
    metadata: {name: "shop-{{env}}"}
    spec:
      destination: {name: "{{ .env }}"}
      source: {path: charts/shop, helm: {valueFiles: ["values-{{env}}.yaml"]}}
"""


def charts(text: str) -> dict[str, list[Chart]]:
    found = with_charts([ALL], Tree(files=tree(text)))
    return {one.name: list(one.charts) for one in found}


def test_an_application_says_values_release_and_namespace() -> None:
    chart = Chart(
        chart="charts/shop",
        values=("charts/shop/values-x.yaml", "env/y.yaml"),
        release="shop-prod",
        namespace="shop",
        settings=(("a.b", "c"),),
        inline='{"slow": true}',
    )
    assert charts(CHART + ARGO.format(name="shop-prod", cluster="prod")) == {"": [chart]}


def test_applications_for_two_clusters_are_two_environments() -> None:
    texts = (ARGO.format(name=f"shop-{c}", cluster=c) for c in ("dev", "prod"))
    found = charts(CHART + "".join(texts))
    assert {name: [c.release for c in held] for name, held in found.items()} == {
        "dev": ["shop-dev"],
        "prod": ["shop-prod"],
    }


def test_applications_for_one_cluster_are_installed_together() -> None:
    texts = (ARGO.format(name=name, cluster="prod") for name in ("a", "b"))
    assert [c.release for c in charts(CHART + "".join(texts))[""]] == ["a", "b"]


def test_a_set_of_applications_is_taken_apart() -> None:
    found = charts(CHART + SET)
    assert {name: held[0].values for name, held in found.items()} == {
        "dev": ("charts/shop/values-dev.yaml",),
        "prod": ("charts/shop/values-prod.yaml",),
    }


FOLDERS = """\
=== apps/all.yaml
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
spec:
  generators:
    - git:
        directories: [{path: "teams/*"}, {path: "teams/x*", exclude: true}]
  template:
    metadata: {name: "{{path.basename}}"}
    spec:
      destination: {name: "{{path.basename}}"}
      sources:
        - {ref: values}
        - path: "{{path}}"
          helm: {valueFiles: [own.yaml, $values/env/y.yaml], values: "slow: true"}
"""


def test_a_set_of_applications_is_one_for_each_folder_that_is_meant() -> None:
    chart = CHART.replace("charts/shop", "teams/web")
    beside = "=== teams/xyz/Chart.yaml\nname: x\n=== teams/web/deep/a.yaml\n=== other/a.yaml\n"
    found = pointers(Tree(files=tree(chart + FOLDERS + beside)))
    assert [one.chart for one in found] == [
        Chart(
            chart="teams/web",
            values=("teams/web/own.yaml", "env/y.yaml"),
            release="web",
            inline="slow: true",
        )
    ]


def test_a_helm_release_of_flux_says_the_same() -> None:
    (chart,) = charts(CHART + FLUX)[""]
    assert chart == Chart(
        chart="charts/shop",
        values=("env/y.yaml",),
        release="shop-shop",
        namespace="shop",
        inline='{"slow": true}',
    )


def test_files_of_values_are_environments() -> None:
    found = charts(f"{CHART}=== charts/shop/values-dev.yaml\n=== charts/shop/values-prod.yaml\n")
    assert {name: held[0].values for name, held in found.items()} == {
        "dev": ("charts/shop/values-dev.yaml",),
        "prod": ("charts/shop/values-prod.yaml",),
    }


def test_where_nobody_says_anything_each_condition_is_tried_both_ways() -> None:
    found = charts(CHART)
    assert {name: held[0].settings for name, held in found.items()} == {
        "": (),
        "charts/shop slow=true": (("slow", "true"),),
    }


def test_a_chart_without_a_word_of_kuma_is_no_matter() -> None:
    text = CHART.replace("kuma.io", "example.org").replace("MeshTimeout", "Other")
    assert charts(text) == {"": []}


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        pytest.param(
            "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: m}\n"
            "spec: {path: ./charts, targetNamespace: x, patches: [{patch: a}]}\n",
            ("spec.patches", "spec.targetNamespace"),
            id="Flux",
        ),
        pytest.param(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: m}\n"
            "spec: {source: {path: charts, kustomize: {namePrefix: dev-}}}\n",
            ("kustomize.namePrefix",),
            id="Argo CD",
        ),
    ],
)
def test_what_an_object_changes_of_what_it_applies_is_said(
    text: str, changes: tuple[str, ...]
) -> None:
    files = tree(f"{CHART}=== apps/m.yaml\n{text}")
    (pointer,) = pointers(Tree(files=files))
    assert (pointer.folder, pointer.changes) == ("charts", changes)
    refusal = pointer.refusal()
    assert (refusal.path, refusal.line) == ("apps/m.yaml", 1)
    assert changes[0] in refusal.detail


@pytest.mark.parametrize(
    ("spec", "chart"),
    [
        pytest.param(
            "chart: {spec: {chart: ./, sourceRef: {kind: GitRepository}}}",
            Chart(chart=".", release="m", namespace="flux"),
            id="in the root",
        ),
        pytest.param(
            "targetNamespace: shop\n"
            "  chart: {spec: {chart: charts/shop, sourceRef: {kind: GitRepository}}}",
            Chart(chart="charts/shop", release="shop-m", namespace="shop"),
            id="named after namespace and object",
        ),
        pytest.param(
            "releaseName: web\n  targetNamespace: shop\n"
            "  chart: {spec: {chart: charts/shop, sourceRef: {kind: GitRepository}}}",
            Chart(chart="charts/shop", release="web", namespace="shop"),
            id="named by itself",
        ),
        pytest.param(
            "chart: {spec: {chart: shop, sourceRef: {kind: HelmRepository}}}", None, id="elsewhere"
        ),
        pytest.param("chart: {spec: {sourceRef: {kind: GitRepository}}}", None, id="none"),
    ],
)
def test_where_the_chart_of_a_helm_release_lies(spec: str, chart: Chart | None) -> None:
    text = (
        "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n"
        f"metadata: {{name: m, namespace: flux}}\nspec:\n  {spec}\n"
    )
    found = [one.chart for one in pointers(Tree(files=tree(f"{CHART}=== m.yaml\n{text}")))]
    assert found == ([] if chart is None else [chart])


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("plugin: {name: envsubst}", ("plugin",)),
        ("kustomize: {namePrefix: x-}", ("kustomize.namePrefix",)),
        ("directory: {exclude: a.yaml}", ("directory.exclude",)),
        ("directory: {recurse: true}", ()),
    ],
)
def test_an_application_says_what_it_makes_of_its_folder(
    source: str, changes: tuple[str, ...]
) -> None:
    application = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: a}\n"
        f"spec:\n  source:\n    path: base\n    {source}\n"
    )
    files = {"app.yaml": application.encode(), "base/a.yaml": b"a: 1\n"}
    (pointer,) = pointers(Tree(files=files))
    assert (pointer.folder, pointer.changes) == ("base", changes)
