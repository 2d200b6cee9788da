"""What an environment gets of charts: as helm renders them, or why that is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.deployment.environment import Chart, Deployment
from kumamigrate.source.text import Reason
from tests.deployment.trees import needs_helm, rendered, resources, timeout, tree

CHART = "apiVersion: v2\nname: mesh\nversion: 0.1.0\n"
TEMPLATE = """\
{{- if .Values.timeouts }}
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata:
  name: {{ .Release.Name }}-t
spec:
  to:
    - targetRef: {kind: Mesh}
      default: {connectionTimeout: {{ .Values.timeout | quote }}}
{{- end }}
"""
FILES = tree(
    f"=== charts/shop/Chart.yaml\n{CHART}=== charts/shop/values.yaml\ntimeouts: true\ntimeout: 5s\n"
    f"=== charts/shop/templates/t.yaml\n{TEMPLATE}"
    f"=== charts/shop/templates/_helpers.tpl\n{{{{/* none */}}}}\n"
    "=== env/prod.yaml\ntimeout: 9s\n=== env/dev.yaml\ntimeouts: false\n"
)


def shop(*values: str, namespace: str = "", **more: str) -> Deployment:
    chart = Chart(
        chart="charts/shop",
        values=values,
        release="shop",
        namespace=namespace,
        settings=tuple(more.items()),
    )
    return Deployment(name="shop", charts=(chart,))


@needs_helm
@pytest.mark.parametrize(
    ("deployment", "expected"),
    [
        pytest.param(shop(), ["shop-t 5s"], id="default values"),
        pytest.param(shop("env/prod.yaml"), ["shop-t 9s"], id="values of the environment"),
        pytest.param(shop("env/dev.yaml"), [], id="switched off"),
        pytest.param(shop("env/dev.yaml", timeouts="true"), ["shop-t 5s"], id="set"),
        pytest.param(
            Deployment(name="all", include=("**",)), ["release-t 5s"], id="found in a folder"
        ),
    ],
)
def test_a_chart_is_what_helm_makes_of_it(
    deployment: Deployment, expected: list[str], tmp_path: Path
) -> None:
    rendering = rendered(FILES, tmp_path, deployment)
    assert rendering.refusals == ()
    found = [
        f"{r.name} {r.spec['to'][0]['default']['connectionTimeout']}" for r in resources(rendering)
    ]
    assert found == expected
    in_chart = {path for path in rendering.manifests if path.startswith("charts/")}
    assert in_chart == {"charts/shop/templates/t.yaml"}


@needs_helm
@pytest.mark.parametrize("folder", ["apps/shop", ""])
def test_templates_are_those_of_the_chart_wherever_it_lies(folder: str, tmp_path: Path) -> None:
    moved = {path.replace("charts/shop", folder).lstrip("/"): FILES[path] for path in FILES}
    chart = Chart(chart=folder or ".", release="shop")
    rendering = rendered(moved, tmp_path, Deployment(name="shop", charts=(chart,)))
    assert rendering.refusals == ()
    assert [one.name for one in resources(rendering)] == ["shop-t"]
    assert f"{folder}/templates/t.yaml".lstrip("/") in rendering.manifests


@needs_helm
@pytest.mark.parametrize("namespace", ["", "mesh-system"])
def test_the_namespace_is_that_of_the_release_where_it_is_known(
    namespace: str, tmp_path: Path
) -> None:
    (found,) = resources(rendered(FILES, tmp_path, shop(namespace=namespace)))
    assert found.namespace == namespace


@needs_helm
def test_what_was_rendered_is_found_in_the_templates_again(tmp_path: Path) -> None:
    (place,) = rendered(FILES, tmp_path, shop()).origins.values()
    assert (place.path, place.document, place.line) == ("charts/shop/templates/t.yaml", 0, 2)


@needs_helm
def test_a_cluster_with_kuma_is_what_a_chart_is_installed_in(tmp_path: Path) -> None:
    asks = '{{- if .Capabilities.APIVersions.Has "kuma.io/v1alpha1/MeshTimeout" }}\n'
    files = {
        **FILES,
        "charts/shop/templates/t.yaml": f"{asks}{timeout('t')}{{{{- end }}}}\n".encode(),
    }
    assert [r.name for r in resources(rendered(files, tmp_path, shop()))] == ["t"]


@needs_helm
def test_a_chart_beside_it_is_brought_as_helm_would(tmp_path: Path) -> None:
    needs = "dependencies: [{name: common, version: 0.1.0, repository: 'file://../common'}]\n"
    files = {
        **FILES,
        "charts/shop/Chart.yaml": (CHART + needs).encode(),
        "charts/common/Chart.yaml": CHART.replace("mesh", "common").encode(),
        "charts/common/templates/c.yaml": timeout("c").encode(),
    }
    everything = Deployment(name="all", include=("**",))
    found = [r.name for r in resources(rendered(files, tmp_path, everything))]
    assert sorted(found) == ["c", "release-t"]


@needs_helm
@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        pytest.param(
            "charts/shop/Chart.yaml",
            f"{CHART}dependencies: [{{name: kuma, version: 2.9.0, repository: 'https://x.example'}}]\n",
            "depends on kuma",
            id="dependency to be fetched",
        ),
        pytest.param("charts/shop/templates/t.yaml", "{{ fail `no` }}\n", "no", id="fails"),
        pytest.param(
            "charts/shop/templates/t.yaml", "{{ nonsense }}\n", "nonsense", id="no template"
        ),
    ],
)
def test_what_cannot_be_rendered_says_why(path: str, text: str, said: str, tmp_path: Path) -> None:
    rendering = rendered({**FILES, path: text.encode()}, tmp_path, shop())
    (refusal,) = rendering.refusals
    assert refusal.path == "charts/shop/Chart.yaml"
    assert said in refusal.detail
    assert refusal.advice
    assert refusal.hides
    assert refusal.reason is Reason.UNBUILDABLE


def test_missing_values_and_charts_are_named(tmp_path: Path) -> None:
    (refusal,) = rendered(FILES, tmp_path, shop("env/gone.yaml")).refusals
    assert "env/gone.yaml does not exist" in refusal.detail
    gone = Deployment(name="x", charts=(Chart(chart="charts/gone"),))
    (refusal,) = rendered(FILES, tmp_path, gone).refusals
    assert refusal.path == "charts/gone/Chart.yaml"


def test_without_helm_only_a_chart_without_templates_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (refusal,) = rendered(FILES, tmp_path, shop()).refusals
    assert "install helm" in refusal.advice
    plain = {**FILES, "charts/shop/templates/t.yaml": timeout("t").encode()}
    rendering = rendered(plain, tmp_path, shop())
    assert rendering.refusals == ()
    assert [r.name for r in resources(rendering)] == ["t"]


@needs_helm
def test_values_inside_of_an_object_count_above_those_of_files(tmp_path: Path) -> None:
    chart = Chart(
        chart="charts/shop",
        values=("env/prod.yaml",),
        inline="timeout: 7s",
        settings=(("timeouts", "yes, of course"),),
    )
    rendering = rendered(FILES, tmp_path, Deployment(name="x", charts=(chart,)))
    (found,) = resources(rendering)
    assert found.spec["to"][0]["default"]["connectionTimeout"] == "7s"


@needs_helm
def test_a_chart_is_installed_as_often_as_somebody_says(tmp_path: Path) -> None:
    charts = tuple(Chart(chart="charts/shop", release=name) for name in ("a", "b"))
    rendering = rendered(FILES, tmp_path, Deployment(name="x", charts=charts))
    assert [one.name for one in resources(rendering)] == ["a-t", "b-t"]


def test_a_name_of_a_release_is_never_an_option_of_helm(tmp_path: Path) -> None:
    chart = Chart(chart="charts/shop", release="--post-renderer=./env/prod.yaml")
    (refusal,) = rendered(FILES, tmp_path, Deployment(name="x", charts=(chart,))).refusals
    assert "no name of a release" in refusal.detail
