"""Field reports about editing YAML: every byte outside an edit stays."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from tests.reports.repo import EXCLUSIVE, documents, exit_of_looking, run

HEAD = "type: MeshTimeout\nname: t\nmesh: default\n"
ROUTE = """type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /v1}}]
          default: {}
"""
MESH = documents(EXCLUSIVE, ROUTE)


def moved(folder: Path, text: str, name: str = "t.yaml") -> str:
    """Return what becomes of a policy on a route."""
    return run(folder, {"m.yaml": MESH, name: text}).after[name]


def test_yq_515_blank_lines_comments_and_list_style_stay(tmp_path: Path) -> None:
    """yq#515, #1248, #927, #2055: only the lines of the reference move, its comment with it."""
    old = (
        HEAD
        + """spec:
# why: slow backend

  targetRef:
    kind: MeshHTTPRoute   # JIRA-1
    name: api
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 60s}}
"""
    )
    assert (
        moved(tmp_path, old)
        == HEAD
        + """spec:
# why: slow backend

  to:
  - targetRef:
      kind: MeshHTTPRoute   # JIRA-1
      name: api
    default: {http: {requestTimeout: 60s}}
"""
    )


LONG = "note: " + "a" * 25 + " " + "b" * 31 + " " + "c" * 31 + " " + "d" * 19


def test_dvc_9397_long_lines_are_not_folded(tmp_path: Path) -> None:
    """dvc#9397, gatekeeper#4822: a line of a hundred characters beside an edit stays one line."""
    old = (
        HEAD
        + f"# {LONG}\nnote: {LONG!r}\nspec:\n  targetRef: {{kind: MeshHTTPRoute, name: api}}\n"
        + ("  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n")
    )
    new = moved(tmp_path, old)
    assert new != old
    assert f"\n# {LONG}\nnote: {LONG!r}\n" in new


def test_ruyaml_115_comments_around_separators_stay(tmp_path: Path) -> None:
    """ruyaml#115, ansible-lint#3395, go-yaml#416: comments before `---` and between blank lines."""
    around = "a: 1\n\n# belongs to the separator\n---\n# block one\n\n# block two\n"
    old = (
        around
        + HEAD
        + (
            "spec:\n  targetRef: {kind: MeshHTTPRoute, name: api}\n"
            "  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n"
            "\n# the end\n\n---\n# nothing\n"
        )
    )
    new = moved(tmp_path, old)
    assert new.startswith(around + HEAD)
    assert new.endswith("\n# the end\n\n---\n# nothing\n")
    assert "{kind: MeshHTTPRoute, name: api}, default" in new


@pytest.mark.parametrize(
    "before",
    [
        "  targetRef:\n    # the API\n    kind: MeshHTTPRoute\n    name: api # of orders\n",
        "  targetRef: # of orders\n    kind: MeshHTTPRoute\n    # the API\n    name: api\n",
    ],
)
def test_go_yaml_416_a_moved_reference_takes_its_comments_along(
    before: str, tmp_path: Path
) -> None:
    """go-yaml#416: no comment of the lines that move is lost, and their order stays."""
    old = (
        HEAD
        + "spec:\n"
        + before
        + (
            "  to:\n    - targetRef:\n        kind: Mesh\n"
            "      default: {http: {requestTimeout: 60s}}\n"
        )
    )
    new = moved(tmp_path, old)
    comments = [line.split("#", 1)[1] for line in before.splitlines() if "#" in line]
    assert [line.split("#", 1)[1] for line in new.splitlines() if "#" in line] == comments
    assert "kind: Mesh\n" not in new


def test_flux_761_empty_documents_are_no_resources(tmp_path: Path) -> None:
    """flux#761: documents of comments or of nothing are left alone and counted as YAML counts."""
    text = "# header only\n---\n---\ntype: Mesh\nname: a\n---\n"
    done = run(tmp_path, text, target="3.0")
    (mesh,) = done.outcome.before.repository.resources
    assert (mesh.name, mesh.where.line if mesh.where else 0) == ("a", 4)
    assert done.after["a.yaml"] == text
    assert {f.line for f in done.outcome.findings} <= {4, 5}
    broken = "# header only\n---\n---\n" + HEAD + "spec: {}\nspec: {}\n---\n"
    assert "a.yaml:8:1  document 2: key 'spec' stands twice" in run(tmp_path, broken).said


