"""`check --dead`: what no proxy would miss, with the line that overrules it; worked out by hand.

Who wins is said in matcher.md (c): the kind at the top first (Dataplane before Mesh), the smaller
name last; a conf is merged field by field, (e). Without any policy Envoy has a request timeout of
15s and an idle timeout of 1h.
"""

from __future__ import annotations

from collections.abc import Mapping

from tests.choose.conftest import MakeShop
from tests.choose.shop import DEAD, MESH, ORDERS, ROUTE, Shop

TIMEOUT = """\
type: MeshTimeout
name: %s
mesh: default
spec:
  targetRef: {kind: %s}
  to:
    - targetRef: {kind: Mesh}
      default:
        connectionTimeout: %s
        http:
          requestTimeout: %s
"""
RETRY = """\
type: MeshRetry
name: again
mesh: default
spec:
  to:
    - targetRef: {kind: Mesh}
      default:
        http:
          numRetries: 5
          perTryTimeout: 16s
          backOff: {baseInterval: 25ms, maxInterval: 250ms}
"""
UNREACHED, OVERRULED, REPEATED = "unreached-policy", "overruled-setting", "repeated-setting"
Found = list[tuple[str, str, int, str]]


def dead(shop: Shop, *words: str, given: str | None = "none") -> Found:
    """Return what is said of dead settings: rule, file, line, message."""
    report = shop.run("check", "--dead", *words, "--format", "json", given=given).json
    rules = (UNREACHED, OVERRULED, REPEATED, "undecided-setting")
    return [
        (f["rule"], f["file"], f["line"], f["message"])
        for f in report["findings"]
        if f["rule"] in rules and f["status"] != "suppressed"
    ]


def mesh_with(make_shop: MakeShop, files: Mapping[str, str]) -> Shop:
    return make_shop({"mesh.yaml": MESH, "orders.yaml": ORDERS, **files})


def test_what_works_is_not_spoken_of(make_shop: MakeShop) -> None:
    shop = mesh_with(make_shop, {"a.yaml": TIMEOUT % ("a", "Mesh", "3s", "7s")})
    assert dead(shop) == []
    assert "none found" in shop.run("check", "--dead").out


def test_nothing_is_said_unless_asked_for(make_shop: MakeShop) -> None:
    shop = mesh_with(make_shop, {"dead.yaml": DEAD, "route.yaml": ROUTE})
    report = shop.run("check", "--format", "json").json
    assert {f["rule"] for f in report["findings"]} == {"route-in-target-ref"}


def test_a_policy_that_a_narrower_one_overrules_everywhere(make_shop: MakeShop) -> None:
    wide, narrow = TIMEOUT % ("wide", "Mesh", "3s", "7s"), TIMEOUT % ("z", "Dataplane", "4s", "8s")
    shop = mesh_with(make_shop, {"wide.yaml": wide, "narrow.yaml": narrow})
    said = "MeshTimeout wide: overruled everywhere, by z (narrow.yaml:9:28), z (narrow.yaml:11:27)"
    assert dead(shop) == [(OVERRULED, "wide.yaml", 1, said)]
    out = shop.run("check", "--dead").out
    assert "wide.yaml:1   MeshTimeout wide" in out
    assert "z (narrow.yaml:9:28)" in out


def test_of_equal_rank_the_smaller_name_wins(make_shop: MakeShop) -> None:
    files = {f"{n}.yaml": TIMEOUT % (n, "Mesh", t, t) for n, t in (("a", "3s"), ("b", "4s"))}
    ((rule, file, _, message),) = dead(mesh_with(make_shop, files))
    assert (rule, file) == (OVERRULED, "b.yaml")
    assert "by a (a.yaml:9:28)" in message


def test_a_single_setting_may_be_overruled_alone(make_shop: MakeShop) -> None:
    wide = TIMEOUT % ("wide", "Mesh", "3s", "7s")
    narrow = (TIMEOUT % ("z", "Dataplane", "4s", "8s")).replace(
        "        connectionTimeout: 4s\n", ""
    )
    shop = mesh_with(make_shop, {"wide.yaml": wide, "narrow.yaml": narrow})
    said = "spec.to[0].default.http.requestTimeout: overruled everywhere, by z (narrow.yaml:10:27)"
    assert dead(shop) == [(OVERRULED, "wide.yaml", 11, said)]


def test_what_only_some_are_overruled_in_is_alive(make_shop: MakeShop) -> None:
    some = (TIMEOUT % ("z", "Dataplane", "4s", "8s")).replace(
        "{kind: Dataplane}", "{kind: Dataplane, labels: {app: batch}}"
    )
    files = {"wide.yaml": TIMEOUT % ("wide", "Mesh", "3s", "7s"), "some.yaml": some}
    assert dead(mesh_with(make_shop, files)) == []


