"""A snapshot of a cluster, through kubectl: no shell, no endless wait, nothing written there."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from kumamigrate.dataclass import dataclass
from kumamigrate.errors import UsageError
from kumamigrate.pattern import pattern
from kumamigrate.snapshot.configkinds import PLAIN

SECONDS = 300
"""So long a call may take; each request of it gets a minute."""

_GROUP = "kuma.io"
_NAME = pattern(rf"[a-z0-9]+\.{re.escape(_GROUP)}")
_INSIGHTS = pattern(rf"[a-z]*insights\.{re.escape(_GROUP)}")
_LISTED = ("api-resources", f"--api-group={_GROUP}", "--verbs=list", "-o", "name")
_EVERYWHERE = ("--all-namespaces", "-o", "yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class KubectlCluster:
    """A cluster as kubectl knows it; empty words mean what kubectl itself would take."""

    kubeconfig: Path | None = None
    context: str = ""

    @property
    def start(self) -> list[str]:
        """Return how every call begins."""
        words = ["kubectl"]
        if self.kubeconfig is not None:
            words += ["--kubeconfig", str(self.kubeconfig)]
        return [*words, "--context", self.context] if self.context else words


def name_of(cluster: KubectlCluster) -> str:
    """Return what the cluster is called: its context."""
    if cluster.context:
        return cluster.context
    return _call(cluster, ["config", "current-context"]).decode("utf-8", "replace").strip()


def exports_of(cluster: KubectlCluster) -> Iterator[tuple[str, bytes]]:
    """Yield what kubectl prints of everything that an inventory holds, each with its command.

    Raises UsageError where there is no kubectl, where it fails, or where the cluster has no Kuma.
    """
    listed = _call(cluster, _LISTED).decode("utf-8", "replace").split()
    kinds = [kind for kind in listed if _NAME.fullmatch(kind) and not _INSIGHTS.fullmatch(kind)]
    if not kinds:
        raise UsageError(
            f"{shlex.join([*cluster.start, *_LISTED])} names no resources of Kuma; is this the"
            " cluster of a control plane?"
        )
    for asked in (",".join(kinds), ",".join(PLAIN)):
        words = ["get", asked, *_EVERYWHERE]
        yield shlex.join([*cluster.start, *words]), _call(cluster, words)


def commands(cluster: KubectlCluster) -> tuple[str, ...]:
    """Return the lines that do the same in a shell."""
    start = shlex.join(cluster.start)
    listed = f"{start} {shlex.join(_LISTED)}"
    everywhere = shlex.join(_EVERYWHERE)
    kinds = f'"$({listed} | grep -v insights | paste -sd, -)"'
    return (
        f"{start} get {kinds} {everywhere} > kuma.yaml",
        f"{start} get {','.join(PLAIN)} {everywhere} > kubernetes.yaml",
    )


def _call(cluster: KubectlCluster, words: Sequence[str]) -> bytes:
    """Return what kubectl prints. Raises UsageError with what it complains about."""
    command = [*cluster.start, "--request-timeout=60s", *words]
    said = shlex.join([*cluster.start, *words])
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise UsageError(
            "kubectl is not on the PATH; kumamigrate snapshot --print-commands shows what to run"
            " where it is"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"{said} took longer than {SECONDS} seconds") from error
    except OSError as error:
        raise UsageError(f"{said}: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise UsageError(f"{said} failed: {lines[-1] if lines else f'exit {done.returncode}'}")
    return done.stdout
