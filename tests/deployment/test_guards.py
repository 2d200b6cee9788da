"""With which values a chart could be rendered, where nobody says with which it is."""

from __future__ import annotations

import pytest

from kumamigrate.deployment.environment import Chart
from kumamigrate.deployment.guards import value_files, worlds
from kumamigrate.deployment.tree import Tree
from tests.deployment.trees import needs_helm, timeout, tree

VALUES = "yea: true\nnay: false\nmode: a\nnames: [x]\ndeep: {yea: true}\n"


TEMPLATE = "c/templates/t.yaml"
NEVER = "---\n{{{{ with .Values.nay }}}}\n{}{{{{ end }}}}\n"


def chart(template: str) -> dict[str, bytes]:
    head = "=== c/Chart.yaml\napiVersion: v2\nname: c\nversion: 0.1.0\n"
    return tree(f"{head}=== c/values.yaml\n{VALUES}=== {TEMPLATE}\n{template}")


def settings(template: str) -> list[tuple[tuple[str, str], ...]]:
    found = worlds(Chart(chart="c"), Tree(files=chart(template)))
    return [chart.settings for chart in found[1:]]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        pytest.param("if .Values.yea", [("yea", "false")], id="on by default"),
        pytest.param("if .Values.nay", [("nay", "true")], id="off by default"),
        pytest.param("if .Values.gone", [("gone", "true")], id="not among the values"),
        pytest.param("- if not .Values.deep.yea -", [("deep.yea", "false")], id="below a key"),
        pytest.param('if eq .Values.mode "b"', [("mode", "b")], id="compared"),
        pytest.param('if ne "a" .Values.mode', [("mode", "not-a")], id="compared, the other way"),
        pytest.param("range .Values.names", [("names", "null")], id="a list"),
        pytest.param("with .Values.nay", [], id="nothing that could be made up"),
        pytest.param(
            "if and .Values.yea .Values.nay", [("yea", "false"), ("nay", "true")], id="two of them"
        ),
        pytest.param("if .Release.IsInstall", [], id="no value"),
    ],
)
def test_each_condition_is_turned_round(condition: str, expected: list[tuple[str, str]]) -> None:
    template = f"{{{{{condition}}}}}\n{timeout('t')}{{{{ end }}}}\n"
    assert settings(template) == [(one,) for one in expected]


def test_what_is_not_around_kuma_is_left_alone() -> None:
    assert settings("{{ if .Values.yea }}\nkind: ConfigMap\n{{ end }}\n") == []


def test_files_of_values_are_called_after_what_they_are_for() -> None:
    files = tree(
        "=== c/Chart.yaml\n=== c/values.yaml\n=== c/values-prod.yaml\n=== c/values.dev.yaml\n"
        "=== c/environments/qa.yml\n=== c/templates/values-no.yaml\n"
    )
    assert value_files("c", Tree(files=files)) == {
        "prod": "c/values-prod.yaml",
        "dev": "c/values.dev.yaml",
        "qa": "c/environments/qa.yml",
    }


@needs_helm
@pytest.mark.parametrize(
    ("second", "untold"),
    [
        ("", ()),
        (NEVER.format(timeout("two")), (TEMPLATE,)),
        (NEVER.format("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: m}\n"), ()),
    ],
    ids=["all of it", "a part", "none of Kuma's"],
)
def test_a_template_of_which_no_world_renders_a_part_is_told(
    second: str, untold: tuple[str, ...]
) -> None:
    found = worlds(Chart(chart="c"), Tree(files=chart(f"{timeout('one')}{second}")))
    assert {one.untold for one in found} == {untold}
