"""Reading files: positions, documents, masks and refusals."""

from __future__ import annotations

import pytest

from kumamigrate.source.node import AliasNode, MapNode, ScalarNode, SeqNode, node_at
from kumamigrate.source.reading.load import KEPT_BYTES, json_value, read_file
from kumamigrate.source.text import Reason, SourceFile

BOM = b"\xef\xbb\xbf"


def read(text: str) -> SourceFile:
    return read_file("a.yaml", text.encode())


def values(text: str) -> list[object]:
    return [json_value(d.root) for d in read(text).documents]


def only_refusal(data: bytes) -> tuple[Reason, int, int]:
    (refusal,) = read_file("a.yaml", data).refusals
    return refusal.reason, refusal.line, refusal.column


def piece(text: str, *path: str | int, document: int = 0) -> str:
    file = read(text)
    node = node_at(file.documents[document].root, path)
    assert node is not None
    return file.text[node.start : node.end]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a: 1",
        BOM + b"a: 1\r\n",
        b"a: 1\r\nb: 2\n\n\n",
        b"--- # x\n...\n---\n\n# end",
        "a: 😀é\n".encode(),
        b"a: [1,\n",
        b"\t\x07",
    ],
)
def test_render_gives_the_bytes_back(data: bytes) -> None:
    assert read_file("a.yaml", data).render() == data


def test_offsets_count_code_points_without_byte_order_mark() -> None:
    file = read_file("a.yaml", BOM + "é: 😀x # 😀\r\nb: 'y'\r\n".encode())
    root = file.documents[0].root
    assert file.bom
    first, second = node_at(root, ("é",)), node_at(root, ("b",))
    assert first is not None
    assert second is not None
    assert file.text[first.start : first.end] == "😀x"
    assert file.text[second.start : second.end] == "'y'"
    assert file.position(second.start) == (2, 4)


def test_block_collections_end_with_their_last_leaf() -> None:
    text = "a:\n  b: 1  # c\n\n  # d\n\ne:\n- x\n\n# end\n"
    assert piece(text, "a") == "b: 1"
    assert piece(text, "e") == "- x"
    assert piece(text).endswith("- x")


def test_block_scalars_end_before_blank_lines_unless_kept() -> None:
    text = "a: |\n  x\n\n\nb: |+\n  x\n\nc: >-  # note\n  y\n  z\n"
    assert piece(text, "a") == "|\n  x"
    assert piece(text, "b") == "|+\n  x\n"
    assert piece(text, "c") == ">-  # note\n  y\n  z"
    assert values(text) == [{"a": "x\n", "b": "x\n\n", "c": "y z"}]


def test_dashes_are_found_behind_comments_and_properties() -> None:
    text = "a: &x # no - dash\n# - none\n- 1\n\n# -\n-  # -\n  - 2\n- k: v\n  l:\n  -\n  - 3\n"
    root = read(text).documents[0].root
    items = node_at(root, ("a",))
    assert isinstance(items, SeqNode)
    assert [text[i - 1 : i + 2] for i in items.dashes] == ["\n- ", "\n- ", "\n- "]
    inner = node_at(root, ("a", 2, "l"))
    assert isinstance(inner, SeqNode)
    assert [text[i : i + 2] for i in inner.dashes] == ["-\n", "- "]
    assert values(text) == [{"a": [1, [2], {"k": "v", "l": [None, 3]}]}]


def test_values_are_what_kuma_reads() -> None:
    text = 'y: Y\n010: 0o10\ntime: 12:30\nq: "yes"\nt: !!str 12\ni: !!int "7"\n1.5: x\n'
    assert values(text) == [
        {"true": True, "8": 8, "time": "12:30", "q": "yes", "t": "12", "i": 7, "1.5": "x"}
    ]


def test_documents_are_counted_as_yaml_counts_them() -> None:
    assert values("# header only\n---\n---\ntype: Mesh\nname: a\n---\n") == [
        None,
        {"type": "Mesh", "name": "a"},
        None,
    ]
    assert values("a: 1\n...\n# c\n---\nb: 1\n...\n") == [{"a": 1}, {"b": 1}]
    assert values("%YAML 1.1\n---\na: 1\n--- {b: 2}\n") == [{"a": 1}, {"b": 2}]
    assert values("a: |\n  ---\n  x\n---\nb: 1\n") == [{"a": "---\nx\n"}, {"b": 1}]
    assert values("") == []


def test_one_bad_document_hides_no_other() -> None:
    file = read("a: 1\n---\nkind: Mesh\nb: [\n---\nc: 1\n---\nd: 'x\n---\ne: 1\n")
    assert [json_value(d.root) for d in file.documents] == [
        {"a": 1},
        None,
        {"c": 1},
        None,
        {"e": 1},
    ]
    assert [r.reason for r in file.refusals] == [Reason.UNPARSABLE] * 2
    assert file.refusals[0].detail.startswith("document 2: ")


def test_a_bad_document_bars_the_verdict_only_if_it_may_matter() -> None:
    assert [r.hides for r in read("kind: Namespace\nb: [\n").refusals] == [True]
    assert [r.hides for r in read("x: kuma.io/mesh\nb: [\n").refusals] == [True]
    assert [r.hides for r in read("kind: ConfigMap\nb: [\n").refusals] == [False]