def test_an_entry_may_be_overruled_alone(make_shop: MakeShop) -> None:
    """The entry for the service is the narrower one of a policy; another policy outranks it."""
    wide = TIMEOUT % ("wide", "Mesh", "3s", "7s") + (
        "    - targetRef: {kind: MeshService, name: orders}\n"
        "      default: {http: {requestTimeout: 9s}}\n"
    )
    narrow = (
        "type: MeshTimeout\nname: z\nmesh: default\nspec:\n  targetRef: {kind: Dataplane}\n  to:\n"
        "    - targetRef: {kind: MeshService, name: orders}\n"
        "      default: {http: {requestTimeout: 8s}}\n"
    )
    shop = mesh_with(make_shop, {"wide.yaml": wide, "narrow.yaml": narrow})
    said = "spec.to[1]: overruled everywhere, by z (narrow.yaml:8:40)"
    assert dead(shop) == [(OVERRULED, "wide.yaml", 12, said)]


def test_a_value_that_envoy_has_without_it(make_shop: MakeShop) -> None:
    text = (
        "type: MeshTimeout\nname: a\nmesh: default\nspec:\n  to:\n"
        "    - targetRef: {kind: Mesh}\n      default: {http: {requestTimeout: 15s}}\n"
    )
    shop = mesh_with(make_shop, {"a.yaml": text})
    said = "MeshTimeout a: it says what Kuma and Envoy do without it"
    assert dead(shop) == [(REPEATED, "a.yaml", 1, said)]


def test_two_that_say_the_same_are_each_told_of_the_other(make_shop: MakeShop) -> None:
    files = {f"{n}.yaml": TIMEOUT % (n, "Mesh", "3s", "7s") for n in "ab"}
    shop = mesh_with(make_shop, files)
    found = dead(shop)
    assert [(rule, file) for rule, file, _, _ in found] == [
        (REPEATED, "a.yaml"),
        (REPEATED, "b.yaml"),
    ]
    assert "the same is said by b (b.yaml:9:28), b (b.yaml:11:27)" in found[0][3]
    assert "the same is said by a (a.yaml:9:28), a (a.yaml:11:27)" in found[1][3]


def test_a_route_at_the_top_reaches_nobody_in_mode_exclusive(make_shop: MakeShop) -> None:
    """product.md §1, laws 1 and 2."""
    shop = mesh_with(make_shop, {"dead.yaml": DEAD, "route.yaml": ROUTE})
    ((rule, file, line, message),) = dead(shop)
    assert (rule, file, line) == (UNREACHED, "dead.yaml", 1)
    assert "in MeshService mode Exclusive nothing reads a route reference at the top" in message


def test_what_waits_for_the_switch_is_not_dead(make_shop: MakeShop) -> None:
    """In mode Disabled no proxy has an outbound for it; with mode Exclusive it takes effect."""
    head, _, tail = DEAD.partition("  targetRef:")
    conf = tail.partition("{kind: Mesh}\n")[2]
    new = f"{head}  to:\n    - targetRef: {{kind: MeshHTTPRoute, name: api}}\n{conf}"
    shop = mesh_with(make_shop, {"new.yaml": new, "route.yaml": ROUTE})
    shop.write("mesh.yaml", MESH.replace("Exclusive", "Disabled"))
    assert dead(shop) == []


def test_whether_it_repeats_an_initial_policy_is_open_until_somebody_says(
    make_shop: MakeShop,
) -> None:
    """A mesh made since 2.6 has mesh-retry-all with these values; one without has no retries."""
    shop = mesh_with(make_shop, {"a.yaml": RETRY})
    assert dead(shop) == []
    assert [one[0] for one in dead(shop, given=None)] in ([], ["undecided-setting"])
    ((rule, file, _, message),) = dead(shop, given="2.6")
    assert (rule, file) == (REPEATED, "a.yaml")
    assert "mesh-retry-all-default (which the control plane made with the mesh)" in message


def test_what_cannot_be_read_leaves_it_open(make_shop: MakeShop) -> None:
    wide, narrow = TIMEOUT % ("wide", "Mesh", "3s", "7s"), TIMEOUT % ("z", "Dataplane", "4s", "8s")
    broken = "type: MeshTimeout\nname: x\nmesh: default\nspec:\n  to: []\n  to: []\n"
    files = {"wide.yaml": wide, "narrow.yaml": narrow, "x.yaml": broken}
    found = dead(mesh_with(make_shop, files))
    assert {one[0] for one in found} == {"undecided-setting"}
    assert "x.yaml:6" in found[0][3]


def test_of_the_proxies_known_none_reads_it(make_shop: MakeShop) -> None:
    """An inventory holds one proxy, and the policy is for another kind of it."""
    proxy = (
        "type: Dataplane\nname: web-1\nmesh: default\nlabels: {app: web}\n"
        "networking:\n  address: 10.0.0.1\n"
        "  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]\n"
        "  transparentProxying: {redirectPortInbound: 15006, redirectPortOutbound: 15001}\n"
    )
    gone = (TIMEOUT % ("gone", "Dataplane", "4s", "8s")).replace(
        "{kind: Dataplane}", "{kind: Dataplane, labels: {app: gone}}"
    )
    shop = mesh_with(make_shop, {"gone.yaml": gone})
    inventory = str(shop.root.parent / "inv.yaml")
    other = proxy.replace("web", "gone").replace("10.0.0.1", "10.0.0.2")
    (shop.root.parent / "inv.yaml").write_text(f"{proxy}---\n{other}")
    assert dead(shop, "--inventory", inventory) == []
    (shop.root.parent / "inv.yaml").write_text(proxy)
    assert dead(shop) == []
    ((rule, file, _, message),) = dead(shop, "--inventory", inventory)
    assert (rule, file) == (UNREACHED, "gone.yaml")
    assert "the one proxy known does not read it; it is for proxies to come" in message


