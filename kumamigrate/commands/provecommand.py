"""`prove` and `merge`: the verdict about two states, whole or in parts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kumamigrate.commands.given import Given, alone, loaded
from kumamigrate.commands.printed import drawn, tell, with_stats
from kumamigrate.dataclass import replace
from kumamigrate.errors import UsageError
from kumamigrate.flow.claims import claim_of
from kumamigrate.flow.shard import Shard
from kumamigrate.flow.told import WHOLE
from kumamigrate.library import Reading, read
from kumamigrate.library import prove as prove_states
from kumamigrate.report.exit import Exit, worst
from kumamigrate.report.forms import TEXT, forms_of
from kumamigrate.report.invocation import invocation
from kumamigrate.report.stats import REPORT, Stopwatch
from kumamigrate.world.survey import survey_again


def prove(
    given: Given,
    before: Path,
    after: Path | None,
    against: str | None,
    *,
    printed: str,
    saved: Sequence[str],
    shard: Shard | None = None,
) -> Exit:
    """Print the verdict about two states, or about a part of their environments."""
    from kumamigrate.report.bymesh import proof_meshes
    from kumamigrate.report.inventory import inventory_json, inventory_lines
    from kumamigrate.report.proofjson import exit_of_proof, proof_json
    from kumamigrate.report.screen.onscreen import compared_texts
    from kumamigrate.report.screen.provescreen import Compared, proof_lines
    from kumamigrate.report.screen.userpaths import from_here
    from kumamigrate.report.uncommittedtext import compared_lines
    from kumamigrate.report.unread import exit_of_kinds
    from kumamigrate.report.worldtext import environment_lines, given_lines, world_json
    from kumamigrate.scene.gitrev import uncommitted

    if (after is None) == (against is None):
        raise UsageError("prove needs either BEFORE and AFTER, or --against REF")
    forms, watch = forms_of(printed, saved), Stopwatch()
    if against is not None:
        first, second = _revision_and_tree(given, against, before)
    else:
        assert after is not None
        first, second = _state(given, before), _state(given, after)
    watch.telling()(WHOLE, 0, 1)
    proof = prove_states(first, second, shard)
    watch.begin(REPORT)
    whole, allow = second.estate.whole, second.options.allow
    claim = claim_of(whole.source, whole.target)
    repositories = (first.estate.whole.repository, whole.repository)
    data = proof_json(proof, repositories, claim, allow, qualified=shard is not None)
    data = {**data, "inventory": inventory_json(whole), "world": world_json(second.estate)}
    data["meshes"] = proof_meshes(first.estate, second.estate, proof, claim, allow)
    data["command"] = invocation("prove", given, *map(str, (before, after) if after else (before,)))
    edited = uncommitted(whole.repository.root) if against is not None else frozenset[str]()
    known = [*environment_lines(second.estate), *given_lines(second.estate)]
    known += compared_lines(edited)
    data["uncommitted"] = sorted(edited)
    code = worst([exit_of_proof(proof, claim, allow), exit_of_kinds(repositories)])
    if shard is not None:
        data["shard"] = _shard(shard, first, second, code)
    compared = Compared(
        proof=proof,
        repositories=repositories,
        claim=claim,
        allow=allow,
        texts=compared_texts(first.estate, second.estate),
        verbose=bool(given.get("verbose")),
        known=[*known, *inventory_lines(whole)],
    )
    lines = from_here(proof_lines(compared), second.estate) if forms.printed == TEXT else []
    states = (first.estate, second.estate, claim)
    told = with_stats(given, data if forms.needs_data else None, watch, second.estate)
    tell(forms, told, lines, {"html": lambda: drawn(*states)})
    return code


def merge(reports: Sequence[Path], *, printed: str, saved: Sequence[str]) -> Exit:
    """Print what the proofs of all parts of the environments come to."""
    from kumamigrate.report.parts.shards import merged_exit, merged_json, merged_lines, read_parts

    forms = forms_of(printed, saved)
    parts = read_parts(reports)
    whole = {**merged_json(parts), "command": invocation("merge", {}, *map(str, reports))}
    tell(forms, whole if forms.needs_data else None, merged_lines(whole))
    return merged_exit(parts)


def _shard(shard: Shard, first: Reading, second: Reading, code: Exit) -> dict[str, Any]:
    """Return what the report of a part says of itself."""
    from kumamigrate.flow.comparison import compared
    from kumamigrate.report.parts.shards import shard_json
    from kumamigrate.source.reading.seen import digest_of

    files = (one.estate.tree.files for one in (first, second))
    parts = [part for f in files for p in sorted(f) for part in (os.fsencode(p), f[p] or b"")]
    names = compared(first.estate, second.estate, shard)
    return shard_json(shard, names, code, digest_of(*parts))


def _state(given: Given, path: Path) -> Reading:
    """Return a file or folder as a state of its own, whatever stands around it."""
    return read(alone(given, path))


def _revision_and_tree(given: Given, revision: str, path: Path) -> tuple[Reading, Reading]:
    """Return a revision and the working tree, both whole, in the environments of the latter."""
    from kumamigrate.scene.gitrev import contents_of_revision

    sources = loaded({**given, "paths": [path]})
    tree, scope = read(sources), sources.scope
    contents, refusals, beside = contents_of_revision(revision, scope.read, scope.root)
    estate = survey_again(tree.estate, contents, refusals, tree.options, beside)
    return replace(tree, estate=estate), tree