def test_undecodable_bytes_are_refused_at_their_place() -> None:
    assert only_refusal("a: 1\r\nb: é".encode() + b"\xe9\n") == (Reason.UNDECODABLE, 2, 5)
    assert only_refusal("kind: Mesh\n".encode("utf-16")) == (Reason.UNDECODABLE, 1, 1)
    assert only_refusal(BOM + b"\xff") == (Reason.UNDECODABLE, 1, 1)


def test_duplicate_keys_are_refused_with_both_lines() -> None:
    file = read("type: Mesh\nspec:\n  to: 1\n  'to': 2\n---\nb: 1\n")
    (refusal,) = file.refusals
    assert (refusal.reason, refusal.line, refusal.column) == (Reason.DUPLICATE_KEY, 4, 3)
    assert "lines 3 and 4" in refusal.detail
    assert refusal.hides
    assert [d.root is None for d in file.documents] == [True, False]


def test_keys_that_kuma_reads_alike_are_duplicates() -> None:
    assert only_refusal(b"y: 1\ntrue: 2\n")[0] is Reason.DUPLICATE_KEY
    assert only_refusal(b"8: 1\n010: 2\n")[0] is Reason.DUPLICATE_KEY


@pytest.mark.parametrize(
    "text",
    ["{a: b}: c\n", "? [a]\n: b\n", "~: x\n", "a: *b\n", "a: 1\nb\n", "a: \x07\n", "a: b: c\n"],
)
def test_what_kuma_cannot_read_is_refused(text: str) -> None:
    assert only_refusal(text.encode())[0] is Reason.UNPARSABLE


def test_tabs_as_indent_are_said_to_be_a_limit_of_both() -> None:
    (refusal,) = read("a:\n\tb: 1\n").refusals
    assert (refusal.line, refusal.reason) == (2, Reason.UNPARSABLE)
    assert "neither Kuma's reader nor this tool" in refusal.advice


def test_control_characters_are_placed_in_code_points() -> None:
    assert only_refusal("é: 😀\nb: \x07\n".encode()) == (Reason.UNPARSABLE, 2, 4)


def test_depth_and_size_are_bounded() -> None:
    assert only_refusal(b"[" * 200 + b"]" * 200)[0] is Reason.TOO_DEEP
    assert read("[" * 90 + "]" * 90).refusals == ()
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 12)
    )
    assert only_refusal(bomb.encode())[0] is Reason.TOO_LARGE
    chain = "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{x: *a{i - 1}}}\n" for i in range(1, 150))
    assert only_refusal(chain.encode())[0] is Reason.TOO_DEEP
    assert only_refusal(b"#" * (10 * 1024 * 1024 + 1))[0] is Reason.TOO_LARGE
    assert only_refusal(b"a: &x [*x]\n")[0] is Reason.ALIAS


def test_aliases_are_nodes_and_followed_by_value() -> None:
    text = "a: &x {b: 1}\nc: *x\n"
    root = read(text).documents[0].root
    assert isinstance(root, MapNode)
    alias = root.get("c")
    assert isinstance(alias, AliasNode)
    assert text[alias.start : alias.end] == "*x"
    assert json_value(root) == {"a": {"b": 1}, "c": {"b": 1}}
    assert node_at(root, ("c", "b")) is node_at(root, ("a", "b"))


def test_merges_are_read_with_local_keys_winning() -> None:
    text = "b: &b {x: 1, y1: 2}\nc: &c {x: 9, z: 3}\na:\n  <<: [*b, *c]\n  y1: 5\n"
    document = read(text).documents[0]
    expected = {"x": 1, "y1": 5, "z": 3}
    assert json_value(node_at(document.root, ("a",))) == expected
    assert isinstance(node_at(document.root, ("a", "z")), ScalarNode)


def test_a_merge_behind_a_key_it_holds_is_refused() -> None:
    assert only_refusal(b"b: &b {x: 1}\na:\n  x: 2\n  <<: *b\n")[0] is Reason.DUPLICATE_KEY
    assert only_refusal(b"a: {<<: 1}\n")[0] is Reason.UNPARSABLE


HELM = """{{- if .Values.on }}
kind: MeshTimeout
metadata:
  name: {{ .Release.Name }}-t
  other: "{{ .Values.x | default "y" }}"
spec:
  {{- with .Values.route }}
  targetRef:
    kind: {{
      .kind }}
  {{- end }}
  m: 5
{{- end }}
"""


def test_templates_are_masked_so_that_the_rest_is_read() -> None:
    file = read(HELM)
    root = file.documents[0].root
    assert file.refusals == ()
    assert json_value(root) == {
        "kind": "MeshTimeout",
        "metadata": {"name": "{{ .Release.Name }}-t", "other": '{{ .Values.x | default "y" }}'},
        "spec": {"targetRef": {"kind": "{{\n      .kind }}"}, "m": 5},
    }
    templated = {
        path: node_at(root, path).templated  # type: ignore[union-attr]
        for path in [
            ("kind",),
            ("metadata", "name"),
            ("metadata", "other"),
            ("spec",),
            ("spec", "m"),
        ]
    }
    assert list(templated.values()) == [False, True, True, True, False]
    node = node_at(root, ("spec", "m"))
    assert node is not None
    assert file.position(node.start) == (12, 6)


