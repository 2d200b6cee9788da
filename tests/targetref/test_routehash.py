"""What names a rule of a route is the digest of what Go writes (matcher.md (g))."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from kumamigrate.targetref.routehash import route_hash

_PATH = {"type": "PathPrefix", "value": "/v1"}
_WRITTEN = '"path":{"value":"/v1","type":"PathPrefix"}'


def test_the_catch_all_has_the_hash_that_control_planes_write() -> None:
    hashed = "9Zuf5Tg79OuZcQITwBbQykxAk2u4fRKrwYn3//AL4Yo="
    assert route_hash([{"path": {"type": "PathPrefix", "value": "/"}}]) == hashed


@pytest.mark.parametrize(
    ("matches", "written"),
    [
        (None, "null"),
        ([], "[]"),
        ([{"method": "GET", "path": _PATH}], f'[{{{_WRITTEN},"method":"GET"}}]'),
        (
            [{"queryParams": [{"name": "q", "type": "Exact", "value": "<&>"}]}],
            r'[{"queryParams":[{"type":"Exact","name":"q","value":"\u003c\u0026\u003e"}]}]',
        ),
        ([{"queryParams": [{}]}], '[{"queryParams":[{"type":"","name":"","value":""}]}]'),
        (
            [{"headers": [{"value": "\u2028\u2029é", "name": "h", "type": "Exact"}]}],
            r'[{"headers":[{"type":"Exact","name":"h","value":"\u2028\u2029é"}]}]',
        ),
        (
            [{"headers": [{"name": "h", "value": ""}], "path": _PATH}],
            f'[{{{_WRITTEN},"headers":[{{"name":"h"}}]}}]',
        ),
    ],
)
def test_the_hash_is_that_of_the_text_in_go(matches: Any, written: str) -> None:
    digest = hashlib.sha256(written.encode()).digest()
    assert route_hash(matches) == base64.b64encode(digest).decode()
