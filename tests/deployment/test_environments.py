"""Repositories of several environments through the command line: each is a mesh of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import git
from tests.deployment.trees import tree, write
from tests.frontdoor import command

MESH = """
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {{name: default}}
spec: {{meshServices: {{mode: {mode}}}}}
"""
TIMEOUT = """
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {{name: {name}, namespace: kuma-system, labels: {{kuma.io/mesh: default}}}}
spec:
  targetRef: {{kind: {kind}, {select}: {{app: web}}}}
  to: [{{targetRef: {{kind: Mesh}}, default: {{http: {{requestTimeout: {value}}}}}}}]
"""
ON_ROUTE = """
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: on-route, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshHTTPRoute, name: api}
  to: [{targetRef: {kind: Mesh}, default: {http: {requestTimeout: 9s}}}]
---
apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {name: api, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to:
    - targetRef: {kind: MeshService, name: orders, namespace: shop}
      rules: [{matches: [{path: {type: PathPrefix, value: /api}}], default: {}}]
"""
IN_PLACE = "to: [{targetRef: {kind: MeshHTTPRoute, name: api}, default"
SPLIT = """
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata: {name: inbound, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxConnections: 5}}}]
"""


def _subset(name: str, value: str) -> str:
    return TIMEOUT.format(name=name, kind="MeshSubset", select="tags", value=value)


def _dataplane(name: str, value: str) -> str:
    return TIMEOUT.format(name=name, kind="Dataplane", select="labels", value=value)


def _mesh(mode: str) -> str:
    return MESH.format(mode=mode)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _files(root: Path, **texts: str) -> None:
    write({name.replace("__", "/") + ".yaml": t.encode() for name, t in texts.items()}, root)


def test_what_hides_a_policy_in_one_cluster_hides_it_not_in_another(repository: Path) -> None:
    """b loses to 0mask in the west; in the east it would lose to a where it won before."""
    both = _dataplane("a", "5s") + "---" + _subset("b", "9s")
    _files(
        repository,
        clusters__east__a=both,
        clusters__east__mesh=_mesh("Exclusive"),
        clusters__west__a=both,
        clusters__west__mesh=_mesh("Exclusive"),
        clusters__west__mask=_subset("0mask", "1s"),
    )
    answer = command("run", "--target", "3.0")
    assert answer.code == 4
    assert "clusters/east/a.yaml" in answer.out
    east = (repository / "clusters/east/a.yaml").read_text()
    assert east == both
    assert "MeshSubset" not in (repository / "clusters/west/a.yaml").read_text()


def test_each_cluster_is_read_in_its_own_mode(repository: Path) -> None:
    _files(
        repository,
        east__mesh=_mesh("Exclusive"),
        west__mesh=_mesh("Disabled"),
        west__p=ON_ROUTE,
    )
    command("run")
    text = (repository / "west/p.yaml").read_text()
    assert "targetRef: {kind: MeshHTTPRoute, name: api}\n  to: [{targetRef: {kind: Mesh}" in text
    assert "name: on-route-route" in text


def test_a_source_of_two_environments_changes_when_it_holds_in_both(repository: Path) -> None:
    shared = {"mesh__split": SPLIT, "mesh__b": _subset("b", "9s")}
    _files(
        repository,
        clusters__east__mesh=_mesh("Exclusive"),
        clusters__east__a=_dataplane("a", "5s"),
        clusters__west__mesh=_mesh("Exclusive"),
        **shared,
    )
    answer = command("run", "--target", "3.0")
    assert "in environment east" in answer.out
    assert (repository / "mesh/b.yaml").read_text() == shared["mesh__b"]
    assert "rules:" in (repository / "mesh/split.yaml").read_text()


def test_settings_say_which_environments_there_are(repository: Path) -> None:
    _files(
        repository,
        a__mesh=_mesh("Exclusive"),
        a__b=_subset("b", "9s"),
        b__a=_dataplane("a", "5s"),
    )
    (repository / "kumamigrate.toml").write_text(
        '[[environment]]\nname = "one"\ninclude = ["a/**"]\n'
        '[[environment]]\nname = "two"\ninclude = ["b"]\nmesh-services = "Exclusive"\n'
    )
    assert command("run", "--target", "3.0").code in (0, 1)
    assert "kind: Dataplane" in (repository / "a/b.yaml").read_text()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            '[[environment]]\nname = "a"\ninclude = ["gone/**"]\n',
            "environment a includes nothing at gone/**",
        ),
        (
            '[[environment]]\nname = "a"\ninclude = ["one/**"]\n'
            '[[environment]]\nname = "b"\ninclude = ["./one/"]\n',
            "environments a and b overlap: they have the same sources",
        ),
        (
            '[[environment]]\nname = "all"\ninclude = ["**"]\n'
            '[[environment]]\nname = "one"\ninclude = ["one/**"]\n',
            "environments all and one overlap: all holds MeshTimeout b twice,"
            " at one/b.yaml:2 and two/b.yaml:2",
        ),
        (
            '[[environment]]\nname = "a"\ninclude = ["one/**"]\nzones = "x"\n',
            "unknown setting zones",
        ),
    ],
)
def test_environments_that_cannot_be_are_refused(
    settings: str, said: str, repository: Path
) -> None:
    _files(repository, one__b=_subset("b", "9s"), two__b=_subset("b", "5s"))
    (repository / "kumamigrate.toml").write_text(settings)
    answer = command("run")
    assert (answer.code, "kumamigrate.toml" in answer.err) == (2, True), answer.err
    assert said in answer.err.replace("\n", " ")


def test_one_folder_is_written_and_all_are_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Split, web's inbound half would win or lose against the platform's by its name."""
    files = tree(
        """=== teams/web/t.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: web, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 7s}}]
  from: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 9s}}]
=== platform/mesh.yaml
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: web-default, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  rules: [{default: {connectionTimeout: 4s}}]
=== platform/cb.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshCircuitBreaker
metadata: {name: inbound, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  from: [{targetRef: {kind: Mesh}, default: {connectionLimits: {maxConnections: 5}}}]
"""
    )
    write(files, repository)
    monkeypatch.chdir(repository / "teams/web")
    command("run")
    part = (repository / "teams/web/t.yaml").read_bytes()
    assert (repository / "platform/cb.yaml").read_bytes() == files["platform/cb.yaml"]
    write(files, repository)
    monkeypatch.chdir(repository)
    command("run")
    assert (repository / "teams/web/t.yaml").read_bytes() == part
    assert (repository / "platform/cb.yaml").read_bytes() != files["platform/cb.yaml"]


