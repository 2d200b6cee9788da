"""What no input may do: hang, crash, pass in silence, or be touched where it must not be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from tests.runner import CliRunner

TIMEOUT = """type: MeshTimeout
mesh: default
name: t
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 1h}
"""


@dataclass(frozen=True)
class Answer:
    """What a command answered, and the files it left."""

    code: int
    text: str
    files: Mapping[str, str]

    @property
    def report(self) -> Any:
        """The answer as JSON."""
        return json.loads(self.text)


class Command:
    """Runs commands in a folder of their own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.chdir(folder)

    def __call__(self, words: str, *texts: str, **files: str) -> Answer:
        """Write files (`a.yaml`, or by name) and run a command on the folder."""
        named = {f"{chr(97 + at)}.yaml": text for at, text in enumerate(texts)}
        for name, text in (named | {f"{k}.yaml": v for k, v in files.items()}).items():
            (self.folder / name).write_bytes(text.encode())
        result = CliRunner().invoke(app, words.split())
        text = result.stdout + result.stderr
        assert "internal error" not in text, text
        left = {p.name: p.read_bytes().decode() for p in sorted(self.folder.iterdir())}
        return Answer(result.exit_code, text, left)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return what runs commands."""
    return Command(tmp_path, monkeypatch)


@pytest.mark.parametrize("banner", ["#" * 10_000 + "\n", ("#" * 80 + "\n") * 100])
def test_a_banner_of_comment_signs_is_a_comment(banner: str, command: Command) -> None:
    answer = command("run", banner + "# Team Payments\n" + banner + TIMEOUT)
    assert answer.code == 0, answer.text
    assert answer.files["a.yaml"].startswith(banner + "# Team Payments\n" + banner)
    assert "rules:" in answer.files["a.yaml"]


SOPS = """sops:
  lastmodified: "2024-05-21T15:21:04Z"
  mac: ENC[AES256_GCM,data:mJjJ,iv:AA==,tag:AA==,type:str]
  version: 3.8.1
"""
KUBERNETES = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: t, namespace: kuma-system}
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 1h}
"""
LIST = (
    "apiVersion: v1\nkind: List\nitems:\n  - " + KUBERNETES.replace("\n", "\n    ").rstrip() + "\n"
)
AS_JSON = json.dumps(
    {
        "type": "MeshTimeout",
        "mesh": "default",
        "name": "t",
        "spec": {"from": [{"targetRef": {"kind": "Mesh"}, "default": {"idleTimeout": "1h"}}]},
        "sops": {"mac": "ENC[AES256_GCM,data:x]", "version": "3.8.1"},
    }
)


@pytest.mark.parametrize(
    "text", [TIMEOUT + SOPS, KUBERNETES + SOPS, SOPS + TIMEOUT, LIST + SOPS, AS_JSON]
)
def test_what_sops_has_signed_is_never_edited_and_that_is_said(text: str, command: Command) -> None:
    answer = command("run", text)
    assert answer.code == 3
    assert answer.files["a.yaml"] == text
    assert "encrypted with sops" in answer.text
    assert "cannot be edited without loss" in answer.text
    assert "Filled in by templates" not in answer.text  # the checksum is no value of Kuma's


def test_beside_a_signed_document_others_are_edited(command: Command) -> None:
    signed = TIMEOUT + SOPS
    other = TIMEOUT.replace("name: t", "name: u")
    answer = command("run", f"{signed}---\n{other}")
    assert answer.code == 3
    assert answer.files["a.yaml"].startswith(f"{signed}---\n")
    assert answer.files["a.yaml"].count("rules:") == 1


def test_a_value_that_sops_has_encrypted_is_not_known(command: Command) -> None:
    hidden = TIMEOUT.replace("1h", "'ENC[AES256_GCM,data:mJjJ,iv:AA==,tag:AA==]'")
    answer = command("check", hidden + SOPS)
    assert answer.code == 3
    assert "fills in a part of MeshTimeout t" in answer.text
    assert "duration" not in answer.text