def test_jinja_statements_are_masked() -> None:
    assert values("{% for x in y %}\na: {{ x }}\n{% endfor %}\nb: 1\n{# c: [ #}\n") == [
        {"a": "{{ x }}", "b": 1}
    ]


def test_values_filled_in_later_count_as_templated() -> None:
    root = read("a: ${NAME}-x\nb: $NAME\n").documents[0].root
    assert [node_at(root, (k,)).templated for k in "ab"] == [True, False]  # type: ignore[union-attr]


def test_templates_in_comment_lines_change_nothing() -> None:
    root = read("# {{ x }}\na: 1\n").documents[0].root
    assert root is not None
    assert not root.templated


@pytest.mark.parametrize(
    "text",
    [
        "# {{- if .x }}\na: 1\n# {{- end }}\n",
        '# {{ include "more" . | nindent 0 }}\na: 1\n',
        "{{- if .x }}\n---\na: 1\n---\nb: 1\n{{- end }}\n",
        "{{- if .x }}\n---\na: 1\n---\n# end\n{{- end }}\n",
    ],
)
def test_what_a_condition_elsewhere_leaves_in_or_out_is_templated(text: str) -> None:
    root = read(text).documents[0].root
    assert root is not None
    assert root.templated


def test_an_opener_whose_end_is_lines_of_yaml_away_is_text() -> None:
    root = read("a: # see {{ x\n  b: 1\nc: {d: {e: 1}}\n").documents[0].root
    assert root is not None
    assert not root.templated
    assert json_value(root) == {"a": {"b": 1}, "c": {"d": {"e": 1}}}


def test_what_is_no_yaml_without_its_templates_is_refused_as_template() -> None:
    text = "kind: Mesh\n{{ if x }}\na: 1\n{{ else }}\na: 2\n{{ end }}\n---\nb: 1\n"
    file = read(text)
    (refusal,) = file.refusals
    assert refusal.reason is Reason.TEMPLATE
    assert "lines 3 and 5" in refusal.detail
    assert [d.root is None for d in file.documents] == [True, False]


NESTED = """title: example
config:
  type: MeshTimeout
  name: t
  mesh: default
"""


@pytest.mark.parametrize(
    ("text", "place", "mesh"),
    [
        (NESTED, (3, 3), "default"),
        (NESTED.replace("mesh: default", "mesh: m"), (3, 3), "m"),
        (NESTED.replace("mesh: default", "mesh: {{ .x }}"), (3, 3), ""),
        ("kind: ConfigMap\ndata:\n  a.yaml: |\n    type: Mesh\n    name: default\n", (3, 11), ""),
        (
            "kind: ConfigMap\ndata:\n  a.yaml: |\n    type: MeshTLS\n    name: t\n    mesh: m\n",
            (3, 11),
            "m",
        ),
        ("- apiVersion: kuma.io/v1alpha1\n  kind: Mesh\n  metadata: {name: m}\n", (1, 3), "m"),
        (
            "spec:\n  values:\n    extra:\n      - apiVersion: kuma.io/v1alpha1\n"
            "        kind: MeshTLS\n        metadata: {name: a, labels: {kuma.io/mesh: m}}\n",
            (4, 9),
            "m",
        ),
    ],
    ids=[
        "under another key",
        "in a mesh",
        "in a mesh that a template says",
        "in a string",
        "in a string that says the mesh",
        "in a bare list",
        "in values",
    ],
)
def test_kuma_content_below_the_root_bars_the_mesh_it_is_in(
    text: str, place: tuple[int, int], mesh: str
) -> None:
    # Whoever applies the outer object may apply the inner one: it counts as there (world.md §5).
    (refusal,) = read(text).refusals
    assert refusal.reason is Reason.NOT_AT_ROOT
    assert (refusal.line, refusal.column) == place
    assert refusal.hides
    assert refusal.mesh == mesh


@pytest.mark.parametrize(
    "text",
    [
        "kind: List\nitems:\n- apiVersion: kuma.io/v1alpha1\n  kind: Mesh\n",
        "apiVersion: kuma.io/v1alpha1\nkind: Mesh\nspec:\n  a: {type: Mesh, name: x}\n",
        "type: Timeout\nname: t\nspec: {x: {type: Retry, name: n, mesh: m}}\n",
    ],
)
def test_kuma_content_at_the_root_is_not(text: str) -> None:
    assert read(text).refusals == ()


def test_what_was_read_last_is_read_once_with_its_trees_unless_it_is_large() -> None:
    text = b"type: Mesh\nname: default\n"
    first = read_file("a.yaml", text)
    assert read_file("a.yaml", bytes(bytearray(text))) is first
    assert read_file("b.yaml", text).path == "b.yaml"
    large = text + b"# " + b"x" * KEPT_BYTES
    assert read_file("a.yaml", large) is not read_file("a.yaml", large)
