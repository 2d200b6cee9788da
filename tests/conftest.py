"""The programs that `dev.py tools` built are found as if they were installed."""

from __future__ import annotations

import os

from tests.cases import ROOT

os.environ["PATH"] = os.pathsep.join((str(ROOT / ".tools"), os.environ.get("PATH", os.defpath)))
