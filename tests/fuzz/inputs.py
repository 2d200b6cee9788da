"""Inputs that nobody would write: bytes, text in the manner of YAML, damaged policies, words."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

FIXTURES = Path(__file__).resolve().parent.parent.parent / "fixtures"

TOKENS = (
    *(
        "{{ .Values.x }}",
        "{{ if .x }}",
        "{{ end }}",
        "{% if x %}",
        "#@ if x:",
        "#@ end",
        "<%= x %>",
    ),
    *("&a ", "*a", "<<: *a", "!vault x", "? ", "| ", ">-", "'", '"', "[", "]", "{", "}", ",", ": "),
    *("- ", "---", "...", "%YAML 1.1", "#", "# x", "\t", "\r", "\0", "\ufeff", "\u2028", "\x85"),
    *(
        "\x1b[31m",
        "\ud800".encode("utf-8", "replace").decode(),
        "\u00b2",
        "null",
        "~",
        "n",
        "1e999",
    ),
    *("9" * 5000, "0x" + "f" * 40, "-1", "[]", "{}", "sops: {mac: x}", "kind: List\nitems:", "*"),
    *("kuma.io/mesh: other", "name: t", "mesh: n", "${x}", "ENC[AES256_GCM,data:x]", "\\"),
)
"""What a text is damaged with: what YAML, templates, terminals or Kuma give a meaning."""


def _bases() -> tuple[str, ...]:
    """Return manifests that rules have something to say about."""
    files = sorted(FIXTURES.glob("*/rewrites/before/*.y*ml"))
    return tuple(text for f in files if len(text := f.read_text(encoding="utf-8")) < 4000)


BASES = _bases()


def damaged(text: str, seed: int) -> str:
    """Return a text with a few things wrong, the same for the same seed."""
    chance = random.Random(seed)
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        token = chance.choice(TOKENS)
        match chance.randrange(7):
            case 0:
                del lines[at]
            case 1:
                lines.insert(at, lines[chance.randrange(len(lines))])
            case 2:
                lines[at] = " " * chance.randint(1, 3) + lines[at]
            case 3:
                column = chance.randrange(len(lines[at]) + 1)
                lines[at] = lines[at][:column] + token + lines[at][column:]
            case 4:
                key, colon, _ = lines[at].partition(":")
                lines[at] = f"{key}{colon} {token}\n"
            case 5:
                lines.insert(at, f"{token}\n")
            case _:
                lines[at] = lines[at].rstrip("\r\n") + chance.choice(("\r\n", "\r", "", "\n\n"))
        lines = lines or [""]
    return "".join(lines)


LINE = re.compile(r"( *(?:- )?)([\w./-]+):(?: (.*))?")
"""What `altered` takes for a line: indentation, key, value."""


@cache
def manifests() -> tuple[str, ...]:
    """Return all manifests of the fixtures before a run, but the longest."""
    files = sorted(FIXTURES.glob("*/*/before/**/*.y*ml"))
    return tuple(text for f in files if len(text := f.read_text(encoding="utf-8")) < 6000)


@cache
def _said() -> Mapping[str, Sequence[str]]:
    """Return the values that manifests give each key on its line."""
    out: dict[str, set[str]] = defaultdict(set)
    for text in manifests():
        for line in map(LINE.fullmatch, text.splitlines()):
            if line and line[3]:
                out[line[2]].add(line[3])
    return {key: sorted(values) for key, values in out.items()}


def altered(text: str, seed: int) -> str:
    """Return a manifest with a few things otherwise that most readers can still read."""
    chance = random.Random(seed)
    lines = text.splitlines(keepends=True) or [""]
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        end = _block(lines, at)
        line = LINE.fullmatch(lines[at].rstrip("\n"))
        match chance.randrange(6):
            case 0:
                del lines[at:end]
            case 1:
                lines[end:end] = lines[at:end]
            case 2 if line and line[3]:
                value = chance.choice(_said().get(line[2], TOKENS))
                lines[at] = f"{line[1]}{line[2]}: {value}\n"
            case 3 if line:
                key = chance.choice(tuple(_said()))
                lines[at] = lines[at].replace(line[2], key, 1)
            case 4:
                other = chance.choice(manifests()).splitlines(keepends=True)
                there = chance.randrange(len(other))
                indent = len(lines[at]) - len(lines[at].lstrip(" "))
                moved = other[there : _block(other, there)]
                ours = len(moved[0]) - len(moved[0].lstrip(" "))
                lines[at:at] = [" " * indent + one[ours:] for one in moved]
            case _:
                comment = chance.choice(("# kept\n", "\n", "  # kept\n"))
                lines[at] = lines[at].rstrip("\n") + comment
        lines = lines or [""]
    return "".join(lines)


def _block(lines: Sequence[str], at: int) -> int:
    """Return where what stands below a line by its indentation ends."""
    indent = len(lines[at]) - len(lines[at].lstrip(" "))
    end = at + 1
    while end < len(lines) and lines[end].startswith(" " * (indent + 1)):
        end += 1
    return end


def repository(number: int, seed: int) -> dict[str, bytes]:
    """Return so many files, altered and damaged, by name.

    In one repository of three all files speak of the same resources. In the others each has meshes
    of its own, so that what is wrong with one is no matter of the rest; and in every third nothing
    is damaged, so that the most is written.
    """
    chance = random.Random(seed)
    files = {}
    for at in range(number):
        change = altered if at % 4 or seed % 3 == 2 else damaged
        text = change(chance.choice(manifests()), chance.randrange(2**32))
        if seed % 3:
            text = NAMED.sub(rf"\g<0>-{at}", text)
        files[f"f{at:04}.yaml"] = text.encode("utf-8", "surrogatepass")
    return files


NAMED = re.compile(
    r"^(?:type: Mesh\n(?:.*\n)*?name:|kind: Mesh\n(?:.*\n)*?  name:|mesh:|    kuma.io/mesh:) [\w-]+"
    r"|(?<=^metadata:\n)  name: [\w-]+",
    re.MULTILINE,
)
"""Where a manifest names a mesh, or a resource on Kubernetes."""

policies = st.builds(damaged, st.sampled_from(BASES), st.integers(0, 2**32))
texts = st.lists(
    st.sampled_from((*TOKENS, "\n", "\n  ", "kuma.io/v1alpha1", "type: MeshTimeout\n", "spec:")),
    max_size=40,
).map("".join)
data = st.one_of(
    policies.map(lambda text: text.encode("utf-8", "surrogatepass")),
    texts.map(lambda text: b"kuma.io\n" + text.encode("utf-8", "surrogatepass")),
    st.binary(max_size=200).map(lambda raw: b"type: MeshTimeout\n" + raw),
)
WORDS = (
    *("run", "check", "prove", "inspect", "rule", "rules", "snapshot", ".", "a.yaml", "-", "--"),
    *("--target", "--from", "3.0", "2.14", "2.9", "1.0", "", "--dry-run", "--format", "json", "x"),
    *("--inventory", "--select", "--ignore", "--accept", "from-section", "--stage", "contract"),
    *("--labels", "a=b", "--proxy", "--zone", "--against", "HEAD", "--diff", "p.diff", "\x1b[31m"),
    *("baseline", "write", "prune", "apply", "p.json", "--plan", "--baseline", "none", "--fail-on"),
    *("advice", "--hold", "activation", "--dead", "--deletions", "kubectl", "--answers", "-i"),
    *(
        "from-section@a.yaml:3",
        "--mesh-services",
        "Exclusive",
        "--resources",
        "--control-plane-mode",
        "global",
        "\u00b2",
    ),
)
words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6)
