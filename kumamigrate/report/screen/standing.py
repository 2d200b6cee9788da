"""Where a value stands in the text, as it is written there; or what gives it, where no line does.

A proof names the line of the policy that wins. That line may say something else: a patch of a
kustomization overrules it, the old engine makes something of its own of it, a default fills in
what it leaves out. A reader who goes there has to find the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from kumamigrate.dataclass import dataclass, field
from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.model import duration
from kumamigrate.model.kinds import OLD_POLICIES
from kumamigrate.pattern import pattern
from kumamigrate.report.screen.fieldwords import means_off
from kumamigrate.report.screen.valuewords import in_words

DEFAULT = "the default"
OLD_ENGINE = "from the old engine"
NO_POLICY = "no policy sets it"
NO_MORE = "no new policy can set it"
_SCALAR = r""""(?:[^"\\]|\\.)*"|'[^']*'|[^\s,{}\[\]#][^,}\]#\n]*"""
_PAIR = pattern(rf"""["']?(?<![\w./-])([\w./-]++)["']?\s*:\s*({_SCALAR})""")
_AT = pattern(rf"({_SCALAR})")
_BLOCK = "|>"
"""Begins a value that stands on the lines below."""
_DERIVED = frozenset({"allowed", "matches", "name", "outbound", "", "routes", "protocol"})
"""Fields whose value is a word of this tool for what the policy says."""


Said = dict[str, list[tuple[str, int, str]]]
"""Values as they are written, by key: file, line and text."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A value for the screen: its words, the line it stands on, else what gives it. `began` is
    the line that says it before the run, whichever text lies on the disk."""

    words: str
    place: str = ""
    origin: str = ""
    began: str = ""

    @property
    def source(self) -> tuple[str, str, str]:
        """Return what tells this value from others, the same before a run and after it."""
        return self.words, self.began or self.place, "" if self.place else self.origin


