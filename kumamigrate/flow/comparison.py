"""Two estates compared, environment by environment."""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.errors import UsageError
from kumamigrate.flow.judging.everywhere import merged
from kumamigrate.flow.shard import Shard
from kumamigrate.flow.sumproof import prove_scenes
from kumamigrate.prover import Proof
from kumamigrate.prover.claimed import CARRY, LIVE, RELEASE
from kumamigrate.prover.compose import doubting
from kumamigrate.scene.scene import owned_by_both
from kumamigrate.world.estate import Estate, Site
from kumamigrate.world.uncompared import uncompared


def prove_estates(before: Estate, after: Estate, shard: Shard | None = None) -> Proof:
    """Return the proof for all environments that both sides have, or a part of them.

    What only one side has, or what changed unread, cannot be compared: every verdict is unknown
    then, and says why.
    """
    pairs = list(_pairs(before, after))
    if not pairs:
        raise UsageError(
            "the two sides have no environment in common"
            f" ({_names(before)} and {_names(after)}); name them in kumamigrate.toml"
        )
    mine = pairs if shard is None else shard.mine(pairs)
    proofs = [
        (new.name, prove_scenes(*owned_by_both(old.applied, new.applied))) for old, new in mine
    ]
    whole = after.whole
    # There may be more parts than environments: then this one has nothing to say.
    proof = merged(proofs) if proofs else Proof(release_before=whole.source,
                                                release_after=whole.target)  # fmt: skip
    known = {id(site) for pair in pairs for site in pair}
    alone = [
        f"environment {site.name} stands only in the state {side}, so nothing is known to compare"
        for side, estate in (("before", before), ("after", after))
        for site in estate.sites
        if id(site) not in known
    ]
    doubts = [*alone, *uncompared(before, after)]
    return doubting(proof, {"": doubts}, {LIVE, CARRY, RELEASE}) if doubts else proof


def compared(before: Estate, after: Estate, shard: Shard) -> tuple[str, ...]:
    """Return the names of the environments of a part that both sides have."""
    return tuple(new.name for _, new in shard.mine(list(_pairs(before, after))))


def _pairs(before: Estate, after: Estate) -> Iterator[tuple[Site, Site]]:
    if len(before.sites) == len(after.sites) == 1:
        yield before.sites[0], after.sites[0]
        return
    by_name = {site.name: site for site in before.sites}
    for site in after.sites:
        if site.name in by_name:
            yield by_name[site.name], site


def _names(estate: Estate) -> str:
    return ", ".join(site.name or "all files" for site in estate.sites)
