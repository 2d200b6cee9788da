"""PyYAML, imported in half of its time.

Its own reader, which its C parser takes the place of, has an expression over all of Unicode: to
compile it takes longer than to read a file. Here it is compiled when somebody uses it.
"""

from __future__ import annotations

from kumamigrate.pattern import late_patterns

with late_patterns():
    import yaml as yaml

__all__ = ["yaml"]
