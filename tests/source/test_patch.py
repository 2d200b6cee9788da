"""Edits of manifests: expected texts are written by hand. Numbers are those of reports.md."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from kumamigrate.source.editing.patch import patch
from kumamigrate.source.reading.load import json_value, read_file
from kumamigrate.source.text import Reason, Refusal
from kumamigrate.source.value import Moved, Replacement, Value
from tests.cases import LOADER

Change = Callable[[Any], Any]


def run(
    text: str,
    *values: Value | Change,
    document: int = 0,
    item: tuple[str | int, ...] = (),
    path: str = "a.yaml",
    drop_comments: bool = False,
) -> str | tuple[Refusal, ...]:
    """Patch one resource. A function gets a copy of the old value and returns the new one."""
    file = read_file(path, text.encode())
    found = file.documents[document]
    made = tuple(v(copy.deepcopy(json_value(found.root))) if callable(v) else v for v in values)
    return patch(
        file,
        [Replacement(document=found, item=item, values=made, drop_comments=drop_comments)],
    )


def setting(*path: str | int, to: Any) -> Change:
    def change(value: Any) -> Any:
        inner = value
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = to
        return value

    return change


def without(*path: str | int) -> Change:
    def change(value: Any) -> Any:
        inner = value
        for part in path[:-1]:
            inner = inner[part]
        del inner[path[-1]]
        return value

    return change


def reason(got: str | tuple[Refusal, ...]) -> tuple[Reason, int, int]:
    assert not isinstance(got, str), got
    return got[0].reason, got[0].line, got[0].column


ROUTE = """spec:
# why: slow backend

  targetRef:
    kind: MeshHTTPRoute   # JIRA-1
    name: api
  to:
  - targetRef: {kind: Mesh}
    default: {http: {requestTimeout: 15s}}
"""


def test_56_a_moved_reference_takes_its_comment_along() -> None:
    def change(value: Any) -> Any:
        value["spec"]["targetRef"] = {"kind": "Mesh"}
        value["spec"]["to"][0]["targetRef"] = Moved(("spec", "targetRef"))
        return value

    assert (
        run(ROUTE, change)
        == """spec:
# why: slow backend

  targetRef:
    kind: Mesh
  to:
  - targetRef:
      kind: MeshHTTPRoute   # JIRA-1
      name: api
    default: {http: {requestTimeout: 15s}}
"""
    )


def test_71_keys_keep_their_order_and_new_ones_take_the_place_of_old_ones() -> None:
    text = """spec:
  to:
    - default: {http: {requestTimeout: 1s}}
      targetRef: {kind: Mesh}
  targetRef: {name: api, kind: MeshHTTPRoute}
kind: MeshTimeout
"""

    def change(value: Any) -> Any:
        reference = {"kind": "MeshHTTPRoute", "labels": {"kuma.io/display-name": "api"}}
        value["spec"]["to"][0]["targetRef"] = Moved(("spec", "targetRef"), reference)
        value["spec"]["targetRef"] = {"kind": "Mesh"}
        return value

    assert (
        run(text, change)
        == """spec:
  to:
    - default: {http: {requestTimeout: 1s}}
      targetRef: {labels: {kuma.io/display-name: api}, kind: MeshHTTPRoute}
  targetRef: {kind: Mesh}
