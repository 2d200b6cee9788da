"""Makes a GitOps repository for measuring: some of it Kuma's, most of it not."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

Random = random.Random
Writer = Callable[[Random, int], str]

SERVICES = 300
NAMESPACES = 40


def make_repository(root: Path, *, files: int, kuma: float, workloads: float, seed: int = 7) -> int:
    """Write so many files below a folder; return their size in bytes.

    `kuma` and `workloads` are shares of all files. One file holds the Mesh and the Namespaces, of
    which one in four gives its Pods a sidecar.
    """
    rng = Random(seed)
    first = MESH + "".join(map(_namespace, range(NAMESPACES)))
    (root / "mesh.yaml").write_text(first, encoding="utf-8")
    size = len(first)
    for number in range(files - 1):
        draw = rng.random()
        if draw < kuma:
            writer, suffix, part = rng.choice(KUMA_WRITERS), "yaml", "mesh"
        elif draw < kuma + workloads:
            writer, suffix, part = rng.choice(WORKLOAD_WRITERS), "yaml", "apps"
        else:
            writer, suffix = rng.choice(OTHER_WRITERS)
            part = "platform"
        folder = root / part / f"team-{number % 41}" / f"unit-{number % 7}"
        folder.mkdir(parents=True, exist_ok=True)
        text = writer(rng, number)
        (folder / f"file-{number}.{suffix}").write_text(text, encoding="utf-8")
        size += len(text)
    (root / ".gitignore").write_text("*.tmp\n/build/\n**/node_modules/\n", encoding="utf-8")
    return size


MESH = """\
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata:
  name: default
spec:
  meshServices:
    mode: Everywhere
  mtls:
    enabledBackend: ca-1
    backends:
      - name: ca-1
        type: builtin
"""

_HEAD = """\
# Owned by team {team}; ask in #mesh before changing.
apiVersion: kuma.io/v1alpha1
kind: {kind}
metadata:
  name: {name}
  namespace: {namespace}
  labels:
    kuma.io/mesh: default
    team: team-{team}
spec:
"""


def _head(rng: Random, kind: str, number: int, *, namespace: str = "kuma-system") -> str:
    name = f"{kind.lower()}-{number}"
    return _HEAD.format(kind=kind, name=name, namespace=namespace, team=rng.randrange(41))


def _app(rng: Random) -> int:
    return rng.randrange(SERVICES)


def _timeout_from(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshTimeout", number)
        + f"""\
  targetRef:
    kind: MeshSubset
    tags:
      app: app-{_app(rng)}   # only this one is slow
  from:
    - targetRef:
        kind: Mesh
      default:
        connectionTimeout: {rng.randrange(1, 30)}s
        http:
          # the bank answers when it wants to
          requestTimeout: {rng.randrange(1, 90)}s
"""
    )


def _timeout_to(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshTimeout", number)
        + f"""\
  targetRef:
    kind: Mesh
  to:
    - targetRef:
        kind: MeshService
        name: app-{_app(rng)}_shop_svc_8080
      default:
        http: {{requestTimeout: {rng.randrange(1, 90)}s, streamIdleTimeout: 1h}}
"""
    )


def _retry(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshRetry", number)
        + f"""\
  targetRef: {{kind: MeshService, name: app-{_app(rng)}_shop_svc_8080}}
  to:
    - targetRef: {{kind: Mesh}}
      default:
        http:
          numRetries: {rng.randrange(1, 9)}
          retryOn:
            - "5xx"
            - GatewayError
"""
    )


def _route(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshHTTPRoute", number)
        + f"""\
  targetRef:
    kind: Mesh
  to:
    - targetRef:
        kind: MeshService
        name: app-{_app(rng)}_shop_svc_8080
      rules:
        - matches:
            - path: {{type: PathPrefix, value: /v{rng.randrange(9)}}}
          default:
            backendRefs:
              - kind: MeshServiceSubset
                name: app-{_app(rng)}_shop_svc_8080
                weight: 90
                tags: {{version: v1}}
"""
    )


def _permission(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshTrafficPermission", number, namespace="shop")
        + f"""\
  targetRef:
    kind: Dataplane
    labels:
      app: app-{_app(rng)}
  from:
    - targetRef:
        kind: MeshSubset
        tags:
          kuma.io/service: app-{_app(rng)}_shop_svc_8080
      default:
        action: Allow
"""
    )


def _breaker(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshCircuitBreaker", number)
        + f"""\
  targetRef:
    kind: Dataplane
  rules:
    - default:
        connectionLimits:
          maxConnections: {rng.randrange(10, 4000)}
          maxPendingRequests: 128
"""
    )


def _universal_limit(rng: Random, number: int) -> str:
    return f"""\
type: MeshRateLimit
mesh: default
name: limit-{number}
spec:
  targetRef:
    kind: MeshSubset
    tags: {{app: app-{_app(rng)}}}
  from:
    - targetRef: {{kind: Mesh}}
      default:
        local:
          http:
            requestRate: {{num: {rng.randrange(1, 500)}, interval: 10s}}
