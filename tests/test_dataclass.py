"""Dataclasses that are made late are what the standard library makes: by rule and one by one."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from itertools import product
from typing import Any

import pytest

from kumamigrate import dataclass as late
from tests.cases import ROOT

OPTIONS = [
    dict(zip(("frozen", "slots", "kw_only", "eq", "order"), chosen, strict=True))
    for chosen in product((False, True), repeat=5)
    if chosen[3] or not chosen[4]  # order needs eq, there as here
]


def _made(module: Any, options: dict[str, bool]) -> Any:
    class Thing:
        """Some fields of every kind."""

        name: str
        size: int = 1
        parts: tuple[str, ...] = ()
        known: dict[str, int] = module.field(default_factory=dict, compare=False, repr=False)
        made: list[int] = module.field(default_factory=lambda: [7], init=False, compare=False)
        word: str = module.field(default="w", repr=False)

        @property
        def double(self) -> int:
            return self.size * 2

    return module.dataclass(**options)(Thing)


def _seen(act: Any) -> Any:
    """What comes of something, an error by its kind."""
    try:
        return act()
    except Exception as error:
        return type(error).__name__


def _behaviour(kind: Any, *, kw_only: bool) -> dict[str, Any]:
    one, same = kind(name="a"), kind(name="a")
    other = kind(name="b", size=2, parts=("x",), known={"k": 1})
    listed = dataclasses.fields(kind)
    return {
        "repr": repr(other).split(".")[-1],
        "values": [getattr(other, field.name) for field in listed],
        "fields": [(f.name, f.type, f.init, f.repr, f.compare) for f in listed],
        "names": [f.name for f in late.fields(one)],
        "equal": (one == same, one == other, one != other, one == 3),
        "hash": _seen(lambda: hash(one) == hash(same)),
        "order": (_seen(lambda: one < other), _seen(lambda: one >= other), _seen(lambda: one < 3)),
        "set": _seen(lambda: setattr(one, "name", "z")),
        "new": _seen(lambda: setattr(one, "nowhere", "z")) is not None,  # one kind or another
        "delete": _seen(lambda: delattr(one, "size")),
        "apart": (kind(name="a").known is not kind(name="a").known, kind(name="a").made),
        "replaced": [dataclasses.replace(other, size=5).size, late.replace(other, size=5).known],
        "wrong": [
            _seen(lambda: kind()),
            _seen(lambda: kind(name="a", nothing=1)),
            _seen(lambda: kind(name="a", made=[1])),
            _seen(lambda: late.replace(other, nothing=1)),
            _seen(lambda: kind("a", 4).size),
        ],
        "match": kind.__match_args__,
        "is": (dataclasses.is_dataclass(kind), other.double, kind.__doc__, kind.__name__),
        "copies": (copy.copy(other).size, copy.deepcopy(other).known),
        "default": _seen(lambda: kind.size) if "__slots__" not in vars(kind) else "",
        "dict": (dataclasses.asdict(other), hasattr(other, "__dict__"), kw_only),
    }


@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: " ".join(k for k, v in o.items() if v))
def test_a_class_made_late_behaves_as_one_of_the_standard_library(options: dict[str, bool]) -> None:
    kw_only = options["kw_only"]
    mine, theirs = (
        _behaviour(_made(module, options), kw_only=kw_only) for module in (late, dataclasses)
    )
    assert mine == theirs


@late.dataclass(frozen=True, slots=True)
class Pickled:
    """At the top of a module, where pickle finds it."""

    name: str
    size: int = 0


def test_objects_go_through_pickle() -> None:
    one = Pickled("a", 3)
    assert pickle.loads(pickle.dumps(one)) == one


def test_a_frozen_object_says_so() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        Pickled("a").name = "b"  # type: ignore[misc]  # that is what is tried


def test_outside_the_tests_frozen_objects_differ_in_that_nothing_holds_them() -> None:
    """Then they are made three times as fast; the type checker holds them there."""
    text = (
        "from tests.test_dataclass import *\n"
        "from tests.test_dataclass import _behaviour, _made\n"
        "import os\n"
        "assert '__setattr__' in vars(Pickled)\n"
        "del os.environ[late.HOLD_FROZEN]\n"
        "for options in OPTIONS:\n"
        "    kinds = [_made(module, options) for module in (late, dataclasses)]\n"
        "    mine, theirs = (_behaviour(kind, kw_only=options['kw_only']) for kind in kinds)\n"
        "    if options['frozen']:\n"
        "        for name in ('set', 'new', 'delete'):\n"
        "            mine.pop(name), theirs.pop(name)\n"
        "    assert mine == theirs, options\n"
        "kinds[0](name='a').name = 'b'\n"
    )
    subprocess.run([sys.executable, "-c", text], cwd=ROOT, check=True)


def test_fields_are_not_inherited() -> None:
    for module in (late, dataclasses):
        with pytest.raises(TypeError, match="standard library"):
            late.dataclass(type("Below", (_made(module, {}),), {"__annotations__": {"more": int}}))


def test_what_a_class_says_itself_is_kept() -> None:
    @late.dataclass(frozen=True)
    class Own:
        name: str

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

        def __repr__(self) -> str:
            return "mine"

    assert (Own("a") == Own("b"), hash(Own("a")), repr(Own("a"))) == (True, 5, "mine")


def test_a_default_that_could_change_is_refused() -> None:
    class Wrong:
        known: dict[str, int] = {}  # noqa: RUF012  # that is what is tried

    for module in (late, dataclasses):
        with pytest.raises(ValueError, match="default_factory"):
            module.dataclass(Wrong)


def test_a_class_of_the_standard_library_is_replaced_as_well() -> None:
    @dataclasses.dataclass(frozen=True)
    class Other:
        name: str

    assert late.replace(Other("a"), name="b") == Other("b")


def test_nothing_is_compiled_before_the_first_object() -> None:
    @late.dataclass(frozen=True)
    class Late:
        name: str

    stub = Late.__init__
    Late("a")
    assert Late.__init__ is not stub
    assert Late.__init__.__code__.co_varnames[:2] == ("self", "name")