kind: MeshTimeout
"""
    )


def test_70_json_stays_json() -> None:
    text = (
        '{"type":"MeshTimeout","spec":{"targetRef":{"kind":"MeshHTTPRoute","name":"api"},'
        '"to":[{"targetRef":{"kind":"Mesh"},"default":{"a":"1s"}}]}}'
    )

    def change(value: Any) -> Any:
        value["spec"]["to"][0]["targetRef"] = Moved(("spec", "targetRef"))
        value["spec"]["targetRef"] = {"kind": "Dataplane", "labels": {"a": "on"}}
        return value

    assert run(text, change, path="a.json") == (
        '{"type":"MeshTimeout","spec":{"targetRef":{"kind":"Dataplane","labels":{"a":"on"}},'
        '"to":[{"targetRef":{"kind":"MeshHTTPRoute","name":"api"},"default":{"a":"1s"}}]}}'
    )


def test_pretty_json_stays_pretty() -> None:
    text = '{\n    "type": "A",\n    "x": {}\n}\n'
    assert run(text, {"type": "A", "x": {"y": [1]}, "q": None}, path="a.json") == (
        '{\n    "type": "A",\n    "x": {\n        "y": [\n            1\n        ]\n    },\n'
        '    "q": null\n}\n'
    )


def test_json_indented_with_tabs_stays_so() -> None:
    def change(value: Any) -> Any:
        del value["x"]
        value["to"][0]["y"] = Moved(("x",))
        value["to"][0]["z"] = {"n": [1]}
        return value

    text = (
        '{\n\t"x": {\n\t\t"a": 1,\n\t\t"b": 2\n\t},\n'
        '\t"to": [\n\t\t{\n\t\t\t"y": {\n\t\t\t\t"c": 3\n\t\t\t}\n\t\t}\n\t]\n}\n'
    )
    assert run(text, change, path="a.json") == (
        '{\n\t"to": [\n\t\t{\n\t\t\t"y": {\n\t\t\t\t"a": 1,\n\t\t\t\t"b": 2\n\t\t\t},\n'
        '\t\t\t"z": {\n\t\t\t\t"n": [\n\t\t\t\t\t1\n\t\t\t\t]\n\t\t\t}\n\t\t}\n\t]\n}\n'
    )


def test_flow_lines_moved_behind_a_brace_are_indented_against_their_line() -> None:
    def change(value: Any) -> Any:
        del value["s"]["x"]
        value["s"]["to"][0]["k"] = Moved(("s", "x"))
        return value

    text = (
        "s: {\n  x: { # why\n    a: 1, # one\n  },\n"
        "  to: [\n    { k: {c: 3}, # k\n      z: 1 },\n  ]\n}\n"
    )
    assert run(text, change) == (
        "s: {\n  to: [\n    { k: { # why\n      a: 1, # one\n    }, # k\n      z: 1 },\n  ]\n}\n"
    )


def test_a_json_file_takes_no_second_document() -> None:
    assert reason(run('{"a": 1}', {"a": 1}, {"b": 2}, path="a.json"))[0] is Reason.ONE_DOCUMENT


def test_62_written_strings_are_quoted_where_any_reader_would_err() -> None:
    text = "tags: {enabled: \"yes\"}\nname: 'x'\n"
    assert run(text, setting("tags", "country", to="NO")) == text.replace(
        '"yes"}', '"yes", country: "NO"}'
    )
    assert run(text, setting("name", to="010")) == text.replace("'x'", "'010'")
    assert run(text, setting("name", to=True)) == text.replace("'x'", "true")
    assert run("a: 1\n", {"a": "1"}) == 'a: "1"\n'


def test_67_block_scalars_are_left_alone() -> None:
    text = "a: 1\nvalue: |\n  name: x \n  connect_timeout: 5s\n"
    assert run(text, setting("a", to=2)) == text.replace("1", "2", 1)


def test_a_renamed_key_changes_its_key_only() -> None:
    text = "spec:\n  # the entries\n  from:  # all\n    - a: 1  # one\n"
    for new in (Moved(("spec", "from")), [{"a": 1}]):
        assert run(text, {"spec": {"rules": new}}) == text.replace("from:", "rules:")


def test_a_renamed_mapping_with_new_content_is_edited_inside() -> None:
    text = "targetRef:\n  kind: MeshSubset\n  tags:\n    app: x # mine\n    env: y\n"
    new = {"targetRef": {"kind": "Dataplane", "labels": {"app": "x"}}}
    assert run(text, new) == "targetRef:\n  kind: Dataplane\n  labels:\n    app: x # mine\n"


def test_comments_of_dropped_entries_stay_as_lines() -> None:
    text = "a: 1\n# head\nb: # side\n  # inner\n  c: 2  # tail\n\nd: 3\n"
    assert run(text, without("b")) == "a: 1\n# head\n# side\n# inner\n# tail\n\nd: 3\n"


def test_dropped_entries_leave_no_double_blank_lines() -> None:
    assert run("a: 1\n\nb: 2\n\nc: 3\n", without("b")) == "a: 1\n\nc: 3\n"
    assert run("a: 1\n\nb: 2\n", without("b")) == "a: 1\n"
    assert run("a: 1\nb: 2", without("b")) == "a: 1"


def test_the_first_key_behind_a_dash_can_go_and_come() -> None:
    text = "to:\n  - kind: A # k\n    # about b\n    b: 1\n"
    assert run(text, without("to", 0, "kind")) == "to:\n  # k\n  # about b\n  - b: 1\n"
    assert run("to:\n- b: 1\n", {"to": [{"a": {"x": 1}, "b": 1}]}) == (
        "to:\n- a:\n    x: 1\n  b: 1\n"
    )


def test_an_emptied_mapping_is_written_in_braces() -> None:
    assert run("spec:\n  a: 1 # c\nb: 2\n", {"spec": {}, "b": 2}) == "spec: {} # c\nb: 2\n"
    assert run("spec: {}\n", {"spec": {"a": [1]}}) == "spec:\n  a:\n    - 1\n"


def test_new_text_follows_the_indent_of_its_document() -> None:
    text = "a:\n    b:\n    - x: 1\n    -   y: 2\n    -   z: 3\n"
    assert run(text, setting("a", "n", to={"m": [{"k": 1, "l": 2}]})) == (
        text + '    "n":\n        m:\n        -   k: 1\n            l: 2\n'
    )


def test_items_are_aligned_by_equality_then_by_likeness() -> None:
    text = "to:\n# one\n- a: 1\n  b: 1\n# two\n- a: 2\n  b: 2\n# three\n- a: 3\n  b: 3\n"
    assert run(text, {"to": [{"a": 2, "b": 2}, {"a": 3, "b": 4}]}) == (
        "to:\n# one\n# two\n- a: 2\n  b: 2\n# three\n- a: 3\n  b: 4\n"
    )


def test_moved_items_swap_with_their_comments() -> None:
    text = "to:\n  # one\n  - a: 1\n  # two\n  - b: 2 # side\n"
    assert run(text, {"to": [Moved(("to", 1)), Moved(("to", 0))]}) == (
        "to:\n  # two\n  - b: 2 # side\n  # one\n  - a: 1\n"
    )


def test_block_scalars_are_indented_to_their_new_place() -> None:
    text = "a:\n  b:\n    c: |\n      x\n        y\n\n      z\nd: 1\n"
    assert run(text, {"c": Moved(("a", "b", "c")), "d": 1}) == "c: |\n  x\n    y\n\n  z\nd: 1\n"


def test_block_text_moved_into_flow_style_becomes_flow() -> None:
    text = "a:\n  k: v # c\n  l: [1]\nb: {x: 1}\n"
    assert run(text, {"b": {"x": 1, "z": Moved(("a",))}}) == ("# c\nb: {x: 1, z: {k: v, l: [1]}}\n")


def test_values_are_unwrapped_and_wrapped() -> None:
    text = "conf:\n  http:\n    a: 1 # one\n    b: 2\n"
    assert run(text, {"conf": Moved(("conf", "http"))}) == "conf:\n  a: 1 # one\n  b: 2\n"
    assert run(text, {"x": [{"z": Moved(("conf",))}]}) == (
        "x:\n  - z:\n      http:\n        a: 1 # one\n        b: 2\n"
    )


DOCUMENTS = """# file head

