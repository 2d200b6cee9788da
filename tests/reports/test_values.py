"""Values in words: what people would write, and the line that says it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kumamigrate.effective.difference import Effect, Value, Witness
from kumamigrate.report.screen.difftext import Sides, difference_lines, number_of
from kumamigrate.report.screen.standing import Texts, shown
from kumamigrate.report.screen.valuewords import compact, in_words, leaves_that_differ
from kumamigrate.report.styled import plain

SERVICE, NAMESPACE = "kuma.io/service", "k8s.kuma.io/namespace"


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("http.retryOn", ["5xx", "429"], "5xx, 429"),
        ("http.retryOn", ["a", "b", "c", "d", "e"], "a, b, c and 2 more"),
        ("from", None, "nobody may"),
        ("from", [{"from": [[SERVICE, "web", False]], "action": "Allow"}], "web may connect"),
        ("from", [{"from": [], "action": "Allow"}], "everybody may connect"),
        (
            "from",
            [{"from": [["version", "v1", False]], "action": "AllowWithShadowDeny"}],
            "version=v1 (AllowWithShadowDeny) may connect",
        ),
        (
            "rules.allow",
            [{"allow": {"spiffeID": {"type": "Exact", "value": "spiffe://d/web"}}}],
            "spiffe://d/web may connect",
        ),
        (
            "rules.deny",
            [{"spiffeID": {"type": "Prefix", "value": "spiffe://d/"}}],
            "spiffe://d/… may not connect",
        ),
        ("allowed", False, "may not connect"),
        ("backends", [{"type": "Tcp", "tcp": {"address": "log:5000"}}], "Tcp log:5000"),
        ("backends", [{"type": "File", "file": {"path": "/dev/stdout"}}], "File /dev/stdout"),
        (
            "backends",
            [{"type": "Prometheus", "prometheus": {"port": 5670, "path": "/metrics"}}],
            "Prometheus port 5670, path /metrics",
        ),
        (
            "faults",
            [{"abort": {"httpStatus": 500, "percentage": 50.0}}],
            "abort 500 for 50 %",
        ),
        (
            "rules",
            [{"conf": {"http": [{"delay": {"value": "7s", "percentage": 10}}]}}],
            "http delay 7s for 10 %",
        ),
        ("appendMatch", [{"type": "Domain", "value": "a.x", "port": 443}], "Domain a.x:443"),
        ("hashPolicies", [{"type": "Header", "header": {"name": "x-id"}}], "Header x-id"),
        ("backendRefs", [["kuma.io/service=api,version=v1", 1]], "api version=v1 (weight 1)"),
        ("sampling", {}, "nothing set"),
    ],
)
def test_a_structure_is_said_in_words(field: str, value: Any, words: str) -> None:
    said = in_words(value, field=field)
    assert said == words
    assert not set(said) & set("{}[]\"'")


def test_a_namespace_that_is_let_in_whole_is_not_said_in_parts() -> None:
    """The engine tells those that are web from those that are not; both may connect."""
    parts = [
        {"from": [[NAMESPACE, "shop", False], [SERVICE, "web", False]], "action": "Allow"},
        {"from": [[NAMESPACE, "shop", False], [SERVICE, "web", True]], "action": "Allow"},
        {"from": [[SERVICE, "web", False]], "action": "Allow"},
    ]
    assert in_words(parts, field="from") == "web, namespace=shop may connect"
    # Where the other half is not let in, it is named.
    assert in_words(parts[1:2], field="from") == ("namespace=shop and service≠web may connect")


@pytest.mark.parametrize(
    ("written", "said"),
    [("1m0s", "1m"), ("1h0m0s", "1h"), ("90s", "1m30s"), ("0s", "0s"), ("10s", "10s")],
)
def test_a_duration_has_no_parts_that_are_zero(written: str, said: str) -> None:
    assert compact(written) == said


def test_of_two_lists_only_the_entries_that_differ_are_said() -> None:
    before = [{"key": "a", "value": "1"}, {"key": "b", "value": "2"}]
    after = [{"key": "new", "value": "0"}, {"key": "a", "value": "1"}, {"key": "b", "value": "3"}]
    assert list(leaves_that_differ(before, after)) == [
        ("[0]", None, {"key": "new", "value": "0"}),
        ("[1].value", "2", "3"),
    ]


def witness(field: str = "http.requestTimeout", **more: Any) -> Witness:
    """Return a difference of a MeshTimeout, at lines of `t.yaml`."""
    given: dict[str, Any] = {
        "mesh": "default",
        "proxy": "any proxy",
        "policy_type": "MeshTimeout",
        "direction": "outbound",
        "destination": "pay",
        "place": "pay",
        "before": Value(value="15s"),
        "after": Value(value="1m0s", policy="t", at="t.yaml:3:19"),
    }
    return Witness(field=field, **{**given, **more})


TEXT = "spec:\n  http:\n  requestTimeout: 60s # why\n"


def texts(text: str = TEXT, **more: Any) -> Texts:
    """Return one file."""
    return Texts(files={"t.yaml": text.encode()}, **more)


def test_a_value_is_shown_as_it_stands_on_the_line_that_is_named() -> None:
    found = shown(witness(), witness().after, texts())
    assert (found.words, found.place, found.origin) == ("60s", "t.yaml:3", "")


def test_a_value_that_no_policy_sets_is_a_default() -> None:
    found = shown(witness(), witness().before, texts())
    assert (found.words, found.place, found.origin) == ("15s", "", "the default")


def test_a_line_that_says_something_else_is_not_named() -> None:
    """The line of the policy says 1h; a patch of this environment says otherwise."""
    base = texts(TEXT.replace("60s", "1h"))
    patch = "- op: replace\n  path: /spec/http/requestTimeout\n  value: 60s\n"
    files = {**base.files, "patch.yaml": patch.encode()}
    one = witness()
    overruled = replace(base, files=files, patches={"east": frozenset({"t.yaml", "patch.yaml"})})
    found = shown(one, one.after, overruled, "east")
    assert (found.words, found.place) == ("60s", "patch.yaml:3")
    # In an environment without the patch nothing on the disk says 60s.
    elsewhere = shown(one, one.after, overruled, "west")
    assert (elsewhere.place, elsewhere.origin) == ("", "from t")
    # What the policy leaves out is the default.
    filled = replace(one, after=replace(one.after, filled=True))
    assert shown(filled, filled.after, overruled, "west").origin == "the default"


@pytest.mark.parametrize(
    "patch",
    [
        "- value: [{to: {kind: Mesh}, default: {http: {requestTimeout: 60s}}}]\n",
        "- value: {http: {requestTimeout: 60s}}\n",
        '- {"value": {"http": {"requestTimeout": "60s"}}}\n',
    ],
)
def test_a_patch_in_flow_style_is_read_as_any_other(patch: str) -> None:
    """A patch that replaces a whole list says the value within it, on one line."""
    base = texts(TEXT.replace("60s", "1h"))
    files = {**base.files, "patch.yaml": patch.encode()}
    overruled = replace(base, files=files, patches={"east": frozenset({"patch.yaml"})})
    found = shown(witness(), witness().after, overruled, "east")
    assert (found.words, found.place, found.origin) == ("60s", "patch.yaml:1", "")


def test_what_an_old_policy_does_not_say_is_the_old_engine_s() -> None:
    """A Timeout of 1h for HTTP: its TCP idle timeout is what the engine makes of it."""
    old = texts("conf:\n  http:\n  idleTimeout: 1h\n", types=lambda _p, _l: "Timeout")
    one = witness("idleTimeout", before=Value(value="0s", policy="old", at="t.yaml:1:1"))
    found = shown(one, one.before, old)
    assert (found.words, found.place, found.origin) == ("off", "", "from the old engine")
    said = witness("idleTimeout", before=Value(value="1h", policy="old", at="t.yaml:1:1"))
    assert shown(said, said.before, old).place == "t.yaml:3"


def lines(*witnesses: Witness, **sides: Any) -> str:
    """Return the lines that are shown of some differences."""
    return plain(
        difference_lines(witnesses, Sides(before=texts(), after=texts(), **sides), indent="")
    )


def retry(field: str, before: Any, after: Any) -> Witness:
    """Return a difference of a MeshRetry."""
    values = {"before": Value(value=before, policy="r"), "after": Value(value=after)}
    return witness(f"http.{field}", policy_type="MeshRetry", **values)


def test_retries_that_end_are_one_line() -> None:
    """Four lines that follow from one say nothing more than it."""
    every = (
        retry("numRetries", 3, None),
        retry("retryOn", ["5xx"], None),
        retry("backOff.baseInterval", "10ms", None),
        retry("perTryTimeout", "3s", None),
    )
    said = "any proxy → pay   retries  3 → off    (3: from r, which is not in Git; off: no policy"
    assert lines(*every) == f"{said} sets it)\n"
    assert number_of(every) == 1
    # Who wants to see all of it can.
    assert lines(*every, verbose=True).count("\n") == 4


def test_retries_that_a_policy_switches_off_name_its_line() -> None:
    off = replace(
        retry("numRetries", 3, None),
        after=Value(value=None, policy="r", at="r.yaml:2:15"),
    )
    sides = Sides(after=Texts(files={"r.yaml": b"http:\n  numRetries: 0\n"}))
    said = plain(difference_lines([off], sides, indent=""))
    assert "retries  3 → off (numRetries: 0)   r.yaml:2" in said


def test_retries_that_change_are_not_switched_off() -> None:
    said = lines(retry("numRetries", 3, 5), retry("perTryTimeout", "3s", "4s"))
    assert "retries  3 → 5" in said
    assert "MeshRetry http.perTryTimeout  3s → 4s" in said


def test_one_line_of_a_policy_is_one_difference_for_many_connections() -> None:
    many = [witness(place=name, destination=name) for name in ("a", "b", "c")]
    assert lines(*many) == (
        "any proxy → a and 2 more   request timeout  15s → 60s   t.yaml:3 (15s: the default)\n"
    )
    assert "→ a, any proxy → b, any proxy → c" in lines(*many, verbose=True)


def test_more_differences_than_a_screen_holds_are_counted_and_all_shown_when_asked() -> None:
    many = [
        witness(place=str(at), destination=str(at), after=Value(value=f"{at}s"))
        for at in range(20, 40)
    ]
    assert lines(*many).splitlines()[-1] == "… and 10 more: --verbose"
    assert len(lines(*many, verbose=True).splitlines()) == 20


def test_many_differences_of_one_kind_hide_none_of_another() -> None:
    many = [
        witness(place=str(at), destination=str(at), after=Value(value=f"{at}s"))
        for at in range(20, 40)
    ]
    said = lines(*many, retry("numRetries", 3, 5)).splitlines()
    assert said[5] == "… and 15 more of this kind: --verbose"
    assert "retries  3 → 5" in said[6]
    assert len(said) == 7


def test_kinds_without_a_line_of_their_own_are_counted() -> None:
    many = [retry(f"field{at}", at, at + 1) for at in range(12)]
    said = lines(*many).splitlines()
    assert said[10:] == ["… and 2 more kinds of difference: --verbose"]
    assert [one.split("field")[1].split()[0] for one in said[:10]] == [str(n) for n in range(10)]


def met(client: str, inbound: str, before: Any, after: Any) -> Witness:
    """Return what a client meets at an inbound."""
    return witness(
        f"client {client}",
        policy_type="MeshTrafficPermission",
        direction="inbound",
        destination=inbound,
        place=inbound,
        proxy="",
        before=Value(value=before, policy="p"),
        after=Value(value=after),
    )


def test_clients_of_an_inbound_that_meet_the_same_are_one_difference() -> None:
    refused = [met(name, "a:80", "Allow", None) for name in ("web", "shop", "till")]
    let_in = met("till", "b:80", None, "Allow")
    noted = met("shop", "b:80", "Allow", "AllowWithShadowDeny")
    said = lines(*refused, let_in, noted).splitlines()
    assert number_of([*refused, let_in, noted]) == len(said) == 3
    assert said[0].startswith(
        "inbound of any proxy at a:80   client web and 2 more  may connect → may not connect  "
    )
    assert "client till  may not connect → may connect" in said[1]
    assert "client shop  may connect → AllowWithShadowDeny" in said[2]
    assert "client web, shop, till  " in lines(*refused, verbose=True)


def certificate(client: str, before: str | None, after: str | None) -> Witness:
    """Return which names a client shows."""
    return witness(
        "certificate",
        policy_type="MeshIdentity",
        direction="mesh",
        destination=client,
        place=client,
        proxy="",
        before=Value(value=before),
        after=Value(value=after),
    )


def test_certificates_that_all_end_are_one_difference_though_each_has_its_own_names() -> None:
    gone = [certificate(name, f"spiffe://m/{name}, kuma://{name}", None) for name in ("a", "b")]
    come = certificate("c", None, "spiffe://m/c")
    assert lines(*gone, come).splitlines() == [
        "client a and 1 more   certificate  spiffe://m/a and 1 more → none",
        "client c   certificate  none → spiffe://m/c",
    ]
    assert lines(*gone, verbose=True).splitlines() == [
        "client a   certificate  spiffe://m/a and 1 more → none",
        "client b   certificate  spiffe://m/b and 1 more → none",
    ]


def test_who_may_connect_to_an_inbound_is_said_of_its_service() -> None:
    rules = [{"from": [[SERVICE, "web", False]], "action": "Allow"}]
    one = witness(
        "from",
        policy_type="MeshTrafficPermission",
        direction="inbound",
        destination="192.0.2.1:10000",
        proxy="any proxy with kuma.io/service=catalog",
        before=Value(value=rules, policy="p", at="t.yaml:1:1"),
        after=Value(value=None),
    )
    assert lines(one) == "inbound of catalog:  web may connect → nobody may   t.yaml:1\n"


def test_what_only_the_old_engine_set_says_that_nothing_can_set_it_now() -> None:
    one = witness(
        "http.idleTimeout (downstream)",
        before=Value(value="1h"),
        after=Value(value="0s"),
        effect=Effect.RESIDUE,
    )
    assert lines(one) == (
        "any proxy → pay   idle timeout towards the client  1h → off"
        "    (1h: from the old engine; off: no new policy can set it)\n"
    )


@pytest.mark.parametrize(
    ("place", "rules", "said"),
    [
        ("toRules", [{}], "services by their tag   MeshTimeout rules  none → 1 rule"),
        (
            "gatewayByListener 192.0.2.1:80",
            {"rules": [{}], "resourceRules": [{}, {}]},
            "listener 192.0.2.1:80   MeshTimeout rules  none → 3 rules",
        ),
    ],
)
def test_lists_of_a_gateway_are_said_by_what_they_are_for(
    place: str, rules: Any, said: str
) -> None:
    one = witness(
        field="rules",
        proxy="gateway edge",
        direction="gateway",
        destination=place,
        place=place,
        before=Value(),
        after=Value(value=rules),
    )
    assert plain(difference_lines([one], Sides(), indent="")).strip() == f"gateway edge → {said}"


def test_what_is_no_setting_of_a_policy_has_no_default() -> None:
    """A Dataplane's outbound, what Kuma adds to it, a certificate: nobody fills these in."""
    for kind, name in (("Dataplane", "networking.outbound"), ("MeshTLS", "sent")):
        one = witness(name, policy_type=kind, before=Value(value=None), after=Value(value="x"))
        assert shown(one, one.before, texts()).origin == ""
        assert shown(one, one.after, texts()).origin == ""


