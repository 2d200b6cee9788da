"""Which files are found, and what their bytes betray."""

from __future__ import annotations

from pathlib import Path

import pytest

from kumamigrate.source.reading.find import find_all
from kumamigrate.source.reading.sift import (
    Kind,
    classify,
    is_partial,
    may_hold_kuma,
    pods_only,
)
from kumamigrate.source.text import Reason


def tree(root: Path, **files: str) -> None:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def found(root: Path, *paths: str) -> list[str]:
    return [*find_all([Path(p) for p in paths or (".",)], root=root).files]


def test_files_that_may_hold_manifests_are_found_sorted(tmp_path: Path) -> None:
    names = ["b/z.yml", "a.yaml", "c.json", "d.yaml.j2", "e.tpl", "f.yaml.tmpl"]
    others = ["x.md", "x.sh", "x.yaml.swp", "x.py", ".git/x.yaml", "Makefile"]
    tree(tmp_path, **dict.fromkeys(names + others, ""))
    assert found(tmp_path) == sorted(names)


def test_a_named_file_is_taken_whatever_its_name(tmp_path: Path) -> None:
    tree(tmp_path, **{"x.txt": "", ".gitignore": "*", "a/b.yaml": ""})
    assert found(tmp_path, "x.txt", "x.txt") == ["x.txt"]
    assert found(tmp_path, str(tmp_path / "x.txt")) == ["x.txt"]


def test_gitignore_files_are_respected_at_every_level(tmp_path: Path) -> None:
    tree(
        tmp_path,
        **{
            ".gitignore": "/out/\n*.gen.yaml\n!keep.gen.yaml\ndeep/**/no.yaml\n",
            "sub/.gitignore": "local.yaml\n!again.gen.yaml\n",
            ".git/info/exclude": "secret.yaml\n",
            "out/a.yaml": "",
            "sub/out/a.yaml": "",
            "a.gen.yaml": "",
            "keep.gen.yaml": "",
            "sub/again.gen.yaml": "",
            "sub/local.yaml": "",
            "local.yaml": "",
            "secret.yaml": "",
            "deep/x/y/no.yaml": "",
            "deep/yes.yaml": "",
        },
    )
    assert found(tmp_path) == [
        "deep/yes.yaml",
        "keep.gen.yaml",
        "local.yaml",
        "sub/again.gen.yaml",
        "sub/out/a.yaml",
    ]
    assert found(tmp_path, "sub") == ["sub/again.gen.yaml", "sub/out/a.yaml"]


def test_links_are_followed_inside_the_root_only_and_once(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    tree(root, **{"a/x.yaml": "", "b.yaml": ""})
    tree(outside, **{"o.yaml": "", "secret/s.yaml": ""})
    (root / "l.yaml").symlink_to("b.yaml")
    (root / "again").symlink_to("a")
    (root / "a" / "up").symlink_to("..")
    (root / "o.yaml").symlink_to(outside / "o.yaml")
    (root / "secret").symlink_to(outside / "secret")
    (root / "gone.yaml").symlink_to("nowhere.yaml")
    found = find_all([Path()], root=root)
    files, refusals = [*found.files], found.refusals
    assert files == ["a/x.yaml", "b.yaml"]
    assert [(r.path, r.reason, r.hides) for r in refusals] == [
        ("gone.yaml", Reason.UNREADABLE, False),
        ("o.yaml", Reason.OUTSIDE_ROOT, True),
        ("secret", Reason.OUTSIDE_ROOT, True),
    ]


def test_paths_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    refusals = find_all([Path("no.yaml"), Path("..")], root=tmp_path / "root").refusals
    assert {r.reason for r in refusals} == {Reason.UNREADABLE, Reason.OUTSIDE_ROOT}


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: kuma.io/v1alpha1\n",
        "metadata: {labels: {kuma.io/mesh: x}}",
        "type: MeshTimeout\n",
        'type:   "Mesh"\n',
        "'type': Dataplane",
        '{"name": "x", "type": "TrafficRoute"}',
        "type:\n  Retry\n",
        "type: # which one\n  # a plain one\n  Retry\n",
        "? type\n: Retry\n",
        "type: !!str Retry\n",
        "type: &kind !!str Retry\n",
        "name: &kind Retry\ntype: *kind\n",
        "type: >-\n  Retry\n",
        'type: "\\x52etry"\n',
        '"t\\u0079pe": Retry\n',
        '{"apiVersion": "\\u006buma.io/v1alpha1"}',
        'apiVersion: "kuma.\\\n  io/v1alpha1"\n',
    ],
)
def test_kuma_content_is_noticed(text: str) -> None:
    assert may_hold_kuma(text.encode())
    assert may_hold_kuma(text.encode("utf-16"))
    assert classify(text.encode()) is Kind.KUMA


def test_workloads_are_told_from_the_rest() -> None:
    assert classify(b"kind: Deployment\n") is Kind.WORKLOAD
    assert classify(b'{"kind":"Namespace"}') is Kind.WORKLOAD
    assert classify(b"kind: ConfigMap\n") is Kind.NONE
    assert classify(b"type: ClusterIP\nkind: ServiceMonitor\n") is Kind.NONE
    assert classify(b"type: Meshed-up\ntype: RetryPolicy\n") is Kind.NONE


def test_pods_alone_are_told_from_what_else_a_rule_reads() -> None:
    from kumamigrate.model.kinds import WORKLOADS

    assert all(pods_only(f"kind: {kind}\n".encode()) for kind in WORKLOADS)
    assert not pods_only(b"kind: Deployment\n---\nkind: Service\n")
    assert not pods_only(b"kind: DeploymentList\n")


def test_a_suffix_in_capitals_is_the_same_suffix(tmp_path: Path) -> None:
    tree(tmp_path, **{"a.YAML": "", "b/c.Yml": "", "d.MD": ""})
    assert found(tmp_path) == ["a.YAML", "b/c.Yml"]


LABELS = (
    b'{{- define "labels" -}}\napp: {{ .name }}\nkuma.io/mesh: {{ .mesh }}\n{{- end -}}\n'
    b'{{- define "more" -}}\napp: {{ .name }}\n{{- end -}}\n'
)


def test_named_templates_of_helm_without_a_kind_are_no_manifest() -> None:
    """Labels alone, which stand twice in what is left without the expressions."""
    assert is_partial("charts/mesh/templates/_helpers.tpl", LABELS)
    assert not is_partial("charts/mesh/templates/labels.tpl", LABELS)
    assert not is_partial("charts/mesh/templates/_helpers.yaml", LABELS)
    for said in (b"kind: Mesh\n", b'"type" : MeshRetry\n'):
        assert not is_partial("charts/mesh/templates/_helpers.tpl", LABELS + said)
