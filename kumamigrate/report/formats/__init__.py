"""A report in the forms that people and code hosts read, each a function of the report's data.

A form is imported when it is asked for: the hook has a moment's time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, cast

Report = Mapping[str, Any]


def formatted(form: str, report: Report) -> str:
    """Return a report in a form: but for JSON a module of its name with a function of its name."""
    if form == "json":
        return json.dumps(report, indent=1) + "\n"
    module = import_module(f"kumamigrate.report.formats.{form}")
    return cast("Callable[[Report], str]", getattr(module, form))(report)


__all__ = ["Report", "formatted"]