def test_what_stands_outside_the_paths_given_is_not_spoken_of(repository: Path) -> None:
    on_route = _subset("c", "1s").replace(
        "kind: MeshSubset, tags: {app: web}", "kind: MeshService, name: x"
    )
    _files(repository, a__b=_subset("b", "9s"), c__d=on_route)
    (repository / "inventory.yaml").write_text(on_route.replace("1s", "2s"))
    said = command("check", "a", "--inventory", "inventory.yaml", "--target", "3.0").out
    assert "a/b.yaml" in said
    assert "c/d.yaml" not in said


def test_each_file_counts_where_one_resource_stands_in_two_clusters(repository: Path) -> None:
    for cluster in ("east", "west"):
        _files(repository, **{f"{cluster}__mesh": _mesh("Exclusive"), f"{cluster}__s": SPLIT})
    said = command("run", "--initial-policies", "none").out
    assert "CHANGED  2 resources, in 2 of 4 files, for Kuma 2.14" in said


def test_without_git_and_settings_the_path_is_the_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _files(tmp_path, teams__web=_subset("b", "9s"), platform=_mesh("Exclusive"))
    monkeypatch.chdir(tmp_path / "teams")
    coverage = command("check", "--format", "json").json["coverage"]
    assert coverage["files"] == 1
    monkeypatch.chdir(tmp_path)
    assert command("check", "--format", "json").json["coverage"]["files"] == 2


