"""`python -m kumamigrate` and the `kumamigrate` command."""

from __future__ import annotations

import gc

NEW_OBJECTS = 50_000
"""So many objects come up before cycles are looked for. What a run makes it mostly keeps, and
with Python's 700 the search for cycles took half of the time to parse a repository."""


def main() -> None:
    """Run the command line."""
    gc.set_threshold(NEW_OBJECTS, 5, 5)
    from kumamigrate.cli import app

    app()


if __name__ == "__main__":
    main()
