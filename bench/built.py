"""Holds runs to what builders make: `python bench/built.py [NUMBER] [SEED] [TARGET]`.

Made-up repositories have a Mesh, plain policies, a base with two overlays and a chart with two
files of values, or some of these, in two environments; their names meet now and then. A run
writes, and what kustomize and helm build of the files before and after it is proven again, as
plain files of one mesh. Printed are, with the seed: runs that say “proven” of what that proof does
not, builds that break, second runs that write, and what came out how often.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
os.environ["PATH"] = os.pathsep.join((str(ROOT / ".tools"), os.environ.get("PATH", os.defpath)))

import yaml  # noqa: E402

from tests.frontdoor import Answer, command  # noqa: E402

Random = random.Random
Policy = dict[str, Any]

ENVIRONMENTS = ("dev", "prod")
PROVEN, SAME = "proven", "equivalent"
CONFS: dict[str, tuple[Policy, ...]] = {
    "MeshTimeout": ({"connectionTimeout": "4s"}, {"http": {"requestTimeout": "8s"}}),
    "MeshRetry": ({"http": {"numRetries": 3}}, {"tcp": {"maxConnectAttempt": 2}}),
    "MeshCircuitBreaker": ({"connectionLimits": {"maxConnections": 9}},),
    "MeshTrafficPermission": ({"action": "Allow"}, {"action": "Deny"}),
}
OF_CLIENTS = ("MeshTrafficPermission",)
OF_BOTH = ("MeshTimeout", "MeshCircuitBreaker")
OLD_CONFS: dict[str, Policy] = {
    "Timeout": {"connectTimeout": "3s"},
    "Retry": {"http": {"numRetries": 4}},
    "CircuitBreaker": {"thresholds": {"maxConnections": 5}},
}
TOPS: tuple[Policy, ...] = (
    {},
    {"kind": "Mesh"},
    {"kind": "MeshSubset", "tags": {"app": "web"}},
    {"kind": "MeshService", "name": "db_shop_svc_80"},
    {"kind": "Dataplane", "labels": {"app": "web"}},
)
GOALS: tuple[Policy, ...] = (
    {"kind": "Mesh"},
    {"kind": "MeshService", "name": "db", "namespace": "shop"},
    {"kind": "MeshService", "name": "web_shop_svc_80"},
)
EVERYBODY = [{"match": {"kuma.io/service": "*"}}]


def _policy(rng: Random, number: int) -> Policy:
    """Return a policy; several may have one name."""
    name = rng.choice([f"p{number}", f"p{rng.randrange(3)}"])
    if rng.random() < 0.2:
        kind = rng.choice(list(OLD_CONFS))
        spec = {"sources": EVERYBODY, "destinations": EVERYBODY, "conf": OLD_CONFS[kind]}
        return _manifest(kind, {"name": name}, spec) | {"mesh": "default"}
    kind = rng.choice(list(CONFS))
    metadata = {
        "name": name,
        "namespace": rng.choice(["kuma-system", "kuma-system", "shop"]),
        "labels": {"kuma.io/mesh": "default"},
    }
    spec = {"targetRef": top} if (top := rng.choice(TOPS)) else {}
    if kind not in OF_CLIENTS:
        spec["to"] = [{"targetRef": rng.choice(GOALS), "default": rng.choice(CONFS[kind])}]
    if kind in OF_CLIENTS or (kind in OF_BOTH and rng.random() < 0.5):
        spec["from"] = [{"targetRef": {"kind": "Mesh"}, "default": CONFS[kind][0]}]
    return _manifest(kind, metadata, spec)


def _manifest(kind: str, metadata: Policy, spec: Policy) -> Policy:
    head = {"apiVersion": "kuma.io/v1alpha1", "kind": kind}
    return {**head, "metadata": metadata, "spec": spec}


def _text(*manifests: Policy) -> str:
    return "---\n".join(yaml.safe_dump(one, sort_keys=False) for one in manifests)


def _write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def make(root: Path, rng: Random) -> None:
    """Write a repository of two environments."""
    spec = {"meshServices": {"mode": rng.choice(["Exclusive", "Everywhere", "Disabled"])}}
    _write(root, "mesh/mesh.yaml", _text(_manifest("Mesh", {"name": "default"}, spec)))
    for number in range(rng.randrange(4)):
        policies = [_policy(rng, number) for _ in range(rng.randint(1, 2))]
        _write(root, f"mesh/{number}.yaml", _text(*policies))
    parts = rng.choice([(_overlays,), (_chart,), (_overlays, _chart)])
    for part in parts:
        part(root, rng)
    _write(root, "kumamigrate.toml", "".join(_environment(name, parts) for name in ENVIRONMENTS))


def _environment(name: str, parts: tuple[Callable[[Path, Random], None], ...]) -> str:
    said = [f'[[environment]]\nname = "{name}"\ninclude = ["mesh/**"]\ninitial-policies = "none"\n']
    if _overlays in parts:
        said.append(f'kustomize = "overlays/{name}"\n')
    if _chart in parts:
        said.append(f'helm = {{ chart = "chart", values = ["{name}.yaml"], release = "shop" }}\n')
    return "".join(said)


def _overlays(root: Path, rng: Random) -> None:
    bases = [f"{number}.yaml" for number in range(rng.randint(1, 3))]
    for number, base in enumerate(bases):
        _write(root, f"base/{base}", _text(_policy(rng, 20 + number)))
    _write(root, "base/kustomization.yaml", _text({"resources": bases}))
    for name in ENVIRONMENTS:
        overlay: Policy = {"resources": ["../../base"]}
        if rng.random() < 0.4:
            _write(root, f"overlays/{name}/own.yaml", _text(_policy(rng, 30)))
            overlay["resources"].append("own.yaml")
        if rng.random() < 0.25:
            overlay["namespace"] = rng.choice(["shop", "kuma-system"])
        if rng.random() < 0.25:
            overlay["namePrefix"] = f"{name}-"
        if rng.random() < 0.3:
            overlay["labels"] = [{"pairs": {"team": name}}]
        _write(root, f"overlays/{name}/kustomization.yaml", _text(overlay))


def _chart(root: Path, rng: Random) -> None:
    about = {"apiVersion": "v2", "name": "shop", "version": "0.1.0"}
    _write(root, "chart/Chart.yaml", _text(about))
    for path in ("chart/values.yaml", *(f"{name}.yaml" for name in ENVIRONMENTS)):
        _write(root, path, _text(_values(rng)))
    for number in range(rng.randint(1, 3)):
        template = _template(rng, _text(_policy(rng, 10 + number)))
        _write(root, f"chart/templates/{number}.yaml", template)


def _values(rng: Random) -> Policy:
    return {
        "on": rng.random() < 0.5,
        "app": rng.choice(["web", "db"]),
        "wait": rng.choice(["4s", "7s"]),
        "each": rng.sample(["a", "b"], rng.randrange(3)),
    }


def _template(rng: Random, text: str) -> str:
    """Return a template of a policy: values in place of words, or a condition around it."""
    for word, value in (("app: web", "app: {{ .Values.app }}"), ("4s", "{{ .Values.wait }}")):
        text = text.replace(word, value) if rng.random() < 0.3 else text
    shape = rng.randrange(5)
    if shape == 0:
        return "{{- if .Values.on }}\n" + text + "{{- end }}\n"
    if shape == 1:
        each = text.replace(".Values", "$.Values").replace("  name: p", "  name: {{ . }}-p", 1)
        return "{{- range .Values.each }}\n---\n" + each + "{{- end }}\n"
    return text


def built(root: Path, name: str) -> str | None:
    """Return what an environment gets from builders; None where one of them fails."""
    commands = [
        ["kustomize", "build", f"overlays/{name}"],
        ["helm", "template", "shop", "chart", "--values", f"{name}.yaml"],
    ]
    texts = []
    for words, needed in zip(commands, ("overlays", "chart"), strict=True):
        if (root / needed).is_dir():
            done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False)
            if done.returncode:
                return None
            texts.append(done.stdout)
    return "\n---\n".join(texts)


def tried(folder: Path, seed: int, target: str) -> Iterator[str]:
    """Try one repository; yield what came out, faults in capitals."""
    root, was = folder / "repository", folder / "was"
    make(root, Random(seed))
    before = {name: built(root, name) for name in ENVIRONMENTS}
    if None in before.values():
        yield "no build"
        return
    shutil.copytree(root, was)
    report = command("run", root, "--target", target, "--format", "json").json
    for name in ENVIRONMENTS:
        after = built(root, name)
        if after is None:
            yield "A BUILD BREAKS"
            continue
        sides = []
        for side, here, text in (("before", was, before[name]), ("after", root, after)):
            shutil.copytree(here / "mesh", folder / name / side)
            _write(folder / name / side, "built.yaml", text or "")
            sides.append(folder / name / side)
        verdict = _proven(sides, target, report)
        # That nothing is known of a part bars less of a run, which knows what stood there before.
        milder = report["whole"] == PROVEN and verdict not in (SAME, "unknown")
        yield f"{'MILDER: ' if milder else ''}the run {report['whole']}, its builds {verdict}"
    if command("run", root, "--target", target, "--format", "json").json["files"]:
        yield "A SECOND RUN WRITES"


def _proven(sides: list[Path], target: str, report: dict[str, Any]) -> str:
    claim = "release" if report["decides"] == "release" else "live"
    upgrade = target if claim == "release" else report["from"]
    words = ("--from", report["from"], "--target", upgrade, "--format", "json")
    answer: Answer = command("prove", *sides, *words)
    return str(answer.json["claims"][claim]["allowing"])


def main(number: int = 50, seed: int = 1, target: str = "2.14") -> int:
    """Try so many repositories; return whether anything is wrong."""
    found: Counter[str] = Counter()
    for one in range(seed, seed + number):
        with tempfile.TemporaryDirectory() as folder:
            for said in tried(Path(folder), one, target):
                found[said] += 1
                if said.split(":")[0].isupper():
                    print(f"seed {one}: {said}", flush=True)
    for said, times in found.most_common():
        print(f"{times:5} {said}")
    return int(any(said.split(":")[0].isupper() for said in found))


if __name__ == "__main__":
    number, seed, target = (*sys.argv[1:], *("50", "1", "2.14")[len(sys.argv) - 1 :])
    sys.exit(main(int(number), int(seed), target))
