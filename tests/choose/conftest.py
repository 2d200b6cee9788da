"""Repositories made for a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.choose.shop import FILES, Shop

MakeShop = Callable[[Mapping[str, str]], Shop]


@pytest.fixture
def make_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MakeShop:
    """Make a repository of some files."""
    return lambda files: Shop(tmp_path / "shop", monkeypatch, files)


@pytest.fixture
def shop(make_shop: MakeShop) -> Shop:
    """A mesh with one policy that nothing reads, and one that works."""
    return make_shop(FILES)
