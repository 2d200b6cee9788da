"""`python -m kumamigrate` and the `kumamigrate` command."""

from __future__ import annotations

import gc
import os
import sys

NEW_OBJECTS = 300_000
"""So many objects come up before cycles are looked for. What a run makes it mostly keeps, and
with Python's 700 the search for cycles took half of the time to parse a repository."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(NEW_OBJECTS, 5, 5)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:  # closed by who called
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115
        else:
            stream.reconfigure(errors="backslashreplace")
    from kumamigrate.cli import app

    try:
        code = app()
    finally:
        gc.freeze()  # nobody needs the cycles that Python looks for once more when it ends
    sys.exit(code)


if __name__ == "__main__":
    main()
