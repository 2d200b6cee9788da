"""A report in the forms that code hosts read, each a function of `kumamigrate.report/1`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from kumamigrate.report.formats.github import github
from kumamigrate.report.formats.gitlab import gitlab
from kumamigrate.report.formats.junit import junit
from kumamigrate.report.formats.sarif import sarif

Report = Mapping[str, Any]


def _json(report: Report) -> str:
    return json.dumps(report, indent=1) + "\n"


FORMATS: Mapping[str, Callable[[Report], str]] = {
    "json": _json,
    "sarif": sarif,
    "github": github,
    "gitlab": gitlab,
    "junit": junit,
}

__all__ = ["FORMATS", "Report"]
