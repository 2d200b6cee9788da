"""A report in the forms that people and code hosts read, each a function of the report's data.

A form is imported when it is asked for: the hook has a moment's time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

Report = Mapping[str, Any]
_OF_PROOFS = ("markdown", "html")
"""Forms that show a proof as it is; others show it as findings."""


def formatted(form: str, report: Report) -> str:
    """Return a report in a form: but for JSON a module of its name with a function of its name."""
    if form == "json":
        return json.dumps(report, indent=1) + "\n"
    if form not in _OF_PROOFS and report["schema"].startswith("kumamigrate.proof/"):
        from kumamigrate.report.formats.asfindings import with_findings

        report = with_findings(report)
    module = import_module(f"kumamigrate.report.formats.{form}")
    return cast("Callable[[Report], str]", getattr(module, form))(report)


__all__ = ["Report", "formatted"]