YTT = [
    pytest.param(
        '#@ load("@ytt:data", "data")\n---\n'
        + TIMEOUT.replace("  from:", "  #@ if data.values.inbound:\n  from:")
        + "  #@ end\n",
        id="if",
    ),
    pytest.param("#@ if/end True:\n---\n" + TIMEOUT, id="document"),
    pytest.param(TIMEOUT.replace("1h}", "1h} #@ f()"), id="behind a value"),
    pytest.param(TIMEOUT.replace("{idleTimeout: 1h}", "#@ conf()"), id="value"),
    pytest.param(TIMEOUT.replace("name: t", "name: #@ data.values.name"), id="name"),
    pytest.param("#@ for name in names:\n---\n" + TIMEOUT + "#@ end\n", id="loop"),
    pytest.param(
        "#@ if True:\n---\nkind: ConfigMap\n---\n" + TIMEOUT + "---\na: b\n#@ end\n", id="in branch"
    ),
    pytest.param(TIMEOUT.replace("spec:", "#@overlay/replace\nspec:"), id="overlay"),
    pytest.param('#@overlay/match by="metadata.name"\n---\n' + TIMEOUT, id="overlay document"),
    pytest.param(TIMEOUT.replace("spec:", "spec: #@overlay/match-child-defaults x=1"), id="map"),
]


@pytest.mark.parametrize("text", YTT)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_ytt_rules_is_templated_and_stays(text: str, line_end: str, command: Command) -> None:
    text = text.replace("\n", line_end)
    answer = command("run", text)
    assert answer.code == 3, answer.text
    assert answer.files["a.yaml"] == text
    assert "Proved" not in answer.text
    assert "Nothing to change" not in answer.text or "a.yaml" in answer.text


def test_an_overlay_is_no_manifest(command: Command) -> None:
    overlay = '#@overlay/match by="metadata.name"\n---\n' + KUBERNETES
    answer = command("check --format json", overlay)
    assert answer.report["coverage"]["kuma"] == 0
    assert [one["reason"] for one in answer.report["coverage"]["unread"]] == ["template"]


@pytest.mark.parametrize(
    "comment",
    ["#! a comment of ytt", '#@ load("@ytt:data", "data")', "#@author: me", "# @schema", "#@@"],
)
def test_what_rules_nothing_is_a_comment(comment: str, command: Command) -> None:
    answer = command("run", f"{comment}\n---\n{TIMEOUT}")
    assert answer.code == 0, answer.text
    assert answer.files["a.yaml"].startswith(f"{comment}\n---\n")
    assert "rules:" in answer.files["a.yaml"]


@pytest.mark.parametrize("value", ["!vault abc", "!include x.yaml", "<%= idle %>", "'<%= idle %>'"])
def test_what_a_tool_fills_in_is_not_known(value: str, command: Command) -> None:
    text = TIMEOUT.replace("{idleTimeout: 1h}", f"{{idleTimeout: {value}}}")
    answer = command("run", text)
    assert (answer.code, answer.files["a.yaml"]) == (3, text)
    assert "fills in a part of MeshTimeout t" in answer.text


@pytest.mark.parametrize(
    "text",
    [
        TIMEOUT.replace("from:", "targetRef: {kind: MeshSubset, tags: {{ .Values.tags }}}\n  to:"),
        KUBERNETES.replace("spec:\n", "spec:\n  targetRef: {{ .Values.target }}\n"),
        TIMEOUT.replace("  from:\n", "  from: {{ .Values.from }}\n")[:70] + "\n",
    ],
)
@pytest.mark.parametrize("words", ["check", "run", "run --target 3.0", "inspect", "prove . ."])
def test_a_template_may_stand_anywhere(words: str, text: str, command: Command) -> None:
    other = TIMEOUT.replace("name: t", "name: other")
    answer = command(words, text, other)
    assert answer.code in (0, 3), answer.text
    assert answer.files["a.yaml"] == text


def _fails(name: str, *, when: str) -> Any:
    """Return a planner that fails on one resource, or when it is asked at all."""

    def plan(view: Any) -> Any:
        for policy in view.of_type("MeshTimeout"):
            if when in (policy.name, "always"):
                raise ValueError(f"cannot read \x1b[31m{policy.name}")
            yield from original(view)

    from kumamigrate.rewrite import plan as plans

    original = plans.planner_of(name)
    return plan


