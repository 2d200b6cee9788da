"""Permissions by tags and by SPIFFE ids are compared by the clients they let in, stage by stage."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kumamigrate.cli import app
from kumamigrate.prover import Verdict
from kumamigrate.prover.doubts.identities import unheld_permission_doubts
from kumamigrate.prover.prover import prove
from kumamigrate.universe.contents import Contents
from kumamigrate.universe.side import Side
from tests.prove.states import state
from tests.runner import CliRunner

MESH = """type: Mesh
name: default
mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
meshServices: {mode: Exclusive}
skipCreatingInitialPolicies: ["*"]
"""
PROXIES = "".join(
    f"""---
type: Dataplane
name: {name}-1
mesh: default
labels: {{app: {name}, kuma.io/workload: {name}}}
networking:
  address: 10.0.0.{at}
  inbound: [{{port: 80, tags: {{kuma.io/service: {name}, kuma.io/protocol: http}}}}]
"""
    for at, name in enumerate(("db", "web", "web-admin"), 1)
)
PERMISSION = """---
type: MeshTrafficPermission
name: to-db
mesh: default
spec:
  targetRef: {kind: Dataplane, labels: {app: db}}
"""
TAGS = (
    "  from: [{targetRef: {kind: MeshSubset, tags: {kuma.io/service: SERVICE}},"
    " default: {action: Allow}}]\n"
)
DOMAIN = "spiffe://default.default.mesh.local/workload"


def _rules(*matches: str) -> str:
    listed = ", ".join(f"{{spiffeID: {match}}}" for match in matches)
    return f"{PERMISSION}  rules: [{{default: {{allow: [{listed}]}}}}]\n"


def _exact(value: str) -> str:
    return f'{{type: Exact, value: "{value}"}}'


def _prefix(value: str) -> str:
    return f'{{type: Prefix, value: "{value}"}}'


def _identity(name: str, selector: str, *, provider: bool) -> str:
    bundled = "{autogenerate: {enabled: true}, insecureAllowSelfSigned: true}"
    given = f"\n  provider: {{type: Bundled, bundled: {bundled}}}" if provider else ""
    return f"""---
type: MeshIdentity
name: {name}
mesh: default
spec:
  selector: {selector}{given}