def test_yq_914_quotes_stay_and_are_written_where_a_reader_needs_them(tmp_path: Path) -> None:
    """yq#914, pyyaml#791, kubernetes#34146: "yes", "NO", "010" and "on" stay strings."""
    labels = 'labels: {enabled: "yes", country: "NO", version: "010", flag: "on"}\n'
    old = (
        HEAD
        + labels
        + (
            'spec:\n  targetRef: {kind: MeshHTTPRoute, name: "yes"}\n'
            "  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n"
        )
    )
    mesh = documents(EXCLUSIVE, ROUTE.replace("name: api", 'name: "yes"'))
    new = run(tmp_path, {"m.yaml": mesh, "t.yaml": old}).after["t.yaml"]
    assert labels in new
    assert '{targetRef: {kind: MeshHTTPRoute, name: "yes"}, default' in new


def test_yq_914_a_new_name_is_quoted_like_the_old(tmp_path: Path) -> None:
    """yq#914: the name of a second piece is a string for every reader, whatever it looks like."""
    old = 'type: MeshTimeout\nname: "12"\nmesh: default\nspec:\n' + (
        "  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]\n"
        "  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2h}}]\n"
    )
    done = run(tmp_path, old)
    names = [r.name for r in done.outcome.after.repository.resources]
    assert names == ["12", "12-inbound"]


def test_f14_values_mean_what_kuma_reads() -> None:
    """F14: for Kuma `y` is true and `010` is eight, whatever Python's reader makes of them."""
    from kumamigrate.model.read import read_resources
    from kumamigrate.source.reading.load import read_file

    text = HEAD + "spec: {to: [{a: y, b: 010, c: 0o10, d: 12:30, e: off}]}\n"
    (resource,) = read_resources(read_file("t.yaml", text.encode()))
    assert resource.spec["to"][0] == {"a": True, "b": 8, "c": 8, "d": "12:30", "e": False}


