"""What a run or a check comes to, as a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kumamigrate.dataclass import dataclass, field
from kumamigrate.flow.claims import claim_of
from kumamigrate.flow.verdict import Whole
from kumamigrate.model.resource import Resource
from kumamigrate.prover import Proof
from kumamigrate.rewrite.change import Change
from kumamigrate.rewrite.finding import Finding
from kumamigrate.scene.held import Held
from kumamigrate.scene.scene import Scene
from kumamigrate.scene.storedstate import Rejection
from kumamigrate.world.estate import Estate
from kumamigrate.world.options import Options


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a run found and would write. Nothing has been written.

    `before` and `after` are made of all sources; `began` and `ended` are these with what each
    environment gets of them. `texts` holds the new bytes by path, None for a file to remove;
    `grounds` are what each kept change is an edit of, where somebody is asked about them. `steps`
    is what must be deployed separately, in order. `adopted` are files of `before` that are still
    to be written, `examples` what changes in files of other languages.
    """

    options: Options
    before: Scene
    after: Scene
    began: Estate
    ended: Estate
    findings: tuple[Finding, ...]
    held: tuple[Held, ...] = ()
    proof: Proof | None = None
    whole: Whole = Whole.PROVEN
    kept: tuple[Change, ...] = ()
    grounds: tuple[Estate, ...] = field(default=(), repr=False)
    adopted: frozenset[str] = frozenset()
    examples: Mapping[str, tuple[bytes, bytes]] = field(default_factory=dict)

    @property
    def claim(self) -> str:
        """Return the claim that decides, and that the headline speaks of."""
        return claim_of(self.before.source, self.before.target)

    @property
    def rejections(self) -> tuple[Rejection, ...]:
        """Return what the release in use refuses of the repository as it was."""
        return self.before.state(self.before.source)[1]

    @property
    def texts(self) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return old and new bytes of every file that changes, None for one that is not there."""
        old, new = self.before.repository, self.after.repository
        changed: dict[str, tuple[bytes | None, bytes | None]] = {}
        for path, file in old.files.items():
            later = new.files.get(path)
            if path in self.adopted:
                if later is not None:
                    changed[path] = (None, later.render())
                continue
            if later is file:
                continue  # not edited; the text of a refused file is not what its bytes say
            after = later.render() if later is not None else None
            if after != old.data[path]:
                changed[path] = (old.data[path], after)
        return changed | self._beside(changed) | dict(self.examples)

    @property
    def orphans(self) -> tuple[Resource, ...]:
        """Return adopted policies that are gone in the end: no Git ever held them, so nothing
        takes them away from the control plane."""
        left = {resource.identity for resource in self.after.repository.resources}
        return tuple(
            r
            for r in self.before.repository.resources
            if r.where is not None and r.where.path in self.adopted and r.identity not in left
        )

    def _beside(self, known: Collection[str]) -> dict[str, tuple[bytes | None, bytes | None]]:
        """Return what changes in files that hold no manifest: it moves along with the others."""
        old, new = self.began.tree.files, self.ended.tree.files
        if old is new:
            return {}
        manifests = self.before.repository.files
        return {
            path: (data, new.get(path))
            for path, data in old.items()
            if data is not None
            and new.get(path) != data
            and not (path in known or path in manifests or path in self.adopted)
        }