# about a
a: 1 # x
---
# about b
b: 1

# about c
---
c: 1
...
"""


def test_new_documents_stand_right_behind_theirs() -> None:
    assert run(DOCUMENTS, {"a": 1}, {"k": 2}, document=0) == DOCUMENTS.replace(
        "# x\n---\n", "# x\n---\nk: 2\n---\n"
    )
    assert run(DOCUMENTS, {"b": 2}, Moved((), {"b": 3}), document=1) == DOCUMENTS.replace(
        "b: 1\n\n", "b: 2\n---\nb: 3\n\n"
    )
    assert run(DOCUMENTS, {"c": 1}, {"k": 2}, document=2) == DOCUMENTS.replace(
        "...", "---\nk: 2\n..."
    )
    assert run("a: 1", {"a": 1}, {"k": 2}) == "a: 1\n---\nk: 2"
    assert run("a: 1\r\n", {"a": 1}, {"k": 2}) == "a: 1\r\n---\r\nk: 2\r\n"


def test_separators_follow_the_file() -> None:
    assert run("a: 1\n\n---\n\nb: 2\n", {"a": 1}, {"k": 2}) == (
        "a: 1\n\n---\n\nk: 2\n\n---\n\nb: 2\n"
    )


def test_a_copied_document_has_no_comments_of_what_stays() -> None:
    text = "# head\nname: a # n\nspec:\n  # keep\n  x: 1\n  # go\n  z: 2 # side\n"

    def first(value: Any) -> Any:
        del value["spec"]["z"]
        return value

    def second(value: Any) -> Any:
        value["name"] = "b"
        del value["spec"]["x"]
        return Moved((), value)

    assert run(text, first, second) == (
        "# head\nname: a # n\nspec:\n  # keep\n  x: 1\n---\nname: b\nspec:\n  # go\n  z: 2 # side\n"
    )


@pytest.mark.parametrize(
    ("document", "old", "new"),
    [
        (0, "a: 1 # x\n---\n", "# x\n"),
        (1, "---\n# about b\nb: 1\n", "# about b\n"),
        (2, "---\nc: 1\n...\n", ""),
    ],
)
def test_a_removed_document_takes_one_separator(document: int, old: str, new: str) -> None:
    assert run(DOCUMENTS, document=document) == DOCUMENTS.replace(old, new)


@pytest.mark.parametrize("head", ["", "---\n", "# all\n---\n", "\n"])
@pytest.mark.parametrize(
    "separator", ["---\n", "--- # next\n", "\n---\n\n", "--- ", "# b\n---\n# c\n", "...\n---\n"]
)
@pytest.mark.parametrize("drop", [False, True])
def test_any_documents_of_a_file_may_go_together(head: str, separator: str, drop: bool) -> None:
    text = head + separator.join(["{a: 1}\n", "{b: 2}\n", "{c: 3}\n", "{d: 4}\n"])
    file = read_file("a.yaml", text.encode())
    for going in range(1, 2 ** len(file.documents)):
        left = [one for one in file.documents if not going >> one.index & 1]
        edited = patch(
            file,
            [
                Replacement(document=one, values=(), drop_comments=drop)
                for one in file.documents
                if one not in left
            ],
        )
        assert isinstance(edited, str), (going, edited)
        assert list(filter(None, yaml.load_all(edited, LOADER))) == [one.value for one in left]
        assert left or "---" not in edited.replace("# all\n---\n", ""), edited


def test_the_first_documents_of_a_file_go_with_the_separators_behind_them() -> None:
    file = read_file("a.yaml", b"a: 1\n---\nb: 2\n---\nc: 3\n")
    gone = [Replacement(document=one, values=()) for one in file.documents]
    assert patch(file, gone[:2]) == "c: 3\n"
    assert patch(file, gone) == ""


def test_a_comment_behind_a_separator_stays_unless_it_goes_with_its_document() -> None:
    file = read_file("a.yaml", b"a: 1\n--- # of b\nb: 2\n--- # of c\nc: 3\n")
    first, second, third = file.documents
    assert patch(file, [Replacement(document=second, values=())]) == (
        "a: 1\n# of b\n--- # of c\nc: 3\n"
    )
    assert patch(file, [Replacement(document=second, values=(), drop_comments=True)]) == (
        "a: 1\n--- # of c\nc: 3\n"
    )
    gone = [Replacement(document=one, values=(), drop_comments=True) for one in (first, second)]
    assert patch(file, gone) == "# of c\nc: 3\n"
    assert patch(file, [Replacement(document=third, values=())]) == (
        "a: 1\n--- # of b\nb: 2\n# of c\n"
    )


def test_comments_of_a_removed_document_may_go_with_it() -> None:
    assert run(DOCUMENTS, document=0, drop_comments=True) == DOCUMENTS.replace(
        "# about a\na: 1 # x\n---\n", ""
    )
    assert run("a: 1\n", document=0) == ""


LIST = """kind: List
items:
# first
- kind: A
  x: {a: 1}
