"""Which resource of a source a built one comes from: its name may have grown."""

from __future__ import annotations

import pytest

from kumamigrate.deployment.build import twin
from kumamigrate.model.resource import Resource


def _timeout(name: str) -> Resource:
    return Resource(type="MeshTimeout", mesh="default", name=name)


@pytest.mark.parametrize(
    ("built", "sources", "found"),
    [
        ("dev-web-v2", ["web", "we"], "web"),
        ("shop-t", ["{{ .Release.Name }}-t"], "{{ .Release.Name }}-t"),
        ("web-1-web", ["web-{{ x }}-web"], "web-{{ x }}-web"),
        ("web-web", ["web-{{ x }}-web"], None),
        ("web", ["db"], None),
    ],
)
def test_parts_of_a_name_stand_one_behind_the_other(
    built: str, sources: list[str], found: str | None
) -> None:
    came = twin(_timeout(built), map(_timeout, sources))
    assert (came.name if came is not None else None) == found


def test_another_kind_is_no_twin() -> None:
    assert twin(Resource(type="MeshRetry", mesh="default", name="web"), [_timeout("web")]) is None
