r"""Rewrite Kuma policies in place for a chosen release, and prove that no proxy changes.

A repository is loaded, read, and migrated:

>>> import tempfile
>>> from pathlib import Path
>>> import kumamigrate
>>> folder = Path(tempfile.mkdtemp())
>>> policy = folder / "timeout.yaml"
>>> size = policy.write_text('''\
... type: MeshTimeout
... name: inbound
... mesh: default
... spec:
...   targetRef: {kind: Mesh}
...   from:
...     - targetRef: {kind: Mesh}
...       default: {idleTimeout: 20s}
... ''')
>>> today = kumamigrate.read(kumamigrate.load(folder, target="2.14"))
>>> outcome = kumamigrate.migrate(today, write=True)
>>> outcome.whole.value, sorted(outcome.texts)
('proven', ['timeout.yaml'])
>>> print(policy.read_text())
type: MeshTimeout
name: inbound
mesh: default
spec:
  targetRef: {kind: Mesh}
  rules:
    - default: {idleTimeout: 20s}
<BLANKLINE>

Or step by step: what the rules want, what that comes to, and whether any proxy can tell:

>>> wanted = kumamigrate.plan(today)
>>> [change.rule for change in wanted.changes]
['from-section']
>>> tomorrow = kumamigrate.apply(today, wanted.changes)
>>> kumamigrate.prove(today, tomorrow).verdict("live").value
'equivalent'
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kumamigrate.library import apply, load, migrate, plan, prove, read

__version__ = "0.1.0"

__all__ = ["apply", "load", "migrate", "plan", "prove", "read"]


def __getattr__(name: str) -> Any:
    """Import the library when it is first asked for: the command starts without it."""
    if name in __all__:
        from kumamigrate import library

        return getattr(library, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
