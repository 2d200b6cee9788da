"""An expression that is compiled late is told from one that was compiled at once by nobody."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from kumamigrate.pattern import late_patterns, pattern
from tests.cases import ROOT


@pytest.mark.parametrize("flags", [0, re.MULTILINE, re.IGNORECASE])
def test_a_late_pattern_does_what_a_pattern_does(flags: re.RegexFlag | int) -> None:
    text = "^(?P<word>[a-z]+)"
    late, real = pattern(text, flags), re.compile(text, flags)
    line = "one\nTwo"
    assert [m.span() for m in late.finditer(line)] == [m.span() for m in real.finditer(line)]
    assert late.sub("x", line) == real.sub("x", line)
    assert (late.match("1"), late.pattern, late.flags) == (None, text, real.flags)
    assert repr(late) == repr(real)
    assert late.findall(b"x".decode()) == ["x"]


def test_what_is_no_expression_is_an_error_when_it_is_used() -> None:
    with pytest.raises(re.error):
        pattern("(").search("x")


def test_compiling_is_put_off_only_meanwhile() -> None:
    original = re.compile
    with pytest.raises(KeyError), late_patterns():
        assert re.compile is not original
        raise KeyError
    assert re.compile is original


def test_every_expression_of_the_tool_can_be_compiled() -> None:
    """Late ones would else be wrong for the first user who needs them."""
    script = (
        "import importlib, pkgutil, re, kumamigrate\n"
        "from kumamigrate.pattern import pattern\n"
        "found = 0\n"
        "for one in pkgutil.walk_packages(kumamigrate.__path__, 'kumamigrate.'):\n"
        "    if one.name.endswith('__main__'): continue\n"
        "    for value in vars(importlib.import_module(one.name)).values():\n"
        "        if isinstance(value, pattern): value.flags; found += 1\n"
        "assert found > 100, found\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)


def test_the_python_reader_still_reads() -> None:
    script = (
        "from kumamigrate.source.reading.parser import yaml\n"
        "assert yaml.load('a: [1, 2001-01-01, yes]', Loader=yaml.SafeLoader)['a'][2] is True\n"
        "try: yaml.load('a: \\x01', Loader=yaml.SafeLoader)\n"
        "except yaml.reader.ReaderError: pass\n"
        "else: raise SystemExit('read')\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True)
