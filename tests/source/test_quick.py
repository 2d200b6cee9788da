"""What the quick reader returns is what the tree says; where it could not be, it is in doubt."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator

import pytest

from kumamigrate.source.node import JSON, MapNode, json_value, walk
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.reading.nested import _is_kuma, is_kuma
from kumamigrate.source.reading.parse import parse_document
from kumamigrate.source.reading.quick import quick_start, quick_value
from kumamigrate.source.reading.unparsable import UnparsableError
from kumamigrate.source.text import FieldPath
from tests.cases import ROOT

SERVICE = """\
# the shop
apiVersion: v1
kind: Service
metadata: {name: "shop", labels: {a: 'yes', b: yes, c: 0o17, d: 1.0, e: ~}}
spec:
  selector:
    app: shop   # why
  note: |
    kept

  folded: >-
    one
    two
  ports:
  - port: 80
    targetPort: http
  -   name: "x\\ty"
"""


def _tree(text: str) -> tuple[str, int] | None:
    try:
        root = parse_document(text, Masked(text=text), 0, len(text))
    except UnparsableError:
        return None
    return None if root is None else (json.dumps(json_value(root)), root.start)


def _quick(text: str) -> tuple[str, int] | None:
    found = quick_value(text)
    return None if found is None else (json.dumps(found[0]), found[1])


POLICY = """\
# who may wait
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: slow, namespace: kuma-system}
spec:
  targetRef: {kind: MeshSubset, tags: {'kuma.io/service': "*"}}
  to:
  - targetRef: {kind: Mesh}   # all of them; a*b, c!
    default: {http: {requestTimeout: 5s}}
"""


def _paths(value: JSON, path: FieldPath = ()) -> Iterator[FieldPath]:
    yield path
    inner = value.items() if isinstance(value, dict) else ()
    inner = enumerate(value) if isinstance(value, list) else inner
    for key, child in inner:
        yield from _paths(child, (*path, key))


def _same_places(text: str, value: JSON) -> bool:
    root = parse_document(text, Masked(text=text), 0, len(text))
    assert root is not None
    known = {path: node.start for path, node in walk(root)}
    assert known.keys() == set(_paths(value))
    return all(quick_start(text, path) == start for path, start in known.items())


def test_a_plain_document_reads_as_its_tree_does() -> None:
    assert _quick(SERVICE) == _tree(SERVICE) is not None


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("a: &x 1\nb: *x\n", id="anchors"),
        pytest.param("a: !!str 1\n", id="tags"),
        pytest.param("<<: {a: 1}\n", id="merges"),
        pytest.param("a: ${NAME}\n", id="substitutions"),
        pytest.param("a: 1\na: 2\n", id="a key twice"),
        pytest.param("1: a\n", id="a key that is no string"),
        pytest.param("[a]: b\n", id="a key that is no scalar"),
        pytest.param("? a\n: b\n", id="an explicit key"),
        pytest.param("a: [\n", id="no YAML"),
        pytest.param("- a\n", id="no mapping"),
        pytest.param("", id="nothing"),
        pytest.param("a: " + "[" * 60 + "]" * 60, id="deep flow"),
        pytest.param("a: " + "[" * 100_000, id="very deep flow"),
        pytest.param("a:\n" + "- " * 100_000, id="very deep sequence"),
        pytest.param("\n".join(" " * n + "a:" for n in range(300)), id="deep mapping"),
    ],
)
def test_the_unusual_is_in_doubt(text: str) -> None:
    assert quick_value(text) is None


@pytest.mark.parametrize("seed", range(20))
def test_damaged_documents_read_as_their_trees_do_or_are_in_doubt(seed: int) -> None:
    rng = random.Random(seed)
    sure = 0
    for _ in range(60):
        letters = list(rng.choice([SERVICE, POLICY]))
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(letters))
            letters[at : at + rng.randrange(3)] = rng.choice(["", *"{}[]:,-#'\"|> \n0y~\r"])
        text = "".join(letters)
        found = _quick(text)
        sure += found is not None
        assert found is None or found == _tree(text), text
        assert found is None or _same_places(text, json.loads(found[0])), text
    assert sure > 5


def test_the_tree_of_a_document_read_quickly_is_there_when_asked_for() -> None:
    (document,) = read_file("a.yaml", SERVICE.encode()).documents
    assert document.quick is not None
    assert document.root is not None
    assert document.root is document.root
    assert json_value(document.root) == document.value
    assert document.root.start == document.start


def test_a_policy_is_read_quickly_and_says_where_its_fields_stand() -> None:
    (document,) = read_file("a.yaml", POLICY.encode()).documents
    assert document.quick is not None
    field = ("spec", "to", 0, "default", "http")
    asked = [document.start_of(field) for _ in range(5)]
    assert asked == [POLICY.index("{requestTimeout")] * 5
    assert document.start_of((*field, "nothing", 3)) == asked[0]
    assert document.start_of(("spec", "to", 7)) == POLICY.index("- targetRef")


@pytest.mark.parametrize("value", ["a: *x", "a: [*x]", "{a: *x}", "a: &x", "a: !x y", '{"a":*x}'])
def test_where_an_anchor_alias_or_tag_may_begin_the_tree_is_asked(value: str) -> None:
    assert quick_value(value) is None


@pytest.mark.parametrize("folder", ["fixtures"])
def test_both_readers_agree_about_every_document_of_this_repository(folder: str) -> None:
    seen = set[str]()
    for file in sorted((ROOT / folder).rglob("*.yaml")):
        text = file.read_bytes().decode("utf-8", "replace")
        for document in read_file("a.yaml", text.encode()).documents:
            chunk = text[document.span.start : document.span.end]
            if chunk in seen:
                continue  # as a fixture stands before and after
            if document.quick is not None and (found := quick_value(chunk)) is not None:
                seen.add(chunk)
                tree = parse_document(chunk, Masked(text=chunk), 0, len(chunk))
                assert isinstance(tree, MapNode)
                assert json.dumps(found[0]) == json.dumps(json_value(tree)), file
                assert _same_places(chunk, found[0]), file
                assert is_kuma(found[0]) == _is_kuma(tree), file
    assert len(seen) > 300