def test_64_a_run_without_changes_writes_nothing(tmp_path: Path) -> None:
    """Report 64: anchors, merge keys and odd layout survive a run that has nothing to do."""
    text = HEAD + (
        "spec:\r\n  to:\r\n  -   targetRef: &ref {kind: Mesh}\r\n"
        "      default: &conf\r\n          idleTimeout:   1m\r\n"
        "  -   {targetRef: *ref, default: {<<: *conf}}"
    )
    done = run(tmp_path, text)
    path = tmp_path / "repository" / "a.yaml"
    before = (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
    from kumamigrate.flow.pipeline import write

    write(done.outcome)
    assert done.outcome.texts == {}
    assert (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns) == before


def test_kustomize_3480_a_key_that_stands_twice_is_an_error_with_both_lines(tmp_path: Path) -> None:
    """kustomize#3480: one reader takes the last, another refuses; the other files are processed."""
    twice = HEAD + (
        "spec:\n  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1m}}]\n"
        "  to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 2m}}]\n"
    )
    other = HEAD.replace("mesh: default", "mesh: other").replace("name: t", "name: b") + (
        "spec:\n  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]\n"
    )
    done = run(tmp_path, {"a.yaml": twice, "b.yaml": other})
    assert "a.yaml:6:3  document 1: key 'to' stands twice, on lines 5 and 6" in done.said
    assert done.after["a.yaml"] == twice
    assert "rules: [{default: {idleTimeout: 1h}}]" in done.after["b.yaml"]
    assert done.exit == 3


def test_go_yaml_880_block_scalars_keep_their_spaces(tmp_path: Path) -> None:
    """go-yaml#880, kubernetes#75446: a block scalar with a space at a line's end stays as it is."""
    patch = """type: MeshProxyPatch
name: p
mesh: default
spec:
  default:
    appendModifications:
      - cluster:
          operation: Add
          value: |
            name: x\x20
            connect_timeout: 5s
---
"""
    old = patch + HEAD + "spec:\n  from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]\n"
    new = run(tmp_path, old, select=("from-section",)).after["a.yaml"]
    assert new.startswith(patch)
    assert "rules:" in new


TEMPLATED = (
    HEAD
    + """spec:
  {{- with .Values.route }}
  targetRef:
    kind: MeshHTTPRoute
    name: {{ . }}
  {{- end }}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 60s}}
"""
)


def test_yamlfmt_114_a_template_is_found_reported_and_left_alone(tmp_path: Path) -> None:
    """yamlfmt#114, helm#7088: a Helm template must not pass for a file without Kuma's policies."""
    done = run(tmp_path, {"m.yaml": MESH, "t.yaml": TEMPLATED})
    assert done.after["t.yaml"] == TEMPLATED
    (finding,) = done.of("route-in-target-ref")
    assert (finding.status.value, finding.file, finding.line) == ("manual", "t.yaml", 7)
    assert "cannot tell" in finding.message
    assert "t.yaml:1:1  a template fills in a part of MeshTimeout t" in done.said
    assert done.exit == 3


@pytest.mark.parametrize("name", ['"{{ .Values.x }}"', '"${ROUTE}"', "${ROUTE}"])
def test_yamlfmt_114_a_name_to_fill_in_later_is_never_said_to_be_missing(
    name: str, tmp_path: Path
) -> None:
    """Report 68: a template that parses as YAML is still no name; nothing is claimed about it."""
    text = (
        HEAD
        + f"spec:\n  targetRef:\n    kind: MeshHTTPRoute\n    name: {name}\n"
        + ("  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n")
    )
    done = run(tmp_path, {"m.yaml": MESH, "t.yaml": text})
    assert done.after["t.yaml"] == text
    (finding,) = done.of("route-in-target-ref")
    assert "a template fills in spec.targetRef.name" in finding.message
    assert "neither in the repository" not in done.said
    assert "remove the policy" not in done.said
    assert (done.exit, exit_of_looking(done)) == (3, 3)


@pytest.mark.parametrize("section", ["targetRef: {kind: MeshHTTPRoute, name: api}", "from: []"])
def test_a_namespace_to_fill_in_later_refuses_nothing(section: str, tmp_path: Path) -> None:
    """Report 68: whether a policy is in the system namespace is not known before it is rendered."""
    text = (
        "apiVersion: kuma.io/v1alpha1\nkind: MeshTimeout\nmetadata:\n  name: t\n"
        f"  namespace: {{{{ .Release.Namespace }}}}\nspec:\n  {section}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n"
    )
    done = run(tmp_path, {"m.yaml": MESH, "t.yaml": text}, only_check=True)
    assert done.of("refused-by-release") == []
    assert done.outcome.rejections == ()
    assert exit_of_looking(done) == 3


def test_a_route_with_a_name_to_fill_in_later_may_be_the_one(tmp_path: Path) -> None:
    """Report 68: a policy on `api` is not dangling where some route has yet to get its name."""
    route = ROUTE.replace("name: api", 'name: "{{ .Values.name }}"')
    policy = HEAD + (
        "spec:\n  targetRef: {kind: MeshHTTPRoute, name: api}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n"
    )
    done = run(tmp_path, {"m.yaml": documents(EXCLUSIVE, route), "t.yaml": policy})
    (finding,) = done.of("route-in-target-ref")
    assert "Cannot tell" in finding.message
    assert "m.yaml:5" in finding.message
    assert "remove" not in finding.action


def test_a_reference_to_fill_in_later_is_not_proven_for_an_upgrade(tmp_path: Path) -> None:
    """Report 68: what `${SERVICE}` means on either release nobody can prove."""
    text = HEAD + (
        'spec:\n  to: [{targetRef: {kind: MeshService, name: "${SERVICE}"},'
        " default: {idleTimeout: 1m}}]\n"
    )
    done = run(tmp_path, {"m.yaml": EXCLUSIVE, "t.yaml": text}, target="3.0")
    assert done.after["t.yaml"] == text
    assert ("reference-by-name", "held", "t") in done.found
    assert "cannot tell: a template fills in a part of MeshTimeout t (t.yaml:1:1)" in done.said


def test_what_rests_on_nothing_that_is_filled_in_later_is_said(tmp_path: Path) -> None:
    """Report 68: one value that nobody knows is no reason to keep quiet about the others."""
    text = HEAD + (
        "spec:\n  targetRef: {kind: MeshHTTPRoute, name: api}\n"
        '  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: "${LIMIT}"}}}]\n'
    )
    done = run(tmp_path, {"m.yaml": MESH, "t.yaml": text})
    (finding,) = done.of("route-in-target-ref")
    assert "api" in finding.message
    assert "template" not in " ".join((finding.message, finding.action, *finding.notes))


JSON = (
    '{"type":"MeshTimeout","name":"t","mesh":"default","spec":{'
    '"targetRef":{"kind":"MeshHTTPRoute","name":"api"},'
    '"to":[{"targetRef":{"kind":"Mesh"},"default":{"http":{"requestTimeout":"1s"}}}]}}\n'
)


def test_token_save_7_json_stays_json(tmp_path: Path) -> None:
    """token-save#7: a one-line JSON file stays one; a double key is refused there too."""
    assert moved(tmp_path, JSON, "t.json") == (
        '{"type":"MeshTimeout","name":"t","mesh":"default","spec":{'
        '"to":[{"targetRef":{"kind":"MeshHTTPRoute","name":"api"},'
        '"default":{"http":{"requestTimeout":"1s"}}}]}}\n'
    )
    twice = JSON.replace('"mesh":"default",', '"mesh":"default","mesh":"other",')
    assert "key 'mesh' stands twice" in run(tmp_path, {"t.json": twice}).said


def test_kustomize_17_the_order_of_keys_stays(tmp_path: Path) -> None:
    """kustomize#17, #259, #848: kind and metadata stay at the end, default before targetRef."""
    route = """apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {labels: {kuma.io/mesh: default}, namespace: kuma-system, name: api}
spec:
  to:
    - targetRef: {kind: MeshService, name: orders, namespace: shop}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
"""
    old = """spec:
  to:
    - default: {http: {requestTimeout: 1s}}
      targetRef: {kind: Mesh}
  targetRef: {name: api, kind: MeshHTTPRoute}
metadata: {labels: {kuma.io/mesh: default}, namespace: kuma-system, name: t}
kind: MeshTimeout
apiVersion: kuma.io/v1alpha1
"""
    done = run(tmp_path, {"m.yaml": documents(EXCLUSIVE, route), "t.yaml": old})
    assert done.after["t.yaml"] == old.replace(
        "      targetRef: {kind: Mesh}\n  targetRef: {name: api, kind: MeshHTTPRoute}\n",
        "      targetRef: {name: api, kind: MeshHTTPRoute}\n",
    )
    upgraded = run(tmp_path, {"m.yaml": documents(EXCLUSIVE, route), "t.yaml": old}, target="3.0")
    reference = upgraded.after["t.yaml"].splitlines()[3].strip()
    assert reference.startswith("targetRef: {labels: {kuma.io/display-name: api")
    assert reference.endswith("}, kind: MeshHTTPRoute}")


@pytest.mark.parametrize(
    "data", [b"spec:\n\tto: []\n" + HEAD.encode(), HEAD.encode() + b"spec: {} # \xe9\n"]
)
def test_tabs_and_other_encodings_are_read_errors(data: bytes, tmp_path: Path) -> None:
    """Report 73: what Kuma's reader refuses is said, and bars an equivalent verdict."""
    (tmp_path / "repository").mkdir()
    (tmp_path / "repository" / "bad.yaml").write_bytes(data)
    done = run(tmp_path, {"m.yaml": MESH})
    assert "bad.yaml" in done.said
    assert "Not read: 1 place" in done.said
    assert done.exit == 3
    assert (tmp_path / "repository" / "bad.yaml").read_bytes() == data


def test_policies_inside_other_documents_are_mentioned_not_edited(tmp_path: Path) -> None:
    """Report 73: a policy below another key may or may not be applied; it is never touched."""
    text = """title: example
config:
  type: MeshTimeout
  name: t
  mesh: default
  spec: {targetRef: {kind: MeshHTTPRoute, name: api}, to: [{targetRef: {kind: Mesh}, default: \
{idleTimeout: 1m}}]}
"""
    done = run(tmp_path, {"m.yaml": MESH, "x.yaml": text})
    assert done.after["x.yaml"] == text
    assert "x.yaml:3:3  document 1: Kuma's MeshTimeout t inside of another object" in done.said
    # Who applies the outer document may apply the policy: nothing is certain for its mesh.
    assert done.exit == 3
