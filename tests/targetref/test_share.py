"""Which labels proxies that nobody has yet would have, if they are like those that are known."""

from __future__ import annotations

import pytest

from kumamigrate.model.resource import NAMESPACE, SERVICE, Resource
from kumamigrate.targetref.share import named_by_custom

WORKLOAD = "kuma.io/workload"


def proxy(service: str, **labels: str) -> Resource:
    inbound = {"port": 8080, "tags": {SERVICE: service}}
    return Resource(
        type="Dataplane",
        mesh="default",
        name=f"{service}-1",
        labels={{"space": NAMESPACE, "workload": WORKLOAD}.get(k, k): v for k, v in labels.items()},
        spec={"networking": {"inbound": [inbound]}},
    )


WEB = proxy("web_shop_svc_80", app="web", space="shop")
API = proxy("api_bank_svc_8080", app="api", space="bank")
ODD = proxy("odd_bank_svc_8080", app="other", space="bank")


@pytest.mark.parametrize(
    ("service", "known", "named"),
    [
        ("pay_shop_svc_80", [WEB, API], [{"app": "pay", NAMESPACE: "shop"}]),
        ("pay_shop_svc", [WEB, API], [{"app": "pay", NAMESPACE: "shop"}]),
        ("pay_shop_svc_80", [WEB], []),
        ("pay_shop_svc_80", [WEB, API, ODD], []),
        ("pay", [WEB, API], []),
        ("pay", [proxy("web", app="web"), proxy("api", app="api")], [{"app": "pay"}]),
        ("pay", [proxy("web", app="web")], []),
        ("pay", [proxy("web", workload="web")], [{WORKLOAD: "pay"}]),
        ("a_b_c_80", [proxy("web", workload="web")], [{WORKLOAD: "a_b_c_80"}]),
    ],
)
def test_labels_go_by_the_custom_of_all(
    service: str, known: list[Resource], named: list[dict[str, str]]
) -> None:
    """Several services have to show it, and no proxy may have it otherwise."""
    assert named_by_custom(service, known) == named