@pytest.mark.parametrize("words", ["check", "run"])
def test_a_fault_in_a_rule_costs_the_resource_it_meets(
    words: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    faulty = _fails("from-section", when="t")
    monkeypatch.setattr("kumamigrate.rewrite.plan.planner_of", _instead("from-section", faulty))
    other = TIMEOUT.replace("name: t", "name: u")
    answer = _call_with_faults(command, words, TIMEOUT, other)
    assert answer.code == 3
    assert "a.yaml:1   MeshTimeout t\n" in answer.text
    assert "ValueError: cannot read \\x1b[31mt" in answer.text
    assert answer.files["a.yaml"] == TIMEOUT
    assert (answer.files["b.yaml"] != other) is (words == "run")


def test_a_rule_that_always_fails_is_left_out(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_view: Any) -> Any:
        raise RecursionError

    monkeypatch.setattr("kumamigrate.rewrite.plan.planner_of", _instead("deprecated-form", fails))
    answer = _call_with_faults(command, "run", TIMEOUT)
    assert (answer.code, "the rule was left out" in answer.text) == (3, True)
    assert "rules:" in answer.files["a.yaml"]


def _instead(rule: str, planner: Any) -> Any:
    from kumamigrate.rewrite import plan as plans

    original = plans.planner_of
    return lambda one, *more: planner if one == rule else original(one, *more)


def _call_with_faults(command: Command, words: str, *texts: str) -> Answer:
    for at, text in enumerate(texts):
        (command.folder / f"{chr(97 + at)}.yaml").write_text(text)
    result = CliRunner().invoke(app, words.split())
    left = {p.name: p.read_text() for p in sorted(command.folder.iterdir())}
    return Answer(result.exit_code, result.stdout + result.stderr, left)


@pytest.mark.parametrize(
    ("function", "touched"),
    [
        ("kumamigrate.source.reading.load.parse_document", False),
        ("kumamigrate.model.read._read_document", False),
        ("kumamigrate.scene.storedstate._admit", False),
        ("kumamigrate.prover.prover._Question._about", True),  # what holds in every mesh is written
        ("kumamigrate.flow.fixedpoint.apply", False),
    ],
)
def test_a_fault_below_the_rules_is_never_a_green_answer(
    function: str, touched: bool, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stand-in for what is not known yet: each step fails once, on what it is about."""

    def fails(*_given: Any, **_more: Any) -> Any:
        raise KeyError("x")

    monkeypatch.setattr(function, fails)
    answer = _call_with_faults(command, "run", KUBERNETES + "---\n" + TIMEOUT)
    assert answer.code == 3, answer.text
    assert "internal error: KeyError" in answer.text
    assert "Proved" not in answer.text
    assert "Nothing is left" not in answer.text
    assert (answer.files["a.yaml"] != KUBERNETES + "---\n" + TIMEOUT) is touched


FOREIGN = [
    "apiVersion: kuma.io/v1alpha1\nkind: MeshOPA\nmetadata: {name: x, namespace: kuma-system}\n",
    "apiVersion: kuma.io/v1alpha1\nkind: AccessRoleBinding\nmetadata: {name: x}\n",
    "apiVersion: kuma.io/v1alpha1\nkind: MeshFuture\nmetadata: {name: x, namespace: a}\n",
    "type: OPAPolicy\nmesh: default\nname: x\n",
    "type: AccessRole\nname: x\n",
    "type: MeshFuture\nname: x\nspec: {}\n",
    "type: MeshFuture\nmesh: other\nname: x\n",
]


@pytest.mark.parametrize("text", FOREIGN)
@pytest.mark.parametrize("words", ["check", "run --target 3.0", "prove . .", "inspect"])
def test_kinds_that_nobody_models_are_said(words: str, text: str, command: Command) -> None:
    answer = command(f"{words} --format json", text)
    assert answer.code == 3
    if words != "inspect":
        unread = answer.report["coverage"]["unread"]
        assert [one["reason"] for one in unread] == ["not-modelled"], unread


def test_what_is_not_modelled_holds_no_edit_back(command: Command) -> None:
    answer = command("run", TIMEOUT, FOREIGN[0])
    assert (answer.code, "rules:" in answer.files["a.yaml"]) == (3, True)
    assert "MeshOPA x is of a kind that is not modelled" in answer.text


@pytest.mark.parametrize("name", ["n", "y", "on", "No", "1", "0x10", "1.5", "~", "null", "[a]"])
def test_a_name_that_yaml_reads_as_no_text_is_read(name: str, command: Command) -> None:
    answer = command("check --format json", TIMEOUT.replace("name: t", f"name: {name}"))
    assert answer.report["coverage"]["kuma"] == 1
    rules = {one["rule"] for one in answer.report["findings"]}
    assert rules & {"from-section", "refused-by-release"}


def test_a_mesh_that_yaml_reads_as_no_text_is_not_the_default_one(command: Command) -> None:
    answer = command("check --format json", TIMEOUT.replace("mesh: default", "mesh: n"))
    assert {one["resource"]["mesh"] for one in answer.report["findings"]} == {"false"}


TYPED = (
    "apiVersion: kuma.io/v1alpha1\nkind: MeshTimeoutList\nitems:\n  - metadata:\n"
    "      name: t # the bank's\n      namespace: kuma-system\n    spec:\n      from:\n"
    "        - targetRef: {kind: Mesh}\n          default: {idleTimeout: 1h}\n"
)


def test_items_of_a_typed_list_are_of_its_kind(command: Command) -> None:
    answer = command("check --format json", TYPED)
    assert [one["rule"] for one in answer.report["findings"]] == ["from-section"]
    answer = command("run", TYPED)
    left = answer.files["a.yaml"]
    assert "# the bank's" in left
    assert left == TYPED or "rules:" in left
    assert answer.code == (3 if left == TYPED else 0), answer.text


def test_a_list_from_the_read_api_is_taken_apart(command: Command) -> None:
    text = json.dumps({"total": 1, "items": [{**json.loads(AS_JSON)}], "next": None})
    answer = command("check --format json", text)
    assert [one["rule"] for one in answer.report["findings"]] == ["from-section"]


IDENTITY = """type: MeshIdentity
mesh: default
name: id
spec:
  selector: {dataplane: {matchLabels: {}}}
  spiffeID:
    trustDomain: "{{ .Mesh }}.{{ .Zone }}.mesh.local"
    path: /ns/{{ .Namespace }}/sa/{{ .ServiceAccount }}
  provider: {type: Bundled, bundled: {autogenerate: {enabled: true}}}
---
type: HostnameGenerator
name: hg
spec:
  selector: {meshService: {matchLabels: {kuma.io/origin: zone}}}
  template: '{{ .DisplayName }}.{{ label "k8s.kuma.io/namespace" }}.mesh.local'
"""


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_kuma_fills_in_itself_is_no_template(line_end: str, command: Command) -> None:
    text = (IDENTITY + "---\n" + TIMEOUT).replace("\n", line_end)
    answer = command("run", text)
    assert answer.code == 0, answer.text
    assert "rules:" in answer.files["a.yaml"]
    assert answer.files["a.yaml"].startswith(IDENTITY.replace("\n", line_end))


@pytest.mark.parametrize(
    "text",
    [
        IDENTITY.replace("name: hg", "name: {{ .Values.name }}"),
        IDENTITY.replace("{{ .Zone }}", "{{ .Values.zone }}"),
        IDENTITY.replace("{{ .Zone }}", "{{ .Mesh | upper }}"),
        IDENTITY.replace("name: id", "name: {{ .Mesh }}"),
        "{{ if .Mesh }}\n" + IDENTITY + "{{ end }}\n",
    ],
)
def test_where_another_tool_reads_the_file_it_reads_all(text: str, command: Command) -> None:
    answer = command("run", text)
    assert (answer.code, answer.files["a.yaml"]) == (3, text)
    assert "fills in a part of MeshIdentity" in answer.text


def test_in_a_chart_helm_fills_in_everything(command: Command) -> None:
    (command.folder / "templates").mkdir()
    (command.folder / "Chart.yaml").write_text("apiVersion: v2\nname: mesh\nversion: 0.1.0\n")
    (command.folder / "templates" / "id.yaml").write_text(IDENTITY)
    result = CliRunner().invoke(app, ["check"])
    assert result.exit_code == 3


OLD_LIMIT = """apiVersion: kuma.io/v1alpha1
kind: TrafficPermission
mesh: default
metadata:
  name: allow-all
  labels: {team: platform}
  annotations:
    owner: platform # on call
    argocd.argoproj.io/sync-wave: "3"
    argocd.argoproj.io/tracking-id: mesh:kuma.io/TrafficPermission:/allow-all
spec:
  sources:
    - match: {kuma.io/service: '*'}
  destinations:
    - match: {kuma.io/service: '*'}
"""


def test_annotations_go_to_the_successor(command: Command) -> None:
    answer = command("run --initial-policies none", OLD_LIMIT)
    left = answer.files["a.yaml"]
    assert "kind: MeshTrafficPermission" in left, answer.text
    for kept in ("owner: platform # on call", 'sync-wave: "3"', "team: platform"):
        assert kept in left
    assert "tracking-id" not in left  # it names the old object


def test_annotations_go_to_both_halves_of_a_policy(command: Command) -> None:
    both = KUBERNETES.replace(
        "metadata: {name: t, namespace: kuma-system}\n",
        "metadata:\n  name: t\n  namespace: kuma-system\n  annotations:\n"
        "    owner: platform\n    argocd.argoproj.io/tracking-id: a:b/c:d/t\n",
    )
    both += "  to:\n    - targetRef: {kind: Mesh}\n      default: {idleTimeout: 2h}\n"
    answer = command("run --initial-policies none", both)
    left = answer.files["a.yaml"]
    assert (left.count("owner: platform"), left.count("tracking-id")) == (2, 1), left


def test_an_old_policy_that_stands_twice_is_said_and_stays(command: Command) -> None:
    text = OLD_LIMIT + "---\n" + OLD_LIMIT
    answer = command("run --initial-policies none", text)
    assert answer.code in (1, 3), answer.text
    assert answer.files["a.yaml"] == text
    assert "it also stands at a.yaml:1:1" in answer.text


def test_other_kinds_go_their_way_beside_a_double(command: Command) -> None:
    route = (
        "type: TrafficLog\nmesh: default\nname: l\nsources: [{match: {kuma.io/service: '*'}}]\n"
        "destinations: [{match: {kuma.io/service: '*'}}]\n"
    )
    answer = command("run --initial-policies none", OLD_LIMIT, OLD_LIMIT, route)
    assert answer.files["a.yaml"] == answer.files["b.yaml"] == OLD_LIMIT
    assert "internal error" not in answer.text


def _toggles(old: str, new: str) -> Any:
    """Return a planner that writes one label in the place of another, which means nothing."""
    from kumamigrate.rewrite.manifest import change, finding

    def plan(view: Any) -> Any:
        for policy in view.of_type("MeshTimeout"):
            if policy.labels.get("side") == old and policy.name == "t":
                body = {**policy.body, "labels": {**policy.body["labels"], "side": new}}
                yield change(
                    view, policy, [body], [finding(view, policy, (), pending=True, kind="x")]
                )

    return plan


def test_rules_that_undo_each_other_are_held_and_the_rest_is_done(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = _toggles("a", "b"), _toggles("b", "a")
    planners = _instead("from-section", first)
    monkeypatch.setattr("kumamigrate.rewrite.plan.planner_of", planners)
    planners = _instead("top-level-mesh-subset", second)
    monkeypatch.setattr("kumamigrate.rewrite.plan.planner_of", planners)
    text = TIMEOUT.replace("name: t\n", "name: t\nlabels: {side: a, word: MeshSubset}\n")
    log = (
        "apiVersion: kuma.io/v1alpha1\nkind: TrafficPermission\nmesh: default\n"
        "metadata: {name: p}\nspec:\n  sources: [{match: {kuma.io/service: '*'}}]\n"
        "  destinations: [{match: {kuma.io/service: '*'}}]\n"
    )
    answer = command("run --initial-policies none", text, log)
    assert answer.code == 3, answer.text
    assert answer.files["a.yaml"] == text
    assert "undo each other's work" in answer.text
    assert "MeshTrafficPermission" in answer.files["b.yaml"]
    before = answer.files
    assert command("run --initial-policies none").files == before


def test_a_rule_that_goes_on_for_ever_is_held(command: Command) -> None:
    text = (Path(__file__).parent / "circles.yaml").read_text()
    answer = command("run --verbose --initial-policies none", text)
    assert answer.code in (3, 4), answer.text
    assert "a-on-route-1-web" in answer.text
    once = answer.files
    assert command("run --initial-policies none").files == once
