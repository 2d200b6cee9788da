"""Laws of the matcher over random policies."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kumamigrate.model.conf import merge, normal
from kumamigrate.model.kri import kri_of
from kumamigrate.model.policytype import Conf, Field
from kumamigrate.model.release import release
from kumamigrate.model.resource import SERVICE, Resource
from kumamigrate.model.state import State
from kumamigrate.model.targetref import MESH
from kumamigrate.targetref.entry import Entry
from kumamigrate.targetref.lookup import first_containing, service_table
from kumamigrate.targetref.matcher import Matcher
from kumamigrate.targetref.meshdump import inspect_mesh
from kumamigrate.targetref.route import RealResource, ServiceTag
from kumamigrate.targetref.subset import ROUTE_HASH, Subset, Tag
from kumamigrate.targetref.torules import Item, clique_name, cliques
from tests.frontdoor import drawn
from tests.targetref.meshes import resource, route, service, sidecar, state

RELEASE = release("2.14")
TIMEOUT = RELEASE.policy_types["MeshTimeout"].conf("to")
POLICY = resource("MeshTimeout", "p")

SERVICES = ("a", "b", "c")
HASHES = ("h1", "h2", "h3")


def _subset(service_name: str | None, route_hash: str | None) -> Subset:
    tags = ((ROUTE_HASH, route_hash), (SERVICE, service_name))
    return tuple(Tag(key, value) for key, value in tags if value is not None)


to_subsets = st.one_of(
    st.just(_subset(None, None)),
    st.builds(_subset, st.sampled_from(SERVICES), st.none()),
    st.builds(_subset, st.sampled_from(SERVICES), st.sampled_from(HASHES)),
)
# What names more than a service and a route of it is in no index: the list has to be walked.
any_subsets = st.one_of(
    to_subsets,
    st.builds(_subset, st.none(), st.sampled_from(HASHES)),
    st.builds(lambda s: (*s, Tag("version", "v1")), to_subsets),
)


def _items(subsets: list[Subset]) -> tuple[Item, ...]:
    """Items whose confs name them, so that a merge shows exactly who took part."""
    return tuple(
        Item(
            subset,
            Entry(
                policy=POLICY,
                section="to",
                index=at,
                top=MESH,
                target=None,
                conf={"http": {f"from-{at}": at}},
                path=("to", at, "default"),
            ),
        )
        for at, subset in enumerate(subsets)
    )


@settings(max_examples=drawn(400), deadline=None)
@given(st.one_of(st.lists(to_subsets, max_size=14), st.lists(any_subsets, max_size=8)))
def test_lookup_gives_the_first_rule_of_the_list(subsets: list[Subset]) -> None:
    """matcher-notes §2: for a service, and for each route of it."""
    items = _items(subsets)
    table = service_table(items, TIMEOUT, "cliques")
    walking = service_table(items, TIMEOUT, "cliques")
    walking.regular = False
    rules = walking.enumerated()
    for name, digest in itertools.product((*SERVICES, "unnamed"), (*HASHES, "unbound", None)):
        element = {SERVICE: name} | ({ROUTE_HASH: digest} if digest else {})
        listed, looked_up = first_containing(rules, element), table.look_up(name, digest)
        assert (looked_up and looked_up.conf) == (listed[0].conf if listed else None), element
        walked = walking.look_up(name, digest)
        assert (looked_up and looked_up.level) == (walked and walked.level), element


@settings(max_examples=drawn(200), deadline=None)
@given(st.lists(to_subsets, min_size=1, max_size=9))
def test_cliques_are_the_largest_sets_that_all_meet(subsets: list[Subset]) -> None:
    """Against the definition, by trying every set of items."""

    def meet(a: Subset, b: Subset) -> bool:
        mine, other = {t.key: t.value for t in a}, {t.key: t.value for t in b}
        return all(other.get(key, value) == value for key, value in mine.items())

    nodes = range(len(subsets))
    complete = [
        set(group)
        for size in nodes
        for group in itertools.combinations(nodes, size + 1)
        if all(meet(subsets[a], subsets[b]) for a, b in itertools.combinations(group, 2))
    ]
    largest = [g for g in complete if not any(g < other for other in complete)]
    names = sorted((clique_name(sorted(g)) for g in largest), reverse=True)
    assert [clique_name(c) for c in cliques(subsets)] == names


targets = st.sampled_from(
    [
        {"kind": "Mesh"},
        {"kind": "MeshService", "name": "a"},
        {"kind": "MeshService", "name": "b", "sectionName": "main"},
        {"kind": "MeshService", "labels": {"team": "red"}},
        {"kind": "MeshHTTPRoute", "name": "r"},
    ]
)
tops = st.sampled_from(
    [
        None,
        {"kind": "Mesh", "proxyTypes": ["Sidecar"]},
        {"kind": "MeshSubset", "tags": {"version": "*"}},
        {"kind": "MeshService", "name": "a"},
        {"kind": "Dataplane", "labels": {"app": "a"}},
        {"kind": "MeshHTTPRoute", "name": "r"},
    ]
)


@st.composite
def meshes(draw: st.DrawFn) -> State:
    """A mesh with two proxies, two services, two routes and some timeouts of unique names."""
    policies = []
    for at in range(draw(st.integers(1, 5))):
        items = draw(st.lists(st.tuples(targets, st.integers(1, 9)), min_size=1, max_size=3))
        spec: dict[str, Any] = {
            "to": [
                {"targetRef": ref, "default": {"http": {"requestTimeout": f"{seconds}s"}}}
                for ref, seconds in items
            ]
        }
        top = draw(tops)
        if top:
            spec["targetRef"] = top
        origin = draw(st.sampled_from(["global", "zone"]))
        policies.append(resource("MeshTimeout", f"p{at}", spec, origin=origin))
    proxy = {"port": 80, "tags": {SERVICE: "a", "version": "v1"}}
    return state(
        sidecar("a", proxy, app="a"),
        sidecar("b"),
        service("a", team="red"),
        service("b", (80, "main"), (81, "admin")),
        route("r", {"kind": "MeshService", "name": "a"}, "/v1", "/"),
        route("q", {"kind": "MeshService", "name": "b"}, "/v1"),
        *policies,
    )


@settings(max_examples=drawn(150), deadline=None)
@given(meshes(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_matter(mesh: State, random: Any) -> None:
    shuffled = list(mesh.resources)
    random.shuffle(shuffled)
    again = replace(mesh, resources=tuple(shuffled))
    assert json.dumps(inspect_mesh(mesh), sort_keys=True) == json.dumps(
        inspect_mesh(again), sort_keys=True
    )


@settings(max_examples=drawn(150), deadline=None)
@given(meshes())
def test_lookups_of_a_mesh_equal_its_lists(mesh: State) -> None:
    matcher = Matcher(mesh)
    for proxy in matcher.proxies():
        rules = matcher.rules(proxy, "MeshTimeout")
        selection = rules.selection
        for name in ("a", "b", "none"):
            destination = ServiceTag(name)
            routes = [None, *matcher.http_routes(proxy, destination)]
            for at in routes:
                element = {SERVICE: name} | ({ROUTE_HASH: at.hash} if at else {})
                listed = first_containing(rules.to_rules, element)
                found = matcher.lookup(selection, destination, at)
                assert (found and found.conf) == (listed[0].conf if listed else None)
        keyed = {rule.kri: rule.conf for rule in rules.resource_rules}
        mesh_wide = next((c for k, c in keyed.items() if k.type == "Mesh"), None)
        for target in mesh.of_type("MeshService"):
            whole, part = kri_of(target), kri_of(target, "main")
            found = matcher.lookup(selection, RealResource(part))
            expected = keyed.get(part) or keyed.get(whole) or mesh_wide
            assert (found and found.conf) == expected


@settings(max_examples=drawn(60), deadline=None)
@given(meshes())
def test_a_witness_reads_what_its_twin_reads(mesh: State) -> None:
    """A proxy that is not in the state resolves as one that is."""
    matcher = Matcher(mesh)
    twin = next(matcher.state.of_type("Dataplane"))
    witness = replace(twin, name="made-up", made_up=True)
    mine, other = (matcher.rules(p, "MeshTimeout").as_json() for p in (witness, twin))
    assert mine == other
    assert matcher.proxy_class(witness) == matcher.proxy_class(twin)


proxies = st.builds(
    lambda at, version, app, zone, name: sidecar(
        f"{name}-{at}",
        {"port": 80, "name": name, "tags": {SERVICE: name, "version": version}},
        app=app,
        zone=zone,
        origin="zone",
    ),
    st.integers(0, 99),
    *(st.sampled_from(words) for words in (("v1", "v2"), ("a", "b"), ("east", "west"), ("a", "z"))),
)


@settings(max_examples=drawn(100), deadline=None)
@given(meshes(), st.lists(proxies, min_size=2, max_size=6))
def test_proxies_of_one_class_read_what_they_would_alone(
    mesh: State, listed: list[Resource]
) -> None:
    shared = Matcher(mesh)
    for proxy in listed:
        alone = Matcher(mesh).rules(proxy, "MeshTimeout").as_json()
        assert shared.rules(proxy, "MeshTimeout").as_json() == alone


def _value(field: Field) -> st.SearchStrategy[Any]:
    if field.is_list:
        item = _confs(field.fields) if field.item_type == "object" else st.sampled_from("xyz")
        return st.lists(item, max_size=2)
    match field.type:
        case "object":
            return _confs(field.fields)
        case "duration":
            return st.sampled_from(["0s", "60s", "1m", "90m", "1500ms", "2h45m0.5s"])
        case "bool":
            return st.booleans()
        case "map[string]string":
            return st.dictionaries(st.sampled_from("ab"), st.sampled_from("xy"), max_size=2)
        case "string":
            return st.sampled_from(field.enum or ("x", "y"))
        case _:
            return st.integers(0, 9)


def _confs(fields: Conf) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={n: _value(f) for n, f in fields.items()})


def _all_fields() -> list[tuple[str, str, Conf]]:
    return [
        (kind.name, section, kind.conf(section))
        for kind in RELEASE.policy_types.values()
        for section in kind.sections
    ]


@settings(max_examples=drawn(300), deadline=None)
@given(st.sampled_from(_all_fields()).flatmap(lambda f: st.tuples(st.just(f), _confs(f[2]))))
def test_a_normal_conf_is_normal(case: tuple[tuple[str, str, Conf], dict[str, Any]]) -> None:
    (_, _, fields), conf = case
    once = normal(conf, fields, defaults=True)
    assert normal(once, fields, defaults=True) == once


@settings(max_examples=drawn(300), deadline=None)
@given(st.sampled_from(_all_fields()).flatmap(lambda f: st.tuples(st.just(f), _confs(f[2]))))
def test_merging_a_conf_with_itself_changes_nothing(
    case: tuple[tuple[str, str, Conf], dict[str, Any]],
) -> None:
    """Types without append fields and without merge keys (matcher.md (e) steps 1 to 4)."""
    (_, _, fields), conf = case
    special = {"append", "by-key", "partition"}
    if any(f.merge in special for field in fields.values() for f in field.walk()):
        return
    mine = normal(conf, fields, defaults=True)
    assert merge([mine, mine], fields) == merge([mine], fields) == (mine,)
    assert merge([{}, mine], fields) == (mine,)


def test_resources_are_not_changed_by_matching() -> None:
    policy = resource("MeshTimeout", "p", {"to": [{"targetRef": {"kind": "Mesh"}}]})
    before = json.dumps(policy.spec)
    inspect_mesh(state(policy, sidecar("a"), Resource(type="Mesh", mesh="", name="default")))
    assert json.dumps(policy.spec) == before