def test_what_no_kustomization_lists_may_be_applied_or_not(repository: Path) -> None:
    files = tree(
        """=== mesh/kustomization.yaml
resources: [mesh.yaml, r.yaml]
=== mesh/mesh.yaml
apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec: {meshServices: {mode: Exclusive}}
=== mesh/r.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: r, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshSubset, tags: {app: web}}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 3}}}]
=== mesh/left.yaml
apiVersion: kuma.io/v1alpha1
kind: MeshRetry
metadata: {name: left, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Dataplane, labels: {app: web}}
  to: [{targetRef: {kind: Mesh}, default: {http: {numRetries: 4}}}]
"""
    )
    write(files, repository)
    answer = command("run", "--initial-policies", "none")
    assert answer.code == 3
    assert "[1] mesh/left.yaml:1:1  no kustomization lists it, so nobody knows" in answer.out
    assert (repository / "mesh/r.yaml").read_bytes() == files["mesh/r.yaml"]
    (repository / "kumamigrate.toml").write_text('exclude = ["mesh/left.yaml"]\n')
    assert command("run", "--initial-policies", "none").code == 0
    assert b"kind: Dataplane" in (repository / "mesh/r.yaml").read_bytes()


def test_environments_are_listed_and_saved(repository: Path) -> None:
    _files(
        repository,
        clusters__east__mesh=_mesh("Exclusive"),
        clusters__west__mesh=_mesh("Disabled"),
        mesh__b=_subset("b", "9s"),
    )
    told = command("environments").out
    assert "3 files in 2 environments (found by their folders)" in told
    assert "east  2 manifest files · mesh default, MeshService mode Exclusive" in told
    assert "west  2 manifest files · mesh default, MeshService mode Disabled" in told
    listed = command("environments", "--format", "json").json["environments"]
    assert [(one["name"], one["files"]) for one in listed] == [("east", 2), ("west", 2)]
    assert command("environments", "--write").code == 0
    assert (repository / "kumamigrate.toml").read_text() == (
        '[[environment]]\nname = "east"\ninclude = ["**"]\nexclude = ["clusters/west/**"]\n\n'
        '[[environment]]\nname = "west"\ninclude = ["**"]\nexclude = ["clusters/east/**"]\n'
    )
    again = command("environments", "--format", "json").json["environments"]
    assert [{**one, "found": True} for one in again] == listed
    answer = command("environments", "--write")
    assert (answer.code, "lists environments already" in answer.err) == (2, True)


def test_environments_are_saved_where_the_settings_are(repository: Path) -> None:
    _files(repository, dev__mesh=_mesh("Exclusive"), prod__mesh=_mesh("Exclusive"))
    (repository / "pyproject.toml").write_text('[tool.kumamigrate]\ntarget = "2.13"')
    assert command("environments", "--write").code == 0
    assert "[[tool.kumamigrate.environment]]" in (repository / "pyproject.toml").read_text()
    assert command("check", "--format", "json").json["target"] == "2.13"


@pytest.mark.parametrize(
    ("namespace", "kustomization", "code"),
    [("", "", 3), ("namespace: shop, ", "", 0), ("", "namespace: shop\nresources: [t.yaml]\n", 0)],
    ids=["nowhere", "in the manifest", "in the kustomization"],
)
def test_a_manifest_without_a_namespace_may_reach_anybody(
    namespace: str, kustomization: str, code: int, repository: Path
) -> None:
    text = _subset("b", "9s").replace("namespace: kuma-system, ", namespace)
    _files(repository, t=text)
    if kustomization:
        (repository / "kustomization.yaml").write_text(kustomization)
    answer = command("run", "--initial-policies", "none", "--mesh-services", "Exclusive")
    assert answer.code == code, answer.out
    assert ("[1] t.yaml:2:1  MeshTimeout b has no namespace" in answer.out) is (code == 3)
    assert ("MeshSubset" in (repository / "t.yaml").read_text()) is (code == 3)


def test_a_revision_is_compared_environment_by_environment(repository: Path) -> None:
    (repository / ".git").rmdir()
    _files(
        repository,
        clusters__east__mesh=_mesh("Exclusive"),
        clusters__east__a=_dataplane("a", "5s"),
        clusters__west__mesh=_mesh("Exclusive"),
        clusters__west__a=_dataplane("a", "5s"),
    )
    git(repository, "init", "-q")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    asked = ("prove", "--against", "HEAD", "--initial-policies", "none")
    assert command(*asked).code == 0
    _files(repository, clusters__west__a=_dataplane("a", "6s"))
    answer = command(*asked)
    assert answer.code == 4
    assert "default in west  different" in answer.out
    assert "default in east  equivalent" in answer.out