"""


FROM = PERMISSION + TAGS.replace("SERVICE", "web")
FROM_ADMIN = PERMISSION + TAGS.replace("SERVICE", "web-admin")
ADMIN = (_prefix("spiffe://default/web-admin"), _exact(f"{DOMAIN}/web-admin"))
ALL = "{dataplane: {matchLabels: {}}}"
PUBLISHED = _identity("ids", ALL, provider=False) + _identity("identity", "{}", provider=True)
WIDE = _identity("identity", ALL, provider=True)
START = MESH + PROXIES + FROM_ADMIN
STAGES = [
    START,
    MESH + PROXIES + _rules(*ADMIN),
    MESH + PROXIES + _rules(*ADMIN) + PUBLISHED,
    MESH + PROXIES + _rules(*ADMIN) + WIDE,
    MESH.replace("mtls:", "#") + PROXIES + _rules(ADMIN[1]) + WIDE,
]


def _live(tmp_path: Path, before: str, after: str) -> dict[str, Any]:
    paths = []
    for name, text in (("before", before), ("after", after)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    words = ["prove", *paths, "--target", "2.14", "--format", "json"]
    result = CliRunner().invoke(app, words)
    claim: dict[str, Any] = json.loads(result.stdout)["claims"]["live"]
    return claim


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, (list, dict)) else value


def _fields(claim: dict[str, Any]) -> set[tuple[str, Any, Any]]:
    return {
        (w["field"], *(_plain(w[side]["value"]) for side in ("before", "after")))
        for proxy in claim["dataplanes"].values()
        for w in proxy["witnesses"]
    }


@pytest.mark.parametrize("stage", range(len(STAGES) - 1))
def test_each_stage_lets_the_same_clients_in_and_says_what_was_not_compared(
    stage: int, tmp_path: Path
) -> None:
    claim = _live(tmp_path, *STAGES[stage : stage + 2])
    assert _fields(claim) == set()
    assert claim["verdict"] == "unknown"


@pytest.mark.parametrize(
    ("stage", "doubted"),
    list(enumerate([{"db-1"}, set[str](), {"db-1"}, set[str]()])),
    ids=["ids for tags", "identities to come", "other certificates", "old ids gone"],
)
@pytest.mark.parametrize("whole", [True, False])
def test_who_else_may_come_is_not_known_of_a_proxy_that_lets_somebody_in(
    stage: int, doubted: set[str], whole: bool
) -> None:
    """Where permissions go by something else than before, or certificates change; of proxies that
    may exist besides as of those that are there."""
    sides = [state(text, complete=whole) for text in STAGES[stage : stage + 2]]
    claim = prove(*sides, claims=("live",)).meshes["default"].claims["live"]
    said = "permissions are compared by the clients that are known (of 3 known)"
    found = {p.name for p in claim.proxies if any(said in str(one) for one in p.unknown)}
    others = {"any proxy"} if doubted and not whole else set()
    assert found == {*doubted, *others}


DENIES = PERMISSION + "  from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]\n"
DENIES_BY_ID = _rules(ADMIN[0]).replace("allow:", "deny:")
TO_WEB = FROM.replace("to-db", "to-web")


@pytest.mark.parametrize(
    ("before", "after", "certified", "doubted"),
    [
        ("", "", False, False),
        ("", "", True, False),
        (FROM, FROM, False, False),
        (FROM, FROM, True, True),
        (FROM, "", True, True),
        ("", FROM, True, True),
        ("", FROM, False, False),
        (FROM, _rules(*ADMIN), False, True),
        (_rules(*ADMIN), FROM, False, True),
        (FROM + TO_WEB, _rules(*ADMIN) + TO_WEB, False, True),
        (DENIES, DENIES_BY_ID, False, False),
        (DENIES + TO_WEB, DENIES_BY_ID + TO_WEB, False, True),
        (DENIES, _rules(*ADMIN), False, True),
        (FROM, DENIES_BY_ID, False, True),
    ],
)
def test_of_proxies_that_may_exist_permissions_are_in_doubt_where_they_move(
    before: str, after: str, certified: bool, doubted: bool
) -> None:
    """From tags to ids or back, or where certificates change; not where nobody is let in."""
    texts = (MESH + PROXIES + before, MESH + PROXIES + after + (WIDE if certified else ""))
    sides = [Side(state(text), "default", Contents()) for text in texts]
    assert any(unheld_permission_doubts(*sides)) is doubted


ELSEWHERE = _rules(_exact("spiffe://default/nobody")).replace("to-db", "to-db-2")
"""By ids, under another name; whoever it lets in is no client of STAGES."""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (FROM_ADMIN, ELSEWHERE),
        (FROM_ADMIN, FROM_ADMIN + ELSEWHERE),
        (FROM_ADMIN + ELSEWHERE.replace("app: db", "app: web"), FROM_ADMIN + ELSEWHERE),
    ],
    ids=["instead", "beside", "for others"],
)
def test_ids_that_another_policy_brings_are_in_doubt_where_no_client_is_known(
    before: str, after: str
) -> None:
    """Rules take the place of `from` wherever both reach a proxy (matcher.md (d))."""
    for one, other in ((before, after), (after, before)):
        sides = [state(MESH + text) for text in (one, other)]
        claim = prove(*sides, claims=("live",)).meshes["default"].claims["live"]
        assert claim.verdict is Verdict.UNKNOWN
        assert "known (of none known)" in str(claim.doubts[0])
    sides = [state(MESH + PROXIES + text) for text in (before, after)]
    assert prove(*sides, claims=("live",)).verdict("live") is Verdict.DIFFERENT


def test_an_identity_that_ends_from_shows_at_proxies_that_may_exist() -> None:
    """None that is there is for the policy, which stays as it was."""
    others = PROXIES.partition("---\ntype: Dataplane\nname: web-1")
    texts = (MESH + "".join(others[1:]) + FROM_ADMIN + more for more in ("", WIDE))
    claim = prove(*map(state, texts), claims=("live",)).meshes["default"].claims["live"]
    assert {p.name for p in claim.proxies if p.verdict is Verdict.DIFFERENT} == {
        "any proxy with app=db"
    }


def test_new_ids_before_identities_cut_the_client_off(tmp_path: Path) -> None:
    """What was advised before: on 2.14 the rules replace `from`, and nobody shows such an id."""
    claim = _live(tmp_path, START, MESH + PROXIES + _rules(ADMIN[1]))
    assert _fields(claim) == {("client web-admin-1", "Allow", None)}
    assert claim["dataplanes"]["db-1"]["verdict"] == "different"
    assert claim["dataplanes"]["web-1"]["verdict"] != "different"


def test_an_exact_old_id_meets_no_certificate_of_several_names(tmp_path: Path) -> None:
    rules = _rules(_exact("spiffe://default/web-admin"))
    claim = _live(tmp_path, START, MESH + PROXIES + rules)
    assert _fields(claim) == {("client web-admin-1", "Allow", None)}


def test_a_prefix_lets_in_who_begins_alike(tmp_path: Path) -> None:
    claim = _live(tmp_path, MESH + PROXIES + FROM, MESH + PROXIES + _rules(
        _prefix("spiffe://default/web")
    ))  # fmt: skip
    assert _fields(claim) == {("client web-admin-1", None, "Allow")}


def test_an_identity_alone_ends_from_and_cuts_the_client_off(tmp_path: Path) -> None:
    claim = _live(tmp_path, START, START + WIDE)
    assert _fields(claim) == {("client web-admin-1", "Allow", None)}


def test_a_client_with_a_new_certificate_is_not_met_by_from(tmp_path: Path) -> None:
    """The inbound still reads `from`; only the client has an identity."""
    claim = _live(
        tmp_path,
        START,
        START + _identity("i", "{dataplane: {matchLabels: {app: web-admin}}}", provider=True),
    )
    assert _fields(claim) == {("client web-admin-1", "Allow", None)}


def test_old_ids_gone_too_early_cut_the_client_off(tmp_path: Path) -> None:
    claim = _live(tmp_path, STAGES[2], STAGES[2].replace(f"{ADMIN[0]}", f"{ADMIN[1]}"))
    assert ("rules.allow" in {field for field, *_ in _fields(claim)}) is True


def test_mtls_gone_before_every_proxy_has_an_identity_is_different(tmp_path: Path) -> None:
    claim = _live(tmp_path, STAGES[2], STAGES[2].replace("mtls:", "#"))
    assert claim["verdict"] == "different"
    assert "certificate" in {field for field, *_ in _fields(claim)}


def test_who_only_denies_denies_by_rules_as_well(tmp_path: Path) -> None:
    """Nobody is let in on either side, whoever comes: that needs no known client."""
    denied = "  from: [{targetRef: {kind: Mesh}, default: {action: Deny}}]\n"
    everybody = (
        "  rules: [{default: {deny: [{spiffeID: {type: Prefix, value: spiffe://default}}]}}]\n"
    )
    claim = _live(tmp_path, MESH + PERMISSION + denied, MESH + PERMISSION + everybody)
    assert claim["verdict"] == "equivalent"


def test_the_upgrade_without_identities_loses_every_certificate(tmp_path: Path) -> None:
    path = tmp_path / "in.yaml"
    path.write_text(STAGES[1], encoding="utf-8")
    words = ["prove", str(path), str(path), "--from", "2.14", "--target", "3.0"]
    result = CliRunner().invoke(app, [*words, "--format", "json"])
    assert result.exit_code == 4
    claim = json.loads(result.stdout)["claims"]["release"]
    lost = {f for f in _fields(claim) if f[0] == "certificate"}
    assert len(lost) == 3
    assert all(after is None for _, _, after in lost)


@pytest.mark.parametrize("more", ["", _rules(*ADMIN)], ids=["none", "rules"])
def test_where_nobody_knows_of_mtls_rules_that_stay_are_in_no_doubt(
    more: str, tmp_path: Path
) -> None:
    """Without a Mesh in the state the certificates of 2.14 are not known: nothing says that they
    change."""
    path = tmp_path / "in.yaml"
    path.write_text(PROXIES.removeprefix("---\n") + more, encoding="utf-8")
    words = ["prove", str(path), str(path), "--from", "2.14", "--target", "3.0"]
    result = CliRunner().invoke(app, [*words, "--initial-policies", "none", "--format", "json"])
    claim = json.loads(result.stdout)["claims"]["release"]
    assert not any("permissions" in reason for reason in claim.get("unknown", ()))
    assert not any(field.startswith("client ") for field, *_ in _fields(claim))
