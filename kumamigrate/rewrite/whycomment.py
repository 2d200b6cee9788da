"""The comment that a new policy has where it does not show why it says what it says (C27)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kumamigrate.model.resource import mapping, sequence
from kumamigrate.rewrite.sourcedest.conversion import NewPolicy, named
from kumamigrate.source.text import at_path

_WHY = {
    "MeshTimeout.off": (
        "Zeros switch off what is off today: where no policy says anything, the new engine has"
        " limits of its own (15s for a request, 30m for a stream, 1h idle)."
    ),
    "MeshTimeout.inbound": (
        "A MeshTimeout that reaches a proxy sets the limits of its inbounds as well; these are the"
        " ones they have today."
    ),
    "MeshCircuitBreaker.off": (
        "Ejects nobody, as the old policy for this traffic did not; without it a policy for more"
        " traffic would. A policy has to name a detector, which does nothing here."
    ),
    "MeshRetry.off": (
        "Zero retries where there are none today; without it a policy for more traffic would bring"
        " some."
    ),
    "MeshHealthCheck.off": (
        "What is disabled is not probed today; without it a policy for more traffic would probe it."
    ),
    "MeshHealthCheck.tcp": (
        "Probed by connecting, as today, whatever it speaks: with HTTP and gRPC left on it would be"
        " asked in its own protocol."
    ),
    "MeshFaultInjection.twice": (
        "A fault that stands twice is met twice, as today: each of several destinations of an old"
        " policy that match an inbound counts."
    ),
    "MeshTrafficPermission.deny": (
        "Deny comes first: whom nothing below it allows is refused, as today; without it a policy"
        " for more proxies would let others in."
    ),
}
_RETRIED = ("http", "grpc")


def why(policy: NewPolicy) -> str:
    """Return the comment for a policy, empty where its reason shows."""
    said = [_WHY[f"{policy.type}.{key}"] for key in _keys(policy)]
    if policy.left:
        said.append(
            f"What another {policy.type} says of {named(policy.left)} stays as it is: what stands"
            " here keeps the entry for all traffic out of it."
        )
    return " ".join(said)


def _keys(policy: NewPolicy) -> Iterator[str]:
    outbound = [_conf(item) for item in policy.spec.get("to") or ()]
    inbound = [item for key in ("from", "rules") for item in policy.spec.get(key) or ()]
    match policy.type:
        case "MeshTimeout":
            if any(at_path(conf, ("http", "requestTimeout")) == "0s" for conf in outbound):
                yield "off"
            if inbound:
                yield "inbound"
        case "MeshCircuitBreaker":
            if any(at_path(conf, ("outlierDetection", "disabled")) is True for conf in outbound):
                yield "off"
        case "MeshRetry":
            retries = [at_path(conf, (key, "numRetries")) for conf in outbound for key in _RETRIED]
            if 0 in retries:
                yield "off"
        case "MeshHealthCheck":
            if any(_all_disabled(conf) for conf in outbound):
                yield "off"
            if any("tcp" in conf and at_path(conf, ("http", "disabled")) for conf in outbound):
                yield "tcp"
        case "MeshFaultInjection":
            if any(_repeats(_conf(item).get("http")) for item in inbound):
                yield "twice"
        case "MeshTrafficPermission":
            first = _conf(inbound[0]) if len(inbound) > 1 else {}
            if first.get("action") == "Deny":
                yield "deny"


def _conf(item: Any) -> Mapping[str, Any]:
    return mapping(mapping(item).get("default"))


def _repeats(listed: Any) -> bool:
    """Say whether something stands in a list more than once."""
    return any(item in listed[:at] for at, item in enumerate(sequence(listed)))


def _all_disabled(conf: Mapping[str, Any]) -> bool:
    probes = [conf[key] for key in ("tcp", "http", "grpc") if key in conf]
    return bool(probes) and all(at_path(probe, ("disabled",)) is True for probe in probes)