def test_a_value_in_a_block_is_found_where_it_begins() -> None:
    text = TEXT.replace("60s", ">-\n    60s")
    found = shown(witness(), witness().after, texts(text))
    assert (found.words, found.place, found.origin) == ("1m", "t.yaml:3", "")


def test_a_route_that_keeps_the_tag_says_so() -> None:
    """Where a mode switches both sides say the tag, which is what differs."""
    kept = [["kuma.io/service=cart", 1]]
    one = witness("backendRefs", policy_type="MeshHTTPRoute", before=Value(value=kept))
    same = replace(one, after=Value(value=kept))
    assert "goes to  cart (weight 1) → the same by tag, where a real service" in lines(same)
    real = replace(one, after=Value(value=[["kri_msvc_default_east_shop_cart_web", 1]]))
    assert "goes to  cart (weight 1) → cart.shop:web (weight 1)" in lines(real)
    gone = replace(one, after=Value(value=[]))
    assert "goes to  cart (weight 1) → nowhere" in lines(gone)
    part = replace(one, field="answered with 500", before=Value(), after=Value(value=3))
    assert "answered with 500  none → weight 3" in lines(part)


def test_what_ends_with_the_old_engine_and_goes_on_with_the_upgrade_is_one_difference() -> None:
    """Of a service beside a TrafficRoute: off, then 5m by 2.14's default, then 30m by 3.0's."""

    def idle(at: str, before: str, after: str) -> Witness:
        values = Value(value=before), Value(value=after)
        route = {"path": {"value": "/"}} if ":" in at else None
        more = {"place": at, "destination": at, "route": route}
        return witness("http.streamIdleTimeout", before=values[0], after=values[1], **more)

    ends, upgrade = idle("api", "0s", "5m0s"), idle("api:80", "5m0s", "30m0s")
    said = lines(ends, upgrade)
    assert said.startswith("any proxy → api:80 /   stream idle timeout  off → 30m ")
    assert said.count("\n") == 1
    for second in (idle("pay:80", "5m0s", "30m0s"), idle("api:80", "5m0s", "0s")):
        assert lines(ends, second).count("\n") == 2


def test_of_a_made_up_inbound_the_client_is_named_and_no_address() -> None:
    met = {"policy_type": "MeshRateLimit", "direction": "inbound"}
    for client, said in (
        ("a client without a sidecar", "a client without a sidecar"),
        ("version=v1", "client version=v1"),
    ):
        for address, at in (("192.0.2.1:80", ""), ("10.0.0.1:80", " at 10.0.0.1:80")):
            one = witness("local", destination=f"{address}, {client}", **met)
            assert lines(one).startswith(f"inbound of any proxy{at}, {said}   MeshRateLimit local")