- kind: B # b
  x: 1
"""


def test_items_of_a_list_are_edited_multiplied_and_removed() -> None:
    assert run(LIST, item=("items", 0)) == LIST.replace("- kind: A\n  x: {a: 1}\n", "")
    assert run(LIST, item=("items", 0), drop_comments=True) == LIST.replace(
        "# first\n- kind: A\n  x: {a: 1}\n", ""
    )
    added = run(
        LIST,
        {"kind": "A", "x": {"a": 2}},
        Moved((), {"kind": "C", "x": {"a": 1}}),
        item=("items", 0),
    )
    assert added == LIST.replace("{a: 1}\n", "{a: 2}\n- kind: C\n  x: {a: 1}\n")


def test_several_items_are_replaced_at_once() -> None:
    file = read_file("a.yaml", LIST.encode())
    (document,) = file.documents
    replacements = [
        Replacement(document=document, item=("items", 0), values=()),
        Replacement(document=document, item=("items", 1), values=({"kind": "B", "x": 2},)),
    ]
    assert patch(file, replacements) == LIST.replace("- kind: A\n  x: {a: 1}\n", "").replace(
        "x: 1", "x: 2"
    )
    everything = [Replacement(document=document, item=("items", i), values=()) for i in (0, 1)]
    assert patch(file, everything) == "kind: List\n# first\n# b\nitems: []\n"


ANCHORS = """base: &b
  x: 1
