"""A small repository, run through the whole pipeline, with what a reader of a report looks at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kumamigrate.flow.pipeline import check, migrate
from kumamigrate.flow.runoutcome import Outcome
from kumamigrate.model.state import Environment
from kumamigrate.report.exitcode import exit_of_check, exit_of_run
from kumamigrate.report.screen.runscreen import run_lines
from kumamigrate.report.styled import plain
from kumamigrate.world.options import Options
from kumamigrate.world.survey import scene_of

EXCLUSIVE = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
DISABLED = "type: Mesh\nname: default\nmeshServices: {mode: Disabled}\n"


@dataclass(frozen=True)
class Run:
    """What a run would do, and the files it started from."""

    outcome: Outcome
    files: Mapping[str, str]

    @property
    def exit(self) -> int:
        """The exit code after writing."""
        return int(exit_of_run(self.outcome, written=True))

    @property
    def after(self) -> dict[str, str]:
        """The files as the run leaves them."""
        out = dict(self.files)
        for path, (_, new) in self.outcome.texts.items():
            out.pop(path, None)
            if new is not None:
                out[path] = new.decode()
        return out

    @property
    def found(self) -> list[tuple[str, str, str]]:
        """Rule, status and resource of every finding."""
        return sorted(
            (f.rule, f.status.value, f.resource.name if f.resource else "")
            for f in self.outcome.findings
        )

    @property
    def said(self) -> str:
        """The text a user reads."""
        return plain(run_lines(self.outcome, written=True))

    def of(self, rule: str) -> list[Any]:
        """Return the findings of one rule."""
        return [f for f in self.outcome.findings if f.rule == rule]

    def effects(self, claim: str = "live") -> set[str]:
        """Return what kinds of difference the proof of the run names."""
        proof = self.outcome.proof
        return {w.effect.value for w in proof.witnesses(claim)} if proof is not None else set()


def run(
    folder: Path,
    files: Mapping[str, str] | str,
    *,
    inventory: str = "",
    mesh_services: str | None = None,
    mode: str = "zone",
    zone: str = "default",
    initial_policies: str | None = "none",
    only_check: bool = False,
    **options: Any,
) -> Run:
    """Write the files below a folder and return what a run over them would do.

    `initial_policies` is None where a test is about not knowing them.
    """
    listed = {"a.yaml": files} if isinstance(files, str) else files
    root = folder / "repository"
    for name, text in listed.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    if inventory:
        (folder / "inventory.yaml").write_text(inventory)
        options["inventory"] = (folder / "inventory.yaml",)
    environment = Environment(
        mode=mode, zone=zone, mesh_services=mesh_services, initial_policies=initial_policies
    )
    asked = Options(environment=environment, **options)
    scene = scene_of([Path()], root, asked)
    outcome = check(scene, asked) if only_check else migrate(scene, asked)
    return Run(outcome, listed)


def exit_of_looking(done: Run) -> int:
    """Return the exit code of `check`."""
    return int(exit_of_check(done.outcome))


def documents(*texts: str) -> str:
    """Put documents into one file."""
    return "---\n".join(texts)