def test_two_folders_are_compared_environment_by_environment(tmp_path: Path) -> None:
    for side, value in (("before", "5s"), ("after", "6s")):
        for cluster in ("east", "west"):
            _files(tmp_path / side, **{f"{cluster}__mesh": _mesh("Exclusive")})
            _files(tmp_path / side, **{f"{cluster}__a": _dataplane("a", value)})
            value = "5s"
    sides = (tmp_path / "before", tmp_path / "after")
    answer = command("prove", *sides, "--initial-policies", "none")
    assert answer.code == 4
    assert "default in east  different" in answer.out
    assert "default in west  equivalent" in answer.out
    _files(tmp_path / "after", north__mesh=_mesh("Exclusive"), north__a=_dataplane("a", "1s"))
    answer = command("prove", *sides, "--initial-policies", "none")
    assert "environment north stands only in the state after" in answer.out


def test_an_environment_has_its_own_facts_and_inventory(repository: Path) -> None:
    route = ON_ROUTE.partition("---\n")[2]
    _files(
        repository,
        a__t=ON_ROUTE.partition("---\n")[0],
        b__t=ON_ROUTE.partition("---\n")[0],
        inventory__b=route,
    )
    (repository / "kumamigrate.toml").write_text(
        'initial-policies = "none"\n'
        '[[environment]]\nname = "a"\ninclude = ["a/**"]\nmesh-services = "Exclusive"\n'
        '[[environment]]\nname = "b"\ninclude = ["b/**"]\nmesh-services = "Exclusive"\n'
        'inventory = ["inventory/b.yaml"]\n'
    )
    assert command("run").code == 1  # in a, whether there is such a route is not known
    assert IN_PLACE in (repository / "b/t.yaml").read_text()
    assert IN_PLACE not in (repository / "a/t.yaml").read_text()
    shown = command("environments", "--format", "json").json["environments"]
    assert [(one["files"], one["inventory"]) for one in shown] == [(1, 0), (1, 1)]
    for name, said in (("a", "Exclusive"), ("b", "Exclusive")):
        assert said in str(next(one for one in shown if one["name"] == name)["meshes"])


def test_the_command_line_overrules_what_an_environment_says(repository: Path) -> None:
    _files(repository, a__t=ON_ROUTE, b__t=_dataplane("a", "5s"))
    (repository / "kumamigrate.toml").write_text(
        'initial-policies = "none"\n'
        '[[environment]]\nname = "a"\ninclude = ["a/**"]\nmesh-services = "Disabled"\n'
        '[[environment]]\nname = "b"\ninclude = ["b/**"]\n'
    )
    command("run", "--mesh-services", "Exclusive")
    assert IN_PLACE in (repository / "a/t.yaml").read_text()


def test_named_files_are_checked_by_themselves(repository: Path) -> None:
    _files(repository, mesh=_mesh("Exclusive"), t=ON_ROUTE)
    answer = command("check", "t.yaml")
    assert "the files named are read by themselves" in answer.out
    assert command("check", "t.yaml", "--format", "json").json["coverage"]["files"] == 1
    assert command("check", "--format", "json").json["coverage"]["files"] == 2
    assert command("inspect", "t.yaml").code == 0
    (repository / "kumamigrate.toml").write_text(
        'exclude = ["docs/**"]\n[[environment]]\nname = "a"\ninclude = ["a/**"]\n'
    )
    _files(repository, docs__x=_subset("b", "9s"))
    assert command("check", "t.yaml").code == 1
    assert command("check", "docs/x.yaml", "--target", "3.0").code == 0


def test_settings_in_a_part_of_a_repository_say_that_the_rest_is_not_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _files(repository, mesh=_mesh("Exclusive"), teams__web__b=_subset("b", "9s"))
    (repository / "teams/web/kumamigrate.toml").write_text('target = "2.14"\n')
    monkeypatch.chdir(repository / "teams/web")
    assert "of the Git repository only . was read" in command("check").out


def test_sides_without_an_environment_in_common_are_not_compared(tmp_path: Path) -> None:
    for cluster in ("east", "west"):
        _files(tmp_path / "before", **{f"{cluster}__mesh": _mesh("Exclusive")})
    _files(tmp_path / "after", mesh=_mesh("Exclusive"))
    said = command("prove", tmp_path / "before", tmp_path / "after")
    assert said.code == 2
    assert "no environment in common (east, west and all files)" in " ".join(said.err.split())
