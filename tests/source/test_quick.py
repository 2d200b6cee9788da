"""What the quick reader returns is what the tree says; where it could not be, it is in doubt."""

from __future__ import annotations

import json
import random

import pytest

from kumamigrate.source.node import json_value
from kumamigrate.source.reading.load import read_file
from kumamigrate.source.reading.mask import Masked
from kumamigrate.source.reading.parse import UnparsableError, parse_document
from kumamigrate.source.reading.quick import quick_value

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
        letters = list(SERVICE)
        for _ in range(rng.randrange(1, 4)):
            at = rng.randrange(len(letters))
            letters[at : at + rng.randrange(3)] = rng.choice(["", *"{}[]:,-#'\"|> \n0y~\r"])
        text = "".join(letters)
        found = _quick(text)
        sure += found is not None
        assert found is None or found == _tree(text), text
    assert sure > 5


def test_the_tree_of_a_document_read_quickly_is_there_when_asked_for() -> None:
    (document,) = read_file("a.yaml", SERVICE.encode()).documents
    assert document.quick is not None
    assert document.root is not None
    assert document.root is document.root
    assert json_value(document.root) == document.value
    assert document.root.start == document.start
