"""The programs that `dev.py tools` built are found as if they were installed.

What is made up is the same at every run: a gate that is green is green again. `bench/fuzz.py` and
`--hypothesis-profile=random` try something else each time. Nothing is kept from one check for the
next: tests break the tool on purpose, under files that stay the same (`tests/cache` has its own).
What Python compiles is kept, beside the sources' folders: the tool is started many times.
"""

from __future__ import annotations

import os

from hypothesis import settings

from tests.cases import ROOT

os.environ["PATH"] = os.pathsep.join((str(ROOT / ".tools"), os.environ.get("PATH", os.defpath)))
os.environ["XDG_STATE_HOME"] = os.devnull
if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    os.environ.setdefault("PYTHONPYCACHEPREFIX", str(ROOT / ".pytest_cache" / "compiled"))
settings.register_profile("gate", derandomize=True, database=None)
settings.register_profile("random", derandomize=False)
settings.load_profile("gate")