one:
  <<: *b
  z: 3
two: *b
"""


def test_edits_beside_aliases_are_made() -> None:
    assert run(ANCHORS, setting("one", "z", to=4)) == ANCHORS.replace("z: 3", "z: 4")
    assert run(ANCHORS, setting("one", "w", to=4)) == ANCHORS.replace("z: 3", "z: 3\n  w: 4")
    assert run(ANCHORS, without("two")) == ANCHORS.replace("two: *b\n", "")


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (setting("one", "x", to=2), (4, 3)),
        (without("one", "x"), (4, 3)),
        (setting("base", "x", to=2), (1, 7)),
        (setting("two", "x", to=2), (6, 6)),
        (without("base"), (1, 7)),
    ],
    ids=["merged value", "merged key", "anchored value", "through an alias", "anchor dropped"],
)
def test_edits_through_aliases_are_refused(change: Change, place: tuple[int, int]) -> None:
    got = reason(run(ANCHORS, change))
    assert got[0] is Reason.ALIAS
    assert got[1:] == place


def test_aliases_are_written_out_in_another_document() -> None:
    got = run(ANCHORS, lambda v: v, Moved((), {"one": Moved(("one",))}))
    assert got == ANCHORS + "---\none:\n  x: 1\n  z: 3\n"


HELM = """{{- if .Values.on }}
kind: MeshTimeout
metadata:
  name: {{ .Release.Name }}-t
