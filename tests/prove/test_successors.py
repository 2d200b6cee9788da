"""Which MeshServices take the place of a service tag."""

from __future__ import annotations

from typing import Any

import pytest

from kumamigrate.model.resource import DISPLAY_NAME, NAMESPACE, SERVICE, Resource
from kumamigrate.universe.successors import Successors, service_parts

HTTP, ADMIN = {"port": 80, "name": "http"}, {"port": 9901}


def service(
    name: str, *ports: dict[str, Any], kind: str = "MeshService", **labels: str
) -> Resource:
    keys = {"space": NAMESPACE, "tag": SERVICE}
    written = {DISPLAY_NAME: name, **{keys[key]: value for key, value in labels.items()}}
    return Resource(type=kind, mesh="default", name=name, labels=written, spec={"ports": [*ports]})


SHOP = service("web", HTTP, ADMIN, space="shop")
BANK = service("web", HTTP, space="bank")
PLAIN = service("web", HTTP)
TAGGED = service("front", HTTP, ADMIN, tag="web_shop_svc_80")
BARE = service("bare", space="shop")


@pytest.mark.parametrize(
    ("tag", "known", "found"),
    [
        ("web_shop_svc_80", [SHOP, BANK], [("web", "shop", "http")]),
        ("web_shop_svc_9901", [SHOP], [("web", "shop", "9901")]),
        ("web_shop_svc_81", [SHOP], []),
        ("web_shop_svc", [SHOP, BANK], [("web", "shop", "http"), ("web", "shop", "9901")]),
        ("web_other_svc_80", [SHOP], []),
        ("bare_shop_svc_80", [BARE], [("bare", "shop", "")]),
        ("web", [PLAIN], [("web", "", "http")]),
        ("web", [BANK], [("web", "bank", "http")]),
        ("web", [SHOP, BANK], []),
        ("web", [SHOP, BANK, PLAIN], [("web", "", "http")]),
        ("web_shop_svc_80", [TAGGED, SHOP], [("front", "", "http"), ("front", "", "9901"),
                                             ("web", "shop", "http")]),
        ("front", [TAGGED], []),
        ("web", [service("web", HTTP, kind="MeshExternalService")], []),
    ],
)  # fmt: skip
def test_by_label_by_the_name_of_the_tag_and_by_name(
    tag: str, known: list[Resource], found: list[tuple[str, str, str]]
) -> None:
    """product.md law 1; legacy-notes: a tag of Kubernetes says name, namespace and port."""
    came = [one.kri for one in Successors(known).of(tag)]
    assert [(kri.name, kri.namespace, kri.section) for kri in came] == found


@pytest.mark.parametrize(
    ("tag", "parts"),
    [
        ("web_shop_svc_80", ("web", "shop", "80")),
        ("web_shop_svc", ("web", "shop", "")),
        ("web_shop_svc_http", ("web_shop_svc_http", "", "")),
        ("web_shop_80", ("web_shop_80", "", "")),
        ("web_shop_svc_80_1", ("web_shop_svc_80_1", "", "")),
        ("web", ("web", "", "")),
    ],
)
def test_what_a_tag_is_made_of(tag: str, parts: tuple[str, str, str]) -> None:
    assert service_parts(tag) == parts