def test_what_limits_is_to_be_looked_at_before_it_goes(make_shop: MakeShop) -> None:
    limit = (
        "type: MeshRateLimit\nname: %s\nmesh: default\nspec:\n  targetRef: {kind: Dataplane}\n"
        "  rules: [{default: {local: {http: {requestRate: {num: %s, interval: 1s}}}}}]\n"
    )
    shop = mesh_with(make_shop, {"a.yaml": limit % ("a", 5), "b.yaml": limit % ("b", 6)})
    report = shop.run("check", "--dead", "--format", "json").json
    (found,) = [f for f in report["findings"] if f["rule"] == OVERRULED]
    assert (found["file"], found["danger"]) == ("b.yaml", "advice")
    assert "second line of defence" in found["action"]


def test_it_is_information_and_makes_no_exit_code(make_shop: MakeShop) -> None:
    files = {f"{n}.yaml": TIMEOUT % (n, "Mesh", t, t) for n, t in (("a", "3s"), ("b", "4s"))}
    shop = mesh_with(make_shop, files)
    assert shop.run("check", "--dead").code == 0
    assert shop.run("check", "--dead", "--fail-on", "advice").code == 1


def test_a_mark_silences_it_and_is_not_called_unused_where_nobody_asked(
    make_shop: MakeShop,
) -> None:
    files = {f"{n}.yaml": TIMEOUT % (n, "Mesh", t, t) for n, t in (("a", "3s"), ("b", "4s"))}
    files["b.yaml"] = f"# kumamigrate: ignore[{OVERRULED}] for the audit\n{files['b.yaml']}"
    shop = mesh_with(make_shop, files)
    assert dead(shop) == []
    assert shop.run("check", "--format", "json").json["findings"] == []


def test_it_has_to_be_dead_in_every_environment(make_shop: MakeShop) -> None:
    """In one cluster a narrower policy overrules the one that both share, in the other none."""
    shop = make_shop(
        {
            "shared/wide.yaml": TIMEOUT % ("wide", "Mesh", "3s", "7s"),
            "clusters/a/mesh.yaml": MESH,
            "clusters/b/mesh.yaml": MESH,
            "clusters/a/narrow.yaml": TIMEOUT % ("z", "Dataplane", "4s", "8s"),
        }
    )
    assert dead(shop) == []
    shop.write("clusters/b/narrow.yaml", TIMEOUT % ("z", "Dataplane", "4s", "8s"))
    ((rule, file, _, message),) = dead(shop)
    assert (rule, file) == (OVERRULED, "shared/wide.yaml")
    assert "clusters/a/narrow.yaml" in message
    assert "clusters/b/narrow.yaml" in message


def test_an_old_policy_that_never_wins(make_shop: MakeShop) -> None:
    """Of old Timeouts the one with more tags in its selectors wins (legacy.md §2.2); until 2.9 what
    they say of connecting counts."""
    old = (
        "type: %s\nname: %s\nmesh: default\n"
        "sources: [{match: {kuma.io/service: '*'%s}}]\n"
        "destinations: [{match: {kuma.io/service: '*'}}]\nconf: %s\n"
    )
    files = {
        "route.yaml": old % ("TrafficRoute", "r", "", "{destination: {kuma.io/service: '*'}}"),
        "wide.yaml": old % ("Timeout", "wide", "", "{connectTimeout: 3s}"),
        "narrow.yaml": old % ("Timeout", "narrow", ", kuma.io/zone: '*'", "{connectTimeout: 4s}"),
    }
    shop = mesh_with(make_shop, files)
    shop.write("mesh.yaml", MESH.replace("Exclusive", "Disabled"))
    found = {file: rule for rule, file, _, _ in dead(shop, "--target", "2.9")}
    assert found.get("wide.yaml") == OVERRULED


TIED = """\
type: Dataplane
mesh: default
name: orders-1
networking:
  address: 192.168.0.1
  inbound: [{port: 80, tags: {kuma.io/service: orders, kuma.io/protocol: http}}]
---
type: TrafficRoute
name: route-all
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {destination: {kuma.io/service: '*'}}
---
type: Retry
name: first
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: 7}}
---
type: Retry
name: second
mesh: default
sources: [{match: {kuma.io/service: '*'}}]
destinations: [{match: {kuma.io/service: '*'}}]
conf: {http: {numRetries: 3}}
"""


def test_of_two_that_tie_neither_is_dead_since_no_listed_proxy_calls_anybody(
    make_shop: MakeShop,
) -> None:
    """A proxy to come may have an outbound; which of the two it reads goes by their age."""
    shop = make_shop({"mesh.yaml": MESH.replace("Exclusive", "Disabled"), "old.yaml": TIED})
    assert dead(shop) == []
