"""The edits that give a share of a service its MeshService and what policies say about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from kumamigrate.model.resource import Identity, Resource, Where
from kumamigrate.rewrite.change import ResourceEdit
from kumamigrate.rewrite.manifest import put
from kumamigrate.rewrite.references.oldrefs import Meaning, references
from kumamigrate.rewrite.references.realref import meaning
from kumamigrate.rewrite.references.shares import BY_SERVICE, Share, entry_for, is_about, is_told
from kumamigrate.rewrite.view import View
from kumamigrate.source.text import at_path


class Shares:
    """The shares of one plan. A new one stands behind its service, else behind a route.

    Changes that write the same share touch the same place, so that only one of them does.
    """

    def __init__(self, view: View) -> None:
        self.view = view
        self._homes: dict[tuple[str, str], tuple[Where, Mapping[str, Any]]] = {}
        self._there: dict[str, list[Share]] = {}

    @cached_property
    def _was(self) -> dict[Identity, Resource]:
        """Return what stood there when the run began, of several the first."""
        return {r.identity: r for r in reversed(self.view.before.resources)}

    def edits(
        self, owners: Sequence[tuple[Resource, Any]], shares: Sequence[Share]
    ) -> tuple[ResourceEdit, ...]:
        """Return the edits of policies or routes of one mesh, each with its new manifest."""
        heads: dict[Where, Any] = {}
        for owner, body in owners:
            assert owner.where is not None
            heads[owner.where] = self._with_known(owner, body)
        tails: dict[Where, list[Any]] = {}
        written: set[str] = set()
        for share in shares:
            if share.manifest is not None and share.name not in written:
                written.add(share.name)
                home, old = self._home(owners[0][0], share)
                heads.setdefault(home, old)
                tails.setdefault(home, []).append(dict(share.manifest))
        for policy, entries in self._followers(owners[0][0].mesh, shares):
            assert policy.where is not None
            heads[policy.where] = put(policy.body, (*policy.spec_path, "to"), entries)
        return tuple(
            ResourceEdit(where=where, manifests=(head, *tails.get(where, ())))
            for where, head in heads.items()
        )

    def _home(self, owner: Resource, share: Share) -> tuple[Where, Mapping[str, Any]]:
        assert owner.where is not None
        base = share.base
        if base.where is not None and self.view.owns(base):
            return base.where, base.body
        key = (base.mesh, share.name)
        return self._homes.setdefault(key, (owner.where, owner.body))

    def _followers(
        self, mesh: str, shares: Sequence[Share]
    ) -> Iterator[tuple[Resource, list[Any]]]:
        """Yield the policies in their new form that say something about a shared service.

        Those in the old form get their entries with their own references.
        """
        for policy in self.view.of_type(*BY_SERVICE) if shares else ():
            if policy.mesh != mesh or any(True for _ in references(policy)):
                continue
            old = policy.spec.get("to")
            entries = self._inserted(policy, old, shares) if isinstance(old, list) else []
            if isinstance(old, list) and len(entries) > len(old):
                yield policy, entries

    def _with_known(self, owner: Resource, body: Any) -> Any:
        """Return the new manifest of a policy with entries for shares that are there already."""
        path = (*owner.spec_path, "to")
        entries = at_path(body, path)
        if owner.type not in BY_SERVICE or not isinstance(entries, list):
            return body
        grown = self._inserted(owner, entries, self._known(owner.mesh))
        return put(body, path, grown) if len(grown) > len(entries) else body

    def _known(self, mesh: str) -> list[Share]:
        """Return the shares that routes of the state the run began with ask for, if there."""
        if mesh not in self._there:
            found: dict[str, Share] = {}
            for route in self.view.before.of_type("MeshHTTPRoute", "MeshTCPRoute"):
                if route.mesh != mesh:
                    continue
                for one in references(route):
                    what = meaning(self.view, route, one) if one.ref.get("tags") else ""
                    if isinstance(what, Meaning) and what.share and what.share.manifest is None:
                        found[what.share.name] = what.share
            self._there[mesh] = list(found.values())
        return self._there[mesh]

    def _inserted(self, policy: Resource, entries: Any, shares: Sequence[Share]) -> list[Any]:
        """Return `to` entries, in their new text, with those for shares behind their services'."""
        missing = {s.name: s for s in shares if not is_told(policy, s)}
        was = self._was.get(policy.identity, policy)
        out: list[Any] = []
        skipped = 0
        for at, entry in enumerate(entries or ()):
            out.append(entry)
            if any(is_about(entry, share) for share in shares):
                skipped += 1
                continue
            new = (entry_for(policy, at, at - skipped, was, s) for s in missing.values())
            out += [one for one in new if one is not None]
        return out
