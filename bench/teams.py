"""Measures `run --dry-run` on a repository of many teams: `python bench/teams.py 4 8 16 32`.

Each team has a namespace, three workloads with Services, routes and policies in forms of several
releases. Seconds are of processor time, user and system; the ratio is to the time in which PyYAML's
C loader reads the same files, the exponent how the time grows from one size to the next.
"""

from __future__ import annotations

import argparse
import math
import random
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

LOAD = """
import pathlib, sys, yaml
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.yaml")):
    list(yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader))
"""
MEASURE = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[2:], timeout=float(sys.argv[1]), capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
sys.stderr.write(done.stderr.decode()[-400:] if done.returncode == 2 else "")
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.returncode)
"""
TARGETS = ("2.14", "3.0")


def main() -> None:
    """Measure sizes and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("teams", type=int, nargs="*", default=[4, 8, 16, 32])
    parser.add_argument("--target", action="append", choices=TARGETS)
    parser.add_argument("--most", type=float, default=600, help="seconds after which to stop")
    given = parser.parse_args()
    print(f"{'':22}{'files':>7}{'loader':>9}{'seconds':>9}{'ratio':>8}{'exponent':>10}{'MiB':>7}")
    for target in given.target or TARGETS:
        last: tuple[int, float] | None = None
        for teams in given.teams:
            seconds = _row(teams, target, given.most, last)
            if seconds is None:
                break
            last = (teams, seconds)


def _row(teams: int, target: str, most: float, last: tuple[int, float] | None) -> float | None:
    """Print the line of one size, and return its seconds; None where it took too long."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "repository"
        files = make_teams(root, teams)
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        loader = _spent(most, [sys.executable, "-c", LOAD, str(root)])
        command = [sys.executable, "-m", "kumamigrate", "run", "--dry-run", "--target", target]
        spent = _spent(most, [*command, str(root)])
    name = f"{teams} teams to {target}"
    if loader is None or spent is None:
        print(f"{name:22}{files:>7}  not within {most:.0f} s")
        return None
    seconds, memory = spent
    grown = "" if last is None else f"n^{_exponent(last, (teams, seconds)):.2f}"
    ratio = f"{seconds / loader[0]:.0f} x"
    print(f"{name:22}{files:>7}{loader[0]:>9.2f}{seconds:>9.2f}{ratio:>8}{grown:>10}{memory:>7.0f}")
    return seconds


def _exponent(last: tuple[int, float], now: tuple[int, float]) -> float:
    return math.log(now[1] / last[1]) / math.log(now[0] / last[0])


def _spent(most: float, command: list[str]) -> tuple[float, float] | None:
    """Return processor seconds and peak MiB of a command, None where it took too long."""
    asked = [sys.executable, "-c", MEASURE, str(most), *command]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    if done.returncode:
        return None
    seconds, memory, code = done.stdout.split()
    if code == "2":
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return float(seconds), float(memory)


def make_teams(root: Path, teams: int, seed: int = 3) -> int:
    """Write a repository, and return how many files it has."""
    rng = random.Random(seed)
    names = [f"unit{n:03d}" for n in range(teams)]
    files = {"mesh.yaml": MESH}
    for at, name in enumerate(names):
        other = rng.choice(names)
        texts = (*_workloads(name), *_policies(at, name, other))
        files |= {f"units/{name}/{path}": text for path, text in texts}
    for path, text in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text).lstrip(), encoding="utf-8")
    return len(files)


MESH = """
    apiVersion: kuma.io/v1alpha1
    kind: Mesh
    metadata: {name: default}
    spec:
      meshServices: {mode: Exclusive}
      mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}
    ---
    apiVersion: kuma.io/v1alpha1
    kind: MeshTimeout
    metadata: {name: all, namespace: kuma-system, labels: {kuma.io/mesh: default}}
    spec:
      to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 12s}}}]
      from: [{targetRef: {kind: Mesh}, default: {idleTimeout: 90m}}]
    """


PARTS = (("front", 8080, "http"), ("back", 8080, "http"), ("store", 6379, "tcp"))


def _workloads(name: str) -> Iterator[tuple[str, str]]:
    yield (
        "namespace.yaml",
        f"""
        apiVersion: v1
        kind: Namespace
        metadata: {{name: {name}, labels: {{kuma.io/sidecar-injection: enabled}}}}
        """,
    )
    for part, port, protocol in PARTS:
        yield (
            f"{part}.yaml",
            f"""
            apiVersion: apps/v1
            kind: Deployment
            metadata: {{name: {name}-{part}, namespace: {name}}}
            spec:
              selector: {{matchLabels: {{app: {name}-{part}}}}}
              template:
                metadata: {{labels: {{app: {name}-{part}}}}}
                spec: {{containers: [{{name: main, image: "registry.example/{part}:2"}}]}}
            ---
            apiVersion: v1
            kind: Service
            metadata: {{name: {name}-{part}, namespace: {name}}}
            spec:
              selector: {{app: {name}-{part}}}
              ports: [{{name: main, port: {port}, appProtocol: {protocol}}}]
            """,
        )


def _policies(at: int, name: str, other: str) -> Iterator[tuple[str, str]]:
    system = "namespace: kuma-system, labels: {kuma.io/mesh: default}"
    own = f"namespace: {name}, labels: {{kuma.io/mesh: default}}"
    rule = "rules: [{matches: [{path: {type: PathPrefix, value: %s}}], default: {}}]"
    if at % 2 == 0:
        yield (
            "route.yaml",
            f"""
            # where {name} calls
            apiVersion: kuma.io/v1alpha1
            kind: MeshHTTPRoute
            metadata: {{name: {name}-calls, {system}}}
            spec:
              targetRef: {{kind: MeshSubset, tags: {{app: {name}-front}}}}
              to:
                - targetRef: {{kind: MeshService, name: {name}-back, namespace: {name}}}
                  {rule % "/a"}
                - targetRef: {{kind: MeshService, name: {other}-back, namespace: {other}}}
                  {rule % "/"}
            ---
            apiVersion: kuma.io/v1alpha1
            kind: MeshTimeout
            metadata: {{name: {name}-calls, {system}}} # asked for by {name}
            spec:
              targetRef: {{kind: MeshHTTPRoute, name: {name}-calls}}
              to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {5 + at}s}}}}}}]
            """,
        )
    yield (
        "limits.yaml",
        f"""
        apiVersion: kuma.io/v1alpha1
        kind: MeshTimeout
        metadata: {{name: {name}-in, {system}}}
        spec:
          targetRef: {{kind: MeshSubset, tags: {{app: {name}-back}}}}
          from: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {9 + at}s}}}}}}]
        ---
        apiVersion: kuma.io/v1alpha1
        kind: MeshTrafficPermission
        metadata: {{name: {name}-in, {system}}}
        spec:
          targetRef: {{kind: MeshService, name: {name}-back_{name}_svc_8080}}
          from:
            - targetRef: {{kind: MeshService, name: {other}-front_{other}_svc_8080}}
              default: {{action: Allow}}
        ---
        apiVersion: kuma.io/v1alpha1
        kind: MeshRetry
        metadata: {{name: {name}-again, {own}}}
        spec:
          to:
            - targetRef: {{kind: MeshService, name: {name}-back}}
              default: {{http: {{numRetries: {1 + at % 4}}}}}
        """,
    )


if __name__ == "__main__":
    main()
