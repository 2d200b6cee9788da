"""Write kumamigrate/rewrite/rulebook.json: what all rule files say, read once.

Run `python tools/rulebook.py` after a rule was added or changed. A rule that this was forgotten
for is read from its own file, which takes a little longer; tests/rewrite/test_rulebook.py holds
the file to what this prints.
"""

from __future__ import annotations

import json

from kumamigrate.rewrite.rulebook import DIGESTED, digest_of, rules_folder, yaml_of


def digested() -> str:
    """Return one line for each rule: the digest of its file, and what it says."""
    lines = []
    for path in sorted(rules_folder().glob("*.yaml")):
        content = path.read_bytes()
        one = {"digest": digest_of(content), "says": yaml_of(content)}
        text = json.dumps(one, ensure_ascii=False, separators=(",", ":"))
        if json.loads(text) != one:
            raise ValueError(f"{path.name}: JSON cannot say this; quote keys that are no words")
        lines.append(f"{json.dumps(path.stem)}:{text}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    DIGESTED.write_text(digested(), encoding="utf-8")
