"""A control plane's read API on the loopback: kinds, pages, tokens and errors, nothing more."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, dict[str, str], bytes]


@dataclass(kw_only=True)
class ReadApi:
    """What the control plane holds, by path, and how it behaves."""

    kinds: Mapping[str, str]
    lists: Mapping[str, list[dict[str, Any]]]
    token: str = ""
    largest: int = 1000
    before_resources: bool = False
    instead: dict[str, Answer] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def answer(self, target: str, headers: Mapping[str, str]) -> Answer:
        parts = urlsplit(target)
        path, query = parts.path.strip("/"), parse_qs(parts.query)
        self.asked.append(path)
        if path in self.instead:
            return self.instead[path]
        if self.token and headers.get("authorization") != f"Bearer {self.token}":
            return self.error(401, "Could not authenticate", "invalid token")
        if path == "_resources" and not self.before_resources:
            listed = [{"name": k, "path": p, "scope": "Mesh"} for k, p in self.kinds.items()]
            return self.json({"resources": listed})
        if path == "policies" and self.before_resources:
            listed = [{"name": k, "path": p} for k, p in self.kinds.items()]
            return self.json({"policies": listed})
        if path not in self.lists:
            return self.error(404, "Not found", "")
        return self.page(path, query)

    def page(self, path: str, query: Mapping[str, list[str]]) -> Answer:
        size = int(query.get("size", ["100"])[0])
        if size > 1000:
            return self.error(400, "Invalid page size", "1000 is the largest")
        size = min(size, self.largest)
        start = int(query.get("offset", ["0"])[0])
        items = self.lists[path]
        end = start + size
        # Like the real one it answers with the host that it believes to have.
        link = f"http://control-plane.internal:5681/{path}?offset={end}&size={size}"
        more = link if end < len(items) else None
        return self.json({"total": len(items), "items": items[start:end], "next": more})

    def json(self, value: Any, status: int = 200) -> Answer:
        return status, {"Content-Type": "application/json"}, json.dumps(value).encode()

    def error(self, status: int, title: str, detail: str) -> Answer:
        return self.json({"type": "/std-errors", "status": status, "title": title,
                          "detail": detail}, status)  # fmt: skip


@contextmanager
def serving(api: ReadApi) -> Iterator[ReadApi]:
    """Answer requests while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {key.lower(): value for key, value in self.headers.items()}
            status, more, body = api.answer(self.path, headers)
            self.send_response(status)
            for key, value in more.items():
                self.send_header(key, value)
            if "Content-Length" not in more:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
