"""Where it changes whose certificates are shown or trusted, the handshake is not compared."""

from __future__ import annotations

import pytest

from kumamigrate.prover.proof import Verdict
from kumamigrate.prover.prover import prove
from tests.prove.states import state

MESH = """
type: Mesh
name: default
---
type: Dataplane
mesh: default
name: web-1
networking:
  address: 10.0.0.1
  inbound: [{port: 80, tags: {kuma.io/service: web}}]
"""
TRUST = """---
type: MeshTrust
mesh: default
name: {name}
spec:
  origin: {{kri: {origin}}}
  trustDomain: {domain}
  caBundles: [{{type: Pem, pem: {{value: a}}}}]
"""


def _trust(name: str = "t", domain: str = "x.mesh", origin: str = "kri_mid_default___a_") -> str:
    return TRUST.format(name=name, domain=domain, origin=origin)


@pytest.mark.parametrize(
    ("was", "now", "changed"),
    [
        (_trust(), _trust(), ()),
        ("", _trust(), ("t",)),
        (_trust(), "", ("t",)),
        (_trust(), _trust(domain="y.mesh"), ("t",)),
        (_trust(), _trust() + _trust("u"), ("u",)),
        (_trust(), _trust("u"), ("t", "u")),
        # Whence a trust came is a note.
        (_trust(), _trust(origin="kri_mid_default___b_"), ()),
    ],
)
def test_each_trust_that_changes_is_named(was: str, now: str, changed: tuple[str, ...]) -> None:
    before, after = (state(MESH + text, complete=True) for text in (was, now))
    proof = prove(before, after, claims=("live",))
    said = " ".join(proof.unknown("live"))
    for name in ("t", "u"):
        assert (f"MeshTrust {name} changes which certificates" in said) is (name in changed)
    assert proof.verdict("live") is (Verdict.UNKNOWN if changed else Verdict.EQUIVALENT)


PERMISSIVE = """
type: Mesh
name: default
meshServices: {{mode: Exclusive}}
mtls: {{enabledBackend: ca, backends: [{{name: ca, type: builtin, mode: {mode}}}]}}
"""
GIVES = """---
type: MeshIdentity
mesh: default
name: id
spec:
  selector: {{dataplane: {{matchLabels: {labels}}}}}
  spiffeID: {{trustDomain: a.local, path: /x}}
  provider: {{type: Bundled, bundled: {bundled}}}
"""
READY = "{insecureAllowSelfSigned: true, autogenerate: {enabled: true}}"
UNREADY = "{autogenerate: {enabled: true}}"
SAID = """---
type: MeshTLS
mesh: default
name: tls
spec:
  targetRef: {{kind: Mesh}}
  rules: [{{default: {{{mode}tlsVersion: {{min: TLS12}}}}}}]
"""


@pytest.mark.parametrize(
    ("by_mesh", "said", "labels", "bundled", "same"),
    [
        ("PERMISSIVE", "Permissive", None, READY, True),
        ("PERMISSIVE", "Permissive", "{}", READY, False),
        ("PERMISSIVE", "Strict", "{}", READY, True),
        # Some proxy may have the label, some other may not.
        ("PERMISSIVE", "Permissive", "{app: web}", READY, False),
        ("PERMISSIVE", "Strict", "{app: web}", READY, False),
        ("STRICT", "Strict", "{app: web}", READY, True),
        # One that is not ready gives nobody a certificate.
        ("PERMISSIVE", "Permissive", "{app: web}", UNREADY, True),
    ],
)
def test_who_has_an_identity_is_strict_where_no_mode_is_said(
    by_mesh: str, said: str, labels: str | None, bundled: str, same: bool
) -> None:
    """The proxies are those that nobody lists; goldens features 89 and 90 have listed ones."""
    given = PERMISSIVE.format(mode=by_mesh)
    if labels is not None:
        given += GIVES.format(labels=labels, bundled=bundled)
    before, after = (state(given + SAID.format(mode=mode)) for mode in (f"mode: {said}, ", ""))
    verdict = prove(before, after, claims=("live",)).verdict("live")
    assert verdict is (Verdict.EQUIVALENT if same else Verdict.DIFFERENT)