"""


def _health(rng: Random, number: int) -> str:
    return (
        _head(rng, "MeshHealthCheck", number)
        + f"""\
  to:
    - targetRef:
        kind: MeshService
        name: app-{_app(rng)}
        namespace: shop
        sectionName: http
      default:
        interval: 10s
        timeout: 2s
        unhealthyThreshold: 3
        healthyThreshold: 1
        http: {{path: /healthz}}
"""
    )


def _old_log(rng: Random, number: int) -> str:
    return f"""\
apiVersion: kuma.io/v1alpha1
kind: TrafficPermission
mesh: default
metadata:
  name: old-{number}
spec:
  sources:
    - match:
        kuma.io/service: app-{_app(rng)}_shop_svc_8080
  destinations:
    - match:
        kuma.io/service: '*'
"""


def _namespace(number: int) -> str:
    name = "shop" if number == 0 else f"space-{number}"
    label = "" if number % 4 else "\n  labels:\n    kuma.io/sidecar-injection: enabled"
    return f"---\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}{label}\n"


def _space(rng: Random) -> str:
    number = rng.randrange(NAMESPACES)
    return "shop" if number == 0 else f"space-{number}"


def _labels(number: int, app: int) -> str:
    return f"{{app: app-{app}, version: v{number % 3}, team: team-{number % 41}}}"


def _deployment(rng: Random, number: int) -> str:
    app = _app(rng)
    return f"""\
apiVersion: apps/v1
kind: Deployment
metadata:
  name: deploy-{number}
  namespace: {_space(rng)}
  labels: {_labels(number, app)}
spec:
  replicas: {rng.randrange(1, 9)}
  selector:
    matchLabels:
      app: app-{app}
  template:
    metadata:
      labels:
        app: app-{app}
        version: v{number % 3}
    spec:
      serviceAccountName: app-{app}
      containers:
        - name: main
          image: registry.example/app-{app}:1.{rng.randrange(40)}.{rng.randrange(9)}
          ports:
            - name: http
              containerPort: 8080
            - name: metrics
              containerPort: 9090
          env:
            - name: LOG_LEVEL
              value: info
            - name: DATABASE_URL
              valueFrom:
                secretKeyRef:
                  name: database
                  key: url
          resources:
            requests: {{cpu: 100m, memory: 128Mi}}
            limits:
              memory: 512Mi
          readinessProbe:
            httpGet:
              path: /ready
              port: 8080
          volumeMounts:
            - name: config
              mountPath: /etc/app
      volumes:
        - name: config
          configMap:
            name: app-{app}
"""


def _service(rng: Random, number: int) -> str:
    return f"""\
apiVersion: v1
kind: Service
metadata:
  name: service-{number}
  namespace: {_space(rng)}
spec:
  selector:
    app: app-{_app(rng)}
  ports:
    - name: http
      port: 8080
      targetPort: http
      appProtocol: http
"""


def _config_map(rng: Random, number: int) -> str:
    lines = "".join(f"    key.{n} = {rng.random()}\n" for n in range(rng.randrange(5, 60)))
    return f"""\
apiVersion: v1
kind: ConfigMap
metadata:
  name: config-{number}
data:
  app.properties: |
{lines}"""


def _release(rng: Random, number: int) -> str:
    values = "".join(f"    option{n}: {rng.randrange(999)}\n" for n in range(rng.randrange(5, 50)))
    return f"""\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  name: release-{number}
spec:
  interval: 5m
  chart:
    spec: {{chart: app, version: 1.{rng.randrange(99)}.0}}
  values:
{values}"""


def _kustomization(rng: Random, number: int) -> str:
    bases = "".join(f"  - ../base-{rng.randrange(99)}\n" for _ in range(rng.randrange(2, 20)))
    return f"kind: Kustomization\nnamePrefix: unit-{number}-\nresources:\n{bases}"


def _dashboard(rng: Random, number: int) -> str:
    panels = [
        {"id": n, "type": "graph", "targets": [{"expr": f"rate(http_total{{app='{n}'}}[5m])"}]}
        for n in range(rng.randrange(3, 40))
    ]
    return json.dumps({"title": f"Dashboard {number}", "panels": panels}, indent=2)


def _page(rng: Random, number: int) -> str:
    words = ("mesh", "policy", "deploy", "kind", "service", "traffic", "owner", "rollback")
    text = " ".join(rng.choice(words) for _ in range(rng.randrange(50, 600)))
    return f"# Runbook {number}\n\n{text}\n"


KUMA_WRITERS: tuple[Writer, ...] = (
    _timeout_from,
    _timeout_to,
    _retry,
    _route,
    _permission,
    _breaker,
    _universal_limit,
    _health,
    _old_log,
)
WORKLOAD_WRITERS: tuple[Writer, ...] = (_deployment, _service)
OTHER_WRITERS: tuple[tuple[Writer, str], ...] = (
    (_config_map, "yaml"),
    (_release, "yaml"),
    (_kustomization, "yaml"),
    (_dashboard, "json"),
    (_page, "md"),
)
