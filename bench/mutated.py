"""A plugin of pytest that loads one module from another file: a fault that mutants.py seeded."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType

MODULE, _, FILE = os.environ["KUMAMIGRATE_MUTANT"].partition("=")


class _Mutant(MetaPathFinder):
    def find_spec(
        self, fullname: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_file_location(fullname, FILE) if fullname == MODULE else None


sys.meta_path.insert(0, _Mutant())
