"""What whoever has an atom has as well, and which atoms nobody has together."""

from __future__ import annotations

import pytest

from kumamigrate.model.resource import DISPLAY_NAME
from kumamigrate.universe.excluding import implies, slots_asked
from kumamigrate.universe.madeup import Atom

WEB, TEAM = ("app", "web"), ("team", "red")
SHOP, BANK = ("east", "shop"), ("east", "bank")


@pytest.mark.parametrize(
    ("atom", "other", "implied"),
    [
        (Atom(labels=(WEB, TEAM)), Atom(labels=(TEAM,)), True),
        (Atom(labels=(TEAM,)), Atom(labels=(WEB, TEAM)), False),
        (Atom(tags=(WEB, TEAM)), Atom(tags=(WEB,)), True),
        (Atom(labels=(WEB,)), Atom(tags=(WEB,)), False),
        (Atom(tags=(WEB,), section="http"), Atom(tags=(WEB,)), True),
        (Atom(tags=(WEB,)), Atom(tags=(WEB,), section="http"), False),
        (Atom(labels=(WEB,), name="a", identity=SHOP), Atom(labels=(WEB,)), True),
        (Atom(labels=(WEB,)), Atom(labels=(WEB,), name="a", identity=SHOP), False),
        (Atom(name="a", identity=SHOP), Atom(name="a", identity=SHOP), True),
        (Atom(name="a", identity=SHOP), Atom(name="a", identity=BANK), False),
        (Atom(name="a", identity=SHOP), Atom(name="b", identity=SHOP), False),
    ],
)
def test_who_has_one_has_the_other(atom: Atom, other: Atom, *, implied: bool) -> None:
    assert implies(atom, other) is implied


@pytest.mark.parametrize(
    ("atoms", "one_inbound", "together"),
    [
        ((Atom(name="a", identity=SHOP), Atom(labels=((DISPLAY_NAME, "a"),))), False, True),
        ((Atom(name="a", identity=SHOP), Atom(labels=((DISPLAY_NAME, "b"),))), False, False),
        ((Atom(labels=(WEB,)), Atom(labels=(("app", "db"),))), False, False),
        ((Atom(tags=(WEB,)), Atom(tags=(("app", "db"),))), True, False),
        ((Atom(tags=(WEB,)), Atom(tags=(("app", "db"),))), False, True),
        ((Atom(tags=(WEB,)), Atom(tags=(("app", "*"),))), True, True),
        ((Atom(tags=(WEB,)), Atom(labels=(("app", "db"),))), True, True),
        ((Atom(tags=(WEB,), section="a"), Atom(tags=(TEAM,), section="b")), True, False),
        ((Atom(tags=(WEB,), section="a"), Atom(tags=(TEAM,), section="b")), False, True),
    ],
)
def test_who_has_both_is_asked_one_value_for_each_thing(
    atoms: tuple[Atom, ...], *, one_inbound: bool, together: bool
) -> None:
    """Without `one_inbound` each atom may be on an inbound of its own."""
    assert (slots_asked(atoms, one_inbound) is not None) is together
