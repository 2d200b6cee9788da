"""Small repositories for what a user chooses to write, and the commands in them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.frontdoor import Answer, command

MESH = "type: Mesh\nname: default\nmeshServices: {mode: Exclusive}\n"
ORDERS = """\
type: MeshService
name: orders
mesh: default
spec:
  ports: [{port: 80, targetPort: 80, appProtocol: http}]
  selector: {dataplaneTags: {kuma.io/service: orders}}
"""
ROUTE = """\
type: MeshHTTPRoute
name: api
mesh: default
spec:
  to:
    - targetRef: {kind: MeshService, name: orders}
      rules:
        - matches: [{path: {type: PathPrefix, value: /v1}}]
          default: {}
"""
DEAD = """\
type: MeshTimeout
name: slow-api
mesh: default
spec:
  targetRef:
    kind: MeshHTTPRoute
    name: api
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 60s}}
"""
"""In mode Exclusive nothing reads it; moved into `to` it starts to work (product.md §1 law 2)."""
ALIVE = """\
type: MeshTimeout
name: inbound
mesh: default
spec:
  from:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 7s}}
"""
FILES: Mapping[str, str] = {
    "mesh.yaml": MESH,
    "orders.yaml": ORDERS,
    "route.yaml": ROUTE,
    "dead.yaml": DEAD,
    "alive.yaml": ALIVE,
}


class Shop:
    """A repository on the disk, and commands run in it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch, files: Mapping[str, str]):
        self.root = root
        self._monkeypatch = monkeypatch
        (root / ".git").mkdir(parents=True)
        for path, text in files.items():
            self.write(path, text)

    def write(self, path: str, text: str) -> None:
        """Write a file."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(text.encode())

    def read(self, path: str) -> str:
        """Return the text of a file."""
        return (self.root / path).read_bytes().decode()

    def run(self, *words: str | Path, inside: str = "", given: str | None = "none") -> Answer:
        """Run a command in the repository, or in a folder of it."""
        self._monkeypatch.chdir(self.root / inside)
        return command(*words, given=given)

    def texts(self) -> dict[str, str]:
        """Return the texts of all files."""
        found = (p for p in sorted(self.root.rglob("*")) if p.is_file())
        return {p.relative_to(self.root).as_posix(): p.read_bytes().decode() for p in found}


def findings(answer: Answer) -> list[tuple[str, str, str, int]]:
    """Return rule, status, file and line of each finding of a report in JSON."""
    return [(f["rule"], f["status"], f["file"], f["line"]) for f in answer.json["findings"]]