@dataclass(frozen=True, kw_only=True)
class Texts:
    """One side's files, as far as they may hold a value.

    `types` tells the type of the resource at a line. `moved` tells where a line of this side
    with some words is in the text that lies on the disk, and `lost` what is said of one that is
    not there; `began` tells where it was before the run. `patches` are searched, by environment,
    for what overrules the line of a policy. `homes` tells where policies of a type and a name
    begin. Lines of a change `on_trial` are of a text that nobody has: there only these count.
    """

    files: Mapping[str, bytes | None]
    types: Callable[[str, int], str] = lambda _path, _line: ""
    moved: Callable[[str, int, str], int | None] = lambda _path, line, _words: line
    began: Callable[[str, int, str], int | None] = lambda _path, line, _words: line
    lost: str = "{0}:{1} before the run"
    patches: Mapping[str, frozenset[str]] = field(default_factory=dict)
    homes: Callable[[str, str], list[tuple[str, int]]] = lambda _kind, _name: []
    on_trial: bool = False
    kept: dict[str, Said] = field(default_factory=dict, compare=False, repr=False)

    def said_in_patches(self, environment: str) -> Said:
        """Return the values that patches of an environment say, by key; read once."""
        if environment not in self.kept:
            said: Said = {}
            for path in sorted(self.patches.get(environment, frozenset())):
                for number, text in enumerate(self.lines(path), start=1):
                    for pair in _PAIR.finditer(text):
                        key = pair[1].rsplit("/", 1)[-1]
                        said.setdefault(key, []).append((path, number, pair[2]))
            self.kept[environment] = said
        return self.kept[environment]

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file, none where it is not known."""
        return (self.files.get(path) or b"").decode("utf-8", "replace").splitlines()


def shown(witness: Witness, value: Value, texts: Texts, environment: str = "") -> Shown:
    """Return one side of a difference: its words and where they stand."""
    words = _presence(witness, value) or in_words(value.value, field=witness.field)
    off = means_off(witness.policy_type, witness.field, value.value)
    place = _placed(value.at)
    if place is None:
        return Shown("off" if off else words, origin=_origin(witness, value))
    if texts.on_trial:
        return _on_trial(witness, value, texts, "off" if off else words)
    found = _found(witness, value, texts, place, environment)
    if found is None:
        at = texts.types(place[0], place[1])
        return Shown("off" if off else words, origin=_unsaid(witness, value, at))
    written, path, line = found
    here = texts.moved(path, line, written)
    said = _bare(written) if written and _is_plain(value.value) else words
    if off:
        leaf = witness.field.rsplit(".", 1)[-1]
        said = f"off ({leaf}: {written})" if written else "off"
    if here is None:
        return Shown(said, origin=texts.lost.format(path, line))
    began = texts.began(path, line, written)
    return Shown(said, place=f"{path}:{here}", began="" if began is None else f"{path}:{began}")


def _on_trial(witness: Witness, value: Value, texts: Texts, words: str) -> Shown:
    """Return a value of a state that was never written: where its policy says it on the disk."""
    sought = 0 if words == "off" and value.value is None else value.value
    leaf = _leaf(witness)
    for path, start in texts.homes(witness.policy_type, value.policy):
        for number, key, written in _pairs(texts.lines(path), start, 1):
            if _is_plain(sought) and key == leaf and _same(written, sought):
                said = _bare(written)
                return Shown(words if words == "off" else said, place=f"{path}:{number}")
    lost = f"{value.policy}, {texts.lost}" if value.policy else texts.lost
    return Shown(words, origin=lost)


def _leaf(witness: Witness) -> str:
    return witness.field.split(" ")[0].rsplit(".", 1)[-1]


def _presence(witness: Witness, value: Value) -> str:
    """Say that something is there, or is not any more; nothing where a value is compared."""
    if "present" not in (witness.before.value, witness.after.value):
        return ""
    if value.value == "present":
        return "there"
    return "not there" if value is witness.before else "gone"


def _origin(witness: Witness, value: Value) -> str:
    """Return what gives a value for which no line is known."""
    if value.policy:
        return f"from {value.policy}, which is not in Git"
    if value.value in ("present", "absent"):
        return ""
    if witness.effect is Effect.RESIDUE and value.value is not None:
        return OLD_ENGINE if value is witness.before else NO_MORE
    if not _is_setting(witness.policy_type, witness.field):
        return ""
    return NO_POLICY if value.value is None else DEFAULT


def _is_setting(policy_type: str, field: str) -> bool:
    """Say whether a field is one of a policy, which has a default where no policy sets it."""
    from kumamigrate.effective.readings import reading_of  # a check has no differences to tell

    reading = reading_of(policy_type)
    return reading is not None and reading.has(field.split(" ", 1)[0])


def _unsaid(witness: Witness, value: Value, kind: str) -> str:
    """Return what gives a value that the lines of the policy in charge do not say: a patch that
    is not at hand, another spelling, a default."""
    if kind in OLD_POLICIES:
        return OLD_ENGINE
    if value.value is None:
        return NO_POLICY
    if witness.effect is Effect.RESIDUE:
        return OLD_ENGINE if value is witness.before else NO_MORE
    return DEFAULT if value.filled else f"from {value.policy}"


def _placed(at: str) -> tuple[str, int, int] | None:
    parts = at.rsplit(":", 2)
    if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    return parts[0], int(parts[1]), int(parts[2])


def _found(
    witness: Witness, value: Value, texts: Texts, place: tuple[str, int, int], environment: str
) -> tuple[str, str, int] | None:
    """Return what is written and where: on the line, in the block below it, in a patch."""
    path, line, column = place
    lines = texts.lines(path)
    if not 0 < line <= len(lines):
        return ("", path, line)  # a file that is not at hand: the proof's word is all there is
    if not _is_plain(value.value) or witness.field in _DERIVED:
        return ("", path, line)
    # No retries are a retry policy that is not there, and in the text a number.
    off = value.value is None and means_off(witness.policy_type, witness.field, None)
    sought = 0 if off else value.value
    if sought is None:
        return None
    text = lines[line - 1]
    said = _AT.match(text, column - 1)
    if said is not None and _same(said[1], sought):
        return (said[1].strip(), path, line)
    leaf = _leaf(witness)
    for number, key, written in _pairs(lines, line, column):
        if key == leaf and _same(written, sought):
            return (written.strip(), path, number)
    if "{{" in text or (said is not None and said[1][0] in _BLOCK):
        return ("", path, line)
    return _in_patches(sought, leaf, texts, environment, path)


def _in_patches(
    value: Any, leaf: str, texts: Texts, environment: str, base: str
) -> tuple[str, str, int] | None:
    """Return the one line of a patch that says the value, where one alone does."""
    said = texts.said_in_patches(environment)
    found = sorted(
        (path, number, written.strip(), key == leaf)
        for key in {leaf, "value"}
        for path, number, written in said.get(key, ())
        if path != base and _same(written, value)
    )
    exact = [one for one in found if one[3]] or found
    if len(exact) != 1:
        return None
    path, number, written, _ = exact[0]
    return (written, path, number)


def _pairs(lines: list[str], line: int, column: int) -> Iterator[tuple[int, str, str]]:
    """Yield the keys with a plain value of the block that starts at a place."""
    for number in range(line, len(lines) + 1):
        text = lines[number - 1]
        indent = len(text) - len(text.lstrip())
        if number > line and text.strip() and indent < column - 1:
            return
        if number > line and text.startswith("---"):
            return
        start = column - 1 if number == line else 0
        for pair in _PAIR.finditer(text, start):
            yield number, pair[1], pair[2]


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _bare(written: str) -> str:
    """Return what is written without its quotes."""
    text = written.strip()
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def _same(written: str, value: Any) -> bool:
    """Whether a text says a value, as Kuma reads both."""
    text = _bare(written)
    if isinstance(value, bool) or value is None:
        return text.lower() == str(value).lower()
    if isinstance(value, int | float):
        try:
            return float(text) == float(value)
        except ValueError:
            return False
    if text == value:
        return True
    nanoseconds = duration.parse(text)
    return nanoseconds is not None and nanoseconds == duration.parse(str(value))
