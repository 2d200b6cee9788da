"""`python -m kumamigrate` and the `kumamigrate` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from kumamigrate.cli import app

    app()


if __name__ == "__main__":
    main()
