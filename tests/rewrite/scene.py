"""Repositories in memory for tests of rules: files by path, run through the whole pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kumamigrate.flow.pipeline import migrate
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.state import Environment
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of

ROUTE_RULES = ("multi-entry-route", "route-in-target-ref")


def run(
    folder: Path,
    files: Mapping[str, str],
    *,
    rules: Iterable[str] = ROUTE_RULES,
    stage: str = "auto",
    target: str = "2.14",
    mesh_services: str | None = None,
) -> Outcome:
    """Write the files below a folder and return what a run over them would do."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    options = Options(
        target=target,
        stage=stage,
        select=tuple(rules),
        environment=Environment(mesh_services=mesh_services, initial_policies="none"),
    )
    return migrate(scene_of([Path()], folder, options), options)


def after(files: Mapping[str, str], outcome: Outcome) -> dict[str, str]:
    """Return the files as the run would leave them."""
    out = dict(files)
    for path, (_, new) in outcome.texts.items():
        out.pop(path, None)
        if new is not None:
            out[path] = new.decode()
    return out
