"""Kuma's matcher for targetRef policies: what every proxy reads (matcher.md, matcher-notes.md).

Everything is asked of a `Matcher`, which belongs to one `State` and one release and keeps what it
has worked out. Proxies and destinations are ordinary `Resource`s of the state, witnesses too;
a proxy need not be in the state. Policies that a control plane would refuse are left out of the
state by the caller; labels are taken as they stand.

Whole answers (targetref.proxyrules, targetref.meshdump):

    ProxyRules.as_json() -> dict             # the golden shape of the release
    inspect_mesh(state) -> dict              # {"dataplanes": {...}, "warnings": {...}}

The cached form, for many questions about one state:

    m = Matcher(state)                       # m.release is a model.release.Release
    m.proxies() -> tuple[Resource, ...]      # the Dataplanes of the state
    m.proxy_class(proxy) -> int              # equal: no policy of the state tells them apart
    m.rules(proxy, policy_type) -> ProxyRules
    m.selection(proxy, policy_type) -> Selection
        .policies: tuple[Resource, ...]      # merge order, lowest first
        .points: tuple[Point, ...]           # inbounds/listeners: address, port, policies
        .warnings, .ties
        .hostnames                           # vhosts of built-in gateways, as points
        .key: hashable; equal keys of one Matcher = equal to-side answers, so cache by it

Look-ups, direct (nothing is enumerated); None = no conf reaches it. A `Found` has
`.confs` (one per hostname group; `.conf` is the first), `.entries` (contributing entries, lowest
first) and `.level` ("service" | "route" | "mesh" | "resource" | "section"):

    m.service(selection, service: str, route_hash: str | None = None) -> Found | None
        # old `Rules`, service-tag outbounds, closed form. Law: equals first hit in to_rules.
    m.resource(selection, kri: Kri, route: Kri | None = None, direct_route=False) -> Found | None
        # ResourceRules. kri.section is the port name ("" = whole service).
        # First hit of route → section → resource → mesh. direct_route: only route hits count
        # (MeshAccessLog).
    m.inbound(selection, point: Point) -> InboundPoint      # .rules (2.14, 3.0), .from_rules (2.x)
    m.single(selection) -> Found | None                     # MeshMetric, MeshTrace, …

    ServiceTag(service) | RealResource(kri)                  # targetref.route: Destination
    m.lookup(selection, destination, route: EffectiveRoute | None = None) -> Found | None
    m.http_routes(proxy, destination) -> tuple[EffectiveRoute, ...]
        # Envoy order; the catch-all "/" is always among them, entry None unless a policy has it
    m.tcp_routes(proxy, destination) -> tuple[EffectiveRoute, ...]    # () = no MeshTCPRoute
        EffectiveRoute: name (hash or KRI text, as Envoy shows it), hash, kri (Kri | None: for the
        look-up at a real resource), match (one Kuma match, or {}), path ("exact"|"prefix"|
        "regex", value: PathPrefix /p is doubled into exact /p and prefix /p/), backend_refs,
        filters, entry (Entry | None: None for the catch-all "/")

    kri_of(resource, section="") -> Kri ; str(kri) is the text    # model.kri
    sections(resource) -> tuple[str, ...]                         # targetref.resolve: port names

Provenance: every rule and every Found carries `entries: tuple[Entry, ...]`, lowest precedence
first. Entry: policy (Resource), section ("to"|"from"|"rules"|"default"), index, conf,
`.path` (FieldPath inside the resource's spec, up to the conf).

    winner_of(rule, field_path) -> Source | None   # targetref.explain
    sources(rule, field_path) -> tuple[Source, ...]   # all that set it, strongest first
        Source: entry, policy, path (FieldPath inside the spec, down to the value), value

Ties that Kuma leaves to chance are values: `Selection.ties: tuple[Tie, ...]`; a Tie names the
policies and why ("equal-rank", "no-order", "store-order", "ambiguous-route"), and only stands
where their confs, merged in another order, give something else on a target both reach.
"""
