"""Laws of reading and editing, over random values in random layouts."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kumamigrate.source.editing.align import same
from kumamigrate.source.editing.patch import patch
from kumamigrate.source.node import ScalarNode, walk
from kumamigrate.source.reading.load import json_value, read_file
from kumamigrate.source.text import Reason, Refusal, SourceFile
from kumamigrate.source.value import Moved, Replacement
from tests.cases import LOADER
from tests.frontdoor import drawn
from tests.source.layouts import edited, value, with_moves, without_moves, written

SEEDS = st.integers(0, 2**32)
CORPUS = Path(__file__).parents[2].parent / "shared" / "corpus"
many = settings(
    max_examples=drawn(400),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)


def sample(seed: int) -> tuple[random.Random, dict[str, Any], str]:
    """Return a random mapping and its text, another seed's if this one's are not YAML."""
    while True:
        rng = random.Random(seed)
        item = value(rng)
        if isinstance(item, dict) and item:
            text = written(rng, item)
            file = read_file("a.yaml", text.encode())
            if not file.refusals and same(json_value(file.documents[0].root), item):
                return rng, item, text
        seed += 1


def comments(text: str) -> Counter[str]:
    """Return the numbered comments of a random layout."""
    return Counter(part.split()[0] for part in text.split("# note ")[1:])


@given(SEEDS, st.booleans())
@many
def test_render_after_reading_is_the_identity(seed: int, bom: bool) -> None:
    _, _, text = sample(seed)
    data = (b"\xef\xbb\xbf" if bom else b"") + text.encode()
    assert read_file("a.yaml", data).render() == data


@given(SEEDS)
@many
def test_every_scalar_stands_at_its_place(seed: int) -> None:
    _, _, text = sample(seed)
    root = read_file("a.yaml", text.encode()).documents[0].root
    assert root is not None
    for _, node in walk(root):
        if isinstance(node, ScalarNode) and node.style in ("plain", "single", "double"):
            again = read_file("b.yaml", text[node.start : node.end].encode()).documents
            found = json_value(again[0].root) if again else None
            assert same(found, node.value)


@given(SEEDS)
@many
def test_equal_values_give_the_identical_text(seed: int) -> None:
    _, item, text = sample(seed)
    file = read_file("a.yaml", text.encode())
    assert patch(file, [Replacement(document=file.documents[0], values=(item,))]) == text


def check_patch(file: SourceFile, item: dict[str, Any], values: tuple[Any, ...]) -> str:
    text = patch(file, [Replacement(document=file.documents[0], values=values)])
    assert isinstance(text, str), text
    after = read_file("a.yaml", text.encode())
    for document, wanted in zip(after.documents, values, strict=True):
        assert same(json_value(document.root), without_moves(item, wanted))
    old, new = comments(file.text), comments(text)
    copied = len(values) > 1 and same(item, without_moves(item, values[0]))
    # What is copied beside a resource that stays as it is takes comments along, each once.
    assert new <= old + old if copied else new == old
    assert not old - new
    assert text.endswith(("\n", "\r")) or not file.text.endswith("\n")
    if "\n" in text and "\n" in file.text:
        assert ("\r\n" in text) == ("\r\n" in file.text)
    return text


@given(SEEDS)
@many
def test_edits_say_the_new_value_and_keep_every_comment(seed: int) -> None:
    rng, item, text = sample(seed)
    file = read_file("a.yaml", text.encode())
    check_patch(file, item, (edited(rng, item),))


@given(SEEDS)
@many
def test_moves_and_new_documents_say_what_they_should(seed: int) -> None:
    rng, item, text = sample(seed)
    file = read_file("a.yaml", text.encode())
    first = {key: with_moves(rng, item, child) for key, child in edited(rng, item).items()}
    second = Moved((), {k: with_moves(rng, item, c, 0.05) for k, c in edited(rng, item).items()})
    got = patch(file, [Replacement(document=file.documents[0], values=(first, second))])
    if not isinstance(got, str):
        # Wild moves may be more than the engine can do; then it must say so and write nothing.
        assert all(isinstance(r, Refusal) and "own check" in r.detail for r in got)
        return
    check_patch(file, item, (first, second))


@given(SEEDS)
@many
def test_a_changed_scalar_changes_its_line_only(seed: int) -> None:
    rng, item, text = sample(seed)
    file = read_file("a.yaml", text.encode())
    root = file.documents[0].root
    assert root is not None
    leaves = [
        (path, node)
        for path, node in walk(root)
        if isinstance(node, ScalarNode)
        and path
        and node.style not in ("literal", "folded")
        and node.end > node.start
    ]
    if not leaves:
        return
    path, node = rng.choice(leaves)
    new = rng.choice(["other", "on", 7, True, "it's # x"])
    copy: Any = json_value(root)
    parent = copy
    for part in path[:-1]:
        parent = parent[part]
    parent[path[-1]] = new
    got = check_patch(file, item, (copy,))
    assert got[: node.start] == text[: node.start]
    assert got[len(got) - (len(text) - node.end) :] == text[node.end :]


@given(SEEDS)
@many
def test_a_dropped_entry_takes_only_its_own_lines(seed: int) -> None:
    rng, item, text = sample(seed)
    if len(item) < 2 or text.lstrip().startswith("{"):
        return
    file = read_file("a.yaml", text.encode())
    key = rng.choice(list(item))
    got = check_patch(file, item, ({k: v for k, v in item.items() if k != key},))
    old = Counter(line for line in text.splitlines() if line.strip())
    new = Counter(line for line in got.splitlines() if line.strip())
    added = new - old
    assert all(line.lstrip().startswith("#") for line in added), added


@given(SEEDS, st.integers(0, 2))
@many
def test_other_documents_stay_byte_for_byte(seed: int, index: int) -> None:
    parts = []
    items = []
    for offset in range(3):
        rng, item, text = sample(seed + offset * 1000)
        parts.append(text.replace("\r\n", "\n").rstrip("\n") + "\n")
        items.append(item)
    separators = ["---\n", "\n---\n\n"]
    joined = parts[0] + rng.choice(separators) + parts[1] + rng.choice(separators) + parts[2]
    file = read_file("a.yaml", joined.encode())
    if [json_value(d.root) for d in file.documents] != items:
        return
    wanted = edited(rng, items[index])
    text = patch(file, [Replacement(document=file.documents[index], values=(wanted,))])
    assert isinstance(text, str)
    for other in {0, 1, 2} - {index}:
        assert parts[other] in text


def _split(rng: random.Random, item: dict[str, Any]) -> tuple[Any, ...]:
    """Return two halves of a resource, as rules write them: what goes into a copy behind it."""
    going = set(rng.sample(list(item), rng.randrange(len(item))))
    first = {key: Moved((key,)) for key in item if key not in going}
    copied = {key: Moved((key,), anew=True) for key in first if rng.random() < 0.7}
    return first, {**copied, **{key: Moved((key,)) for key in going}} or {"kind": "x"}


@given(SEEDS)
@many
def test_several_documents_change_at_once(seed: int) -> None:
    rng = random.Random(seed)
    samples = [sample(seed + offset * 1000)[1:] for offset in range(rng.randint(2, 4))]
    separators = ["---\n", "\n---\n\n", "--- # note 99\n", "# note 98\n---\n", "...\n---\n"]
    text = rng.choice(["", "---\n", "# note 97\n", "\n"])
    for number, (_, part) in enumerate(samples):
        text += rng.choice(separators) if number else ""
        text += part.replace("\r\n", "\n").rstrip("\n") + "\n"
    file = read_file("a.yaml", text.encode())
    if not same([document.value for document in file.documents], [item for item, _ in samples]):
        return
    wanted: list[Any] = []
    asked: list[Replacement] = []
    for document, (item, _) in zip(file.documents, samples, strict=True):
        made = rng.choice([(), (item,), (edited(rng, item),), _split(rng, item)])
        heads = ("why",) if made and rng.random() < 0.3 else ()
        asked.append(Replacement(document=document, values=made, heads=heads))
        wanted += [without_moves(item, one) for one in made]
    got = patch(file, asked)
    assert isinstance(got, str), got
    assert same([one.value for one in read_file("a.yaml", got.encode()).documents], wanted)
    assert not comments(text) - comments(got)
    list(yaml.load_all(got, LOADER))  # nothing is left that another reader stumbles over


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
def test_every_file_of_the_corpus_is_read_or_refused_with_reason() -> None:
    reasons: Counter[Reason] = Counter()
    read = 0
    for path in sorted(CORPUS.rglob("*")):
        if not path.is_file() or path.suffix not in (".yaml", ".yml", ".json", ".j2", ".tpl"):
            continue
        data = path.read_bytes()
        file = read_file(path.name, data)
        assert file.render() == data
        for document in file.documents:
            read += document.root is not None
            if document.root is None:
                continue
            one = Replacement(document=document, values=(json_value(document.root),))
            assert patch(file, [one]) == file.text
        reasons.update(r.reason for r in file.refusals)
        assert all(r.line > 0 and r.detail and r.advice for r in file.refusals)
    assert read > 500
    assert sum(reasons.values()) < 0.05 * read, reasons


@pytest.mark.skipif(not CORPUS.is_dir(), reason="the corpus is not beside this checkout")
def test_real_manifests_can_be_edited() -> None:
    rng = random.Random(7)
    tried = failed = 0
    for path in sorted(CORPUS.rglob("*.yaml")):
        file = read_file("a.yaml", path.read_bytes())
        for document in file.documents:
            item = json_value(document.root)
            if not isinstance(item, dict) or not item:
                continue
            new = {k: with_moves(rng, item, edited(rng, v, 1), 0.05) for k, v in item.items()}
            tried += 1
            got = patch(
                file, [Replacement(document=document, values=(new, Moved((), {**item, "x": "y"})))]
            )
            if not isinstance(got, str):
                assert all(r.line for r in got)
                failed += any("own check" in r.detail for r in got)
    assert tried > 500
    assert failed <= tried * 0.005
