"""The claims by name and in words: what two states have to agree on (product.md §5, prover.md §2).

*live*: what proxies read today. *carry*: what service-tag outbounds read is what real-resource
outbounds will read, once the mode switches. *release*: what proxies read after the upgrade is what
they read before it.
"""

from __future__ import annotations

from collections.abc import Mapping

LIVE, CARRY, RELEASE = "live", "carry", "release"

COMPARED: Mapping[str, str] = {
    LIVE: "what proxies read today",
    CARRY: "what moves to real-resource outbounds when the mode switches",
    RELEASE: "what proxies read after the upgrade",
}
"""What is compared, as the subject of a sentence."""

STATED: Mapping[str, str] = {
    LIVE: "What proxies read today stays the same",
    CARRY: "What service-tag outbounds read is what real-resource outbounds will read",
    RELEASE: "What proxies read after the upgrade is what they read before it",
}
"""The claim as a sentence."""
