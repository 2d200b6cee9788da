"""`kumamigrate snapshot`: which of the three ways was asked for, and where it goes."""

from __future__ import annotations

import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path

from kumamigrate.dataclass import dataclass, field
from kumamigrate.errors import UsageError
from kumamigrate.report.exit import Exit
from kumamigrate.snapshot import controlplane, kubectl
from kumamigrate.snapshot.take import TakenSnapshot, from_exports, from_files, from_manifests, save

_WAYS = (
    "say where from: --context NAME (with kubectl), --control-plane URL, or files that kubectl or"
    " kumactl wrote; --print-commands shows how to make these"
)
_SAVED = "inventory.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotAsked:
    """What the command line asks for."""

    exports: tuple[Path, ...] = ()
    kubeconfig: Path | None = None
    context: str | None = None
    control_plane: str | None = None
    token: str = field(default="", repr=False)
    ca_file: Path | None = None
    name: str = ""
    output: Path | None = None

    @property
    def cluster(self) -> kubectl.KubectlCluster | None:
        """Return the cluster to ask, None where none was named."""
        if self.kubeconfig is None and self.context is None:
            return None
        return kubectl.KubectlCluster(kubeconfig=self.kubeconfig, context=self.context or "")


def snapshot(asked: SnapshotAsked) -> Exit:
    """Take a snapshot and write or print it. Raises UsageError where it cannot be whole."""
    text = (taken := _taken(asked)).text()
    if asked.output is None:
        sys.stdout.write(text)
        return Exit.CLEAN
    save(asked.output, text)
    told = taken.stamp.line().partition(": ")[2]
    use = shlex.join(["kumamigrate", "check", "--inventory", str(asked.output)])
    sys.stderr.write(f"{asked.output}: {told}. Use it: {use}\n")
    return Exit.CLEAN


def show_commands(asked: SnapshotAsked) -> Exit:
    """Print what makes the exports, for those who may not let this tool run it."""
    cluster = asked.cluster
    both = cluster is None and asked.control_plane is None
    output = str(asked.output or _SAVED)
    lines: list[str] = []
    if cluster is not None or both:
        lines += ["# on Kubernetes, in a zone or for a global control plane"]
        lines += kubectl.commands(cluster or kubectl.KubectlCluster())
        lines += [_join("kuma.yaml", "kubernetes.yaml", name=asked.name, output=output)]
    if asked.control_plane is not None or both:
        address = asked.control_plane or "http://localhost:5681"
        lines += [""] if lines else []
        lines += [
            "# from the API of a control plane; it writes other mTLS backends into its Meshes",
            f"kumactl config control-planes add --name snapshot --address {shlex.quote(address)}",
            "kumactl export --profile all --format universal > kuma.yaml",
            _join("kuma.yaml", name=asked.name, output=output),
        ]
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return Exit.CLEAN


def _join(*files: str, name: str, output: str) -> str:
    named = ["--name", name] if name else []
    return shlex.join(["kumamigrate", "snapshot", *files, *named, "--output", output])


def _taken(asked: SnapshotAsked) -> TakenSnapshot:
    cluster, now = asked.cluster, datetime.now(UTC)
    ways = [bool(asked.exports), cluster is not None, asked.control_plane is not None]
    if sum(ways) != 1:
        raise UsageError(_WAYS if not any(ways) else f"one way at a time; {_WAYS}")
    if cluster is not None:
        source = asked.name or kubectl.name_of(cluster)
        return from_exports(kubectl.exports_of(cluster), source, now)
    if asked.control_plane is not None:
        plane = controlplane.ControlPlane(
            url=asked.control_plane, token=asked.token, ca_file=asked.ca_file
        )
        return from_manifests(controlplane.resources_of(plane), asked.name or plane.name, now)
    return from_files(asked.exports, asked.name)