spec:
  {{- with .Values.ref }}
  targetRef:
    kind: MeshSubset
  {{- end }}
  to:
    - a: 1
{{- end }}
"""


def test_edits_beside_templates_are_made() -> None:
    assert run(HELM, setting("spec", "targetRef", "kind", to="Dataplane")) == HELM.replace(
        "MeshSubset", "Dataplane"
    )
    assert run(HELM, setting("metadata", "namespace", to="x")) == HELM.replace(
        "-t\n", "-t\n  namespace: x\n"
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (setting("metadata", "name", to="x"), 4),
        (without("metadata", "name"), 4),
        (without("metadata"), 4),
        (without("spec"), 6),
    ],
)
def test_edits_of_templates_are_refused(change: Change, line: int) -> None:
    got = reason(run(HELM, change))
    assert got[:2] == (Reason.TEMPLATE, line)


def test_a_replacement_that_does_not_fit_is_an_error_of_the_caller() -> None:
    file = read_file("a.yaml", b"a: 1\n---\n")
    twice = [Replacement(document=file.documents[0], values=({"a": 2},))] * 2
    with pytest.raises(ValueError, match="two replacements"):
        patch(file, twice)
    with pytest.raises(ValueError, match="nothing stands at"):
        run("a: 1\n", {"a": Moved(("b",))})
    with pytest.raises(ValueError, match="no content"):
        patch(file, [Replacement(document=file.documents[1], values=({"a": 2},))])


def test_byte_order_mark_and_other_documents_do_not_matter() -> None:
    data = b"\xef\xbb\xbfa: 1\r\n---\r\nb: [\r\n"
    file = read_file("a.yaml", data)
    got = patch(file, [Replacement(document=file.documents[0], values=({"a": 2},))])
    assert got == "a: 2\r\n---\r\nb: [\r\n"


def test_new_text_of_several_lines_stays_readable_whatever_its_lines_end_in() -> None:
    """A blank at the end of a line is no reason for one long quoted line (field report #67)."""
    file = read_file("a.yaml", b"a: 1\n")
    value = "name: x \nother: y"
    text = patch(file, [Replacement(document=file.documents[0], values=({"a": 1, "b": value},))])
    assert text == "a: 1\nb: |-\n  name: x \n  other: y\n"


def test_a_comment_stands_above_what_is_new_and_above_what_took_the_place() -> None:
    text = "# mine\nkind: A\nname: a\n---\nkind: B\n"
    file = read_file("a.yaml", text.encode())
    values = ({"kind": "C", "name": "a"}, {"kind": "D"})
    one = Replacement(document=file.documents[0], values=values, heads=("why C", "why D"))
    assert patch(file, [one]) == (
        "# mine\n# why C\nkind: C\nname: a\n---\n# why D\nkind: D\n---\nkind: B\n"
    )


def test_a_comment_stands_above_what_is_left_where_the_first_key_goes() -> None:
    file = read_file("a.yaml", b"# of a\na: 1\nb: 2\n")
    one = Replacement(document=file.documents[0], values=({"b": 2},), heads=("why",))
    assert patch(file, [one]) == "# why\n# of a\nb: 2\n"


def test_no_comment_is_written_where_none_can_stand() -> None:
    file = read_file("a.json", b'{"kind": "A"}\n')
    one = Replacement(document=file.documents[0], values=({"kind": "C"},), heads=("why",))
    assert patch(file, [one]) == '{"kind": "C"}\n'


def test_a_long_comment_has_several_lines_in_the_file_s_own_breaks() -> None:
    file = read_file("a.yaml", b"kind: A\r\n")
    words = " ".join(["word"] * 20)
    one = Replacement(document=file.documents[0], values=({"kind": "C"},), heads=(words,))
    found = patch(file, [one])
    assert isinstance(found, str)
    lines = found.split("\r\n")
    assert [line[:6] for line in lines] == ["# word", "# word", "kind: ", ""]
    assert " ".join(line[2:] for line in lines[:2]) == words
