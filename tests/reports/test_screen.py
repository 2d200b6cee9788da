"""The screens of a newcomer: three blocks, each thing once, and the words of experience.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kumamigrate.report.screen.difftext import BUT_WHAT_STARTS
from tests.cases import FIXTURES
from tests.frontdoor import Answer, command

MESH = """apiVersion: kuma.io/v1alpha1
kind: Mesh
metadata: {name: default}
spec:
  meshServices: {mode: Exclusive}
  skipCreatingInitialPolicies: ["*"]
"""
INBOUND = """apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: NAME, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshSubset, tags: {app: NAME}}
  from:
    - targetRef: {kind: Mesh}
      default: {idleTimeout: 1h}
"""
ROUTE = """apiVersion: kuma.io/v1alpha1
kind: MeshHTTPRoute
metadata: {name: slow, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  to:
    - targetRef: {kind: MeshService, name: pay, namespace: shop}
      rules: [{matches: [{path: {type: PathPrefix, value: /v1}}], default: {}}]
---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: on-route, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: MeshHTTPRoute, name: slow}
  to:
    - targetRef: {kind: Mesh}
      default: {http: {requestTimeout: 60s}}
"""
PERMISSION = """apiVersion: kuma.io/v1alpha1
kind: MeshTrafficPermission
metadata: {name: NAME, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Mesh}
  from:
    - targetRef: {kind: MeshSubset, tags: {app: NAME}}
      default: {action: Allow}
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a Git repository with a mesh, and be in it."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "mesh.yaml").write_text(MESH)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def many(folder: Path, text: str, number: int) -> None:
    """Write so many policies, a file and a folder for each."""
    for at in range(number):
        name = f"t{at:02}"
        (folder / "teams" / name).mkdir(parents=True)
        (folder / "teams" / name / "p.yaml").write_text(text.replace("NAME", name))


def screen(answer: Answer) -> str:
    """Return what stands below the diff."""
    return answer.out[answer.out.index("Kuma 2.14") :]


def test_fifty_two_files_are_one_screen(repository: Path) -> None:
    """Issue 13: 500 lines for 52 files become one screen; what is cut off, --verbose shows."""
    many(repository, INBOUND.replace("MeshSubset, tags: {app: NAME}", "Mesh"), 52)
    said = command("run", "--dry-run", given=None)
    assert len(said.out.splitlines()) <= 25, said.out
    assert re.search(r"\n  from-section +52  teams/t00/p.yaml:7", said.out)
    assert "more" in said.out
    every = command("run", "--dry-run", "--verbose", given=None).out
    for at in range(52):
        assert f"teams/t{at:02}/p.yaml:7   MeshTimeout t{at:02}" in every
    assert "… and" not in every


def test_the_blocks_come_in_order_and_say_nothing_twice(repository: Path) -> None:
    many(repository, INBOUND, 3)
    (repository / "p.yaml").write_text(PERMISSION.replace("NAME", "web"))
    said = screen(command("run", "--dry-run", given=None))
    assert said.startswith("Kuma 2.14 · 5 files · mesh default, MeshService mode Exclusive")
    blocks = [said.index(f"\n{block}") for block in ("WOULD CHANGE", "RESTS ON", "LEFT")]
    assert blocks == sorted(blocks)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    assert len(lines) == len(set(lines))


def test_a_long_diff_is_asked_for_and_a_short_one_shown(repository: Path) -> None:
    many(repository, INBOUND, 2)
    assert "+++ b/teams/t00/p.yaml" in command("run", "--dry-run", given=None).out
    many(repository / "more", INBOUND.replace("MeshSubset, tags: {app: NAME}", "Mesh"), 12)
    long = command("run", "--dry-run", given=None).out
    assert "+++ b/" not in long
    assert re.search(r"diff \(\d+ lines\): --verbose, or --diff FILE", long)
    assert "+++ b/teams/t00/p.yaml" in command("run", "--dry-run", "--verbose", given=None).out


def test_assumptions_of_one_kind_are_one_sentence(repository: Path) -> None:
    """Three policies by tag rest on the same thing, which is no three things."""
    many(repository, INBOUND, 3)
    said = screen(command("run", "--dry-run", given=None))
    assert "app=t00, app=t01 … and 1 more as tag and as label choose the same workloads" in said
    assert said.count("as tag and as label") == 1
    assert (
        "app=t00, app=t01, app=t02 as tag"
        in command("run", "--dry-run", "--verbose", given=None).out
    )


def test_a_cause_stands_once_with_its_places_below(repository: Path) -> None:
    """The same 330 characters under five findings are read once."""
    many(repository, PERMISSION, 5)
    said = command("check", "--target", "3.0", given=None).out
    assert said.count("which 3.0 refuses") == 1
    assert "so nobody is asked for permission   permission-without-certificate\n" in said
    assert "teams/t00/p.yaml:7, teams/t01/p.yaml:7" in said
    assert said.count("\n       → ") == 2  # its own, and that of the mode


def test_what_no_release_asks_for_yet_is_a_count_and_a_command(repository: Path) -> None:
    """A check for 2.14 leaves out what only 3.0 refuses."""
    mtls = "  mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
    (repository / "mesh.yaml").write_text(MESH + mtls + "  routing: {zoneEgress: true}\n")
    said = command("check", given=None).out
    assert "mesh-zone-egress" not in said
    assert "\n2 more findings are of 3.0 alone: kumamigrate check --target 3.0\n" in said
    assert "mesh-zone-egress" in command("check", "--target", "3.0", given=None).out


def test_settings_that_start_to_work_say_so_with_both_lines(repository: Path) -> None:
    (repository / "r.yaml").write_text(ROUTE)
    said = screen(command("run", "--dry-run", given=None))
    assert f"Proved: no live value changes for any possible proxy{BUT_WHAT_STARTS}.\n" in said
    assert (
        "1 setting stands in Git and is ignored by this mesh today; it starts to work"
        " (--hold activation keeps that out of this change):\n"
        "  any proxy → pay.shop /v1   request timeout  15s → 60s   r.yaml:16"
        " (15s: the default)\n"
    ) in said
    assert "  mesh default has MeshService pay.shop, which is neither in these files nor" in said


def test_a_line_of_a_dry_run_is_one_of_the_text_on_the_disk(repository: Path) -> None:
    """The run takes lines out above it; nobody who reads the dry run has that text."""
    (repository / "r.yaml").write_text(ROUTE)
    on_disk = (repository / "r.yaml").read_text().splitlines()
    said = command("run", "--dry-run", given=None).out
    assert "requestTimeout: 60s" in on_disk[int(said.split("60s   r.yaml:")[1].split(" ")[0]) - 1]
    ran = command("run", given=None).out
    written = (repository / "r.yaml").read_text().splitlines()
    assert "requestTimeout: 60s" in written[int(ran.split("60s   r.yaml:")[1].split(" ")[0]) - 1]


def test_an_upgrade_that_is_not_safe_yet_says_so_before_it_offers_to_write(
    repository: Path,
) -> None:
    """ "To write this" after "not proved as a whole" reads as if all were well."""
    many(repository, INBOUND, 2)
    limits = (
        INBOUND.replace("MeshTimeout", "MeshCircuitBreaker")
        .replace("MeshSubset, tags: {app: NAME}", "MeshGateway, name: edge")
        .replace("NAME", "limits")
        .replace("idleTimeout: 1h", "connectionLimits: {maxConnections: 5}")
    )
    (repository / "l.yaml").write_text(limits)
    (repository / "p.yaml").write_text(PERMISSION.replace("NAME", "web"))
    mtls = "  mtls: {enabledBackend: ca, backends: [{name: ca, type: builtin}]}\n"
    (repository / "mesh.yaml").write_text(MESH + mtls)
    said = screen(command("run", "--dry-run", "--target", "3.0", given=None))
    assert "\nNot proved: " in said
    assert "To write these edits, which are safe one by one: kumamigrate run --target 3.0" in said


BOTH = INBOUND.replace(
    "  from:", "  to:\n    - targetRef: {kind: Mesh}\n      default: {idleTimeout: 2h}\n  from:"
)
EVERY = "[{match: {kuma.io/service: '*'}}]"
OLD = f"mesh: default\nname: all\nsources: {EVERY}\ndestinations: {EVERY}\n"


def test_kinds_that_come_are_named(repository: Path) -> None:
    many(repository, BOTH, 1)
    said = command("run", "--dry-run", given=None).out
    assert "\n  new      MeshTimeout t00-inbound (teams/t00/p.yaml)\n" in said


def test_what_goes_is_named_with_what_it_becomes_and_files_with_it(repository: Path) -> None:
    (repository / "mesh.yaml").write_text(MESH.replace("Exclusive", "Disabled"))
    (repository / "p.yaml").write_text(f"type: TrafficPermission\n{OLD}")
    route = "conf: {destination: {kuma.io/service: '*'}}\n"
    (repository / "route.yaml").write_text(f"type: TrafficRoute\n{OLD}{route}")
    idle = "to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]"
    for_all = f"spec: {{targetRef: {{kind: Mesh}}, {idle}}}\n"  # or the route's own are lost
    (repository / "idle.yaml").write_text(f"type: MeshTimeout\nname: t\nmesh: default\n{for_all}")
    said = command("run", "--dry-run", given=None).out
    assert "REMOVED  TrafficPermission all (p.yaml): becomes MeshTrafficPermission all\n" in said
    assert "REMOVED  TrafficRoute all (route.yaml)" in said


def test_a_share_of_a_service_is_new_and_takes_no_policys_place(repository: Path) -> None:
    """It begins with the name of its service, as a Timeout for that may, and is something else."""
    canary = FIXTURES.joinpath("legacy-traffic-route", "canary-for-3.0", "before", "mesh.yaml")
    timeout = "conf: {connectTimeout: 3s, http: {requestTimeout: 7s}}\n"
    mesh = f"{canary.read_text()}---\ntype: Timeout\n{OLD.replace('all', 'pay')}{timeout}"
    (repository / "mesh.yaml").write_text(mesh)
    asked = ("run", "--dry-run", "--target", "3.0", "--initial-policies", "none")
    said = command(*asked, given=None).out
    assert "  new      MeshService pay-v1 (mesh.yaml), MeshService pay-v2 (mesh.yaml)\n" in said
    assert "REMOVED  Timeout pay (mesh.yaml): becomes MeshTimeout pay" in said
    assert "Proved: no live value changes with the upgrade to 3.0" in said
    assert "connection timeout  5s → 3s" in said.partition("it starts to work")[2]


def test_what_2_14_overrules_of_an_old_timeout_starts_to_work(repository: Path) -> None:
    """The release in use connects within 5s whatever a Timeout says (legacy.md fact 6): the 7s of
    the MeshTimeout are new. Up to 2.9 they are what it was."""
    (repository / "mesh.yaml").write_text(MESH.replace("Exclusive", "Disabled"))
    conf = "conf: {connectTimeout: 7s, http: {requestTimeout: 9s}}\n"
    (repository / "p.yaml").write_text(f"type: Timeout\n{OLD}{conf}")
    route = "conf: {destination: {kuma.io/service: '*'}}\n"
    (repository / "route.yaml").write_text(f"type: TrafficRoute\n{OLD}{route}")
    said = command("run", "--dry-run", given=None).out
    assert f"Proved: no live value changes for any possible proxy{BUT_WHAT_STARTS}.\n" in said
    starts = "connection timeout  5s → 7s"
    assert starts in said.partition("ignored by this mesh today")[2]
    assert starts not in command("run", "--dry-run", "--from", "2.9", given=None).out
    assert starts in command("run", "--dry-run", "--target", "2.12", given=None).out


def test_the_last_traffic_route_waits_for_idle_times_and_says_so(repository: Path) -> None:
    """Where it speaks HTTP 2.14 ends idle connections after an hour, else nobody does."""
    mesh = MESH.replace("Exclusive", "Disabled") + "skipCreatingInitialPolicies: ['*']\n"
    (repository / "mesh.yaml").write_text(mesh)
    route = "conf: {destination: {kuma.io/service: '*'}}\n"
    (repository / "route.yaml").write_text(f"type: TrafficRoute\n{OLD}{route}")
    said = command("run", "--dry-run", given=None).out
    assert "or first write a MeshTimeout to Mesh with the idleTimeout that you want" in said
    idle = "to: [{targetRef: {kind: Mesh}, default: {idleTimeout: 1h}}]"
    for_all = f"spec: {{targetRef: {{kind: Mesh}}, {idle}}}\n"
    (repository / "idle.yaml").write_text(f"type: MeshTimeout\nname: t\nmesh: default\n{for_all}")
    assert "REMOVED  TrafficRoute all" in command("run", "--dry-run", given=None).out


def test_a_file_that_keeps_its_comments_alone_is_named(repository: Path) -> None:
    (repository / "mesh.yaml").write_text(MESH + "skipCreatingInitialPolicies: ['*']\n")
    chosen = "selectors: [{match: {kuma.io/service: ghost}}]\n"
    (repository / "p.yaml").write_text(
        f"# See OPS-12.\ntype: TrafficTrace\nname: none\nmesh: default\n{chosen}"
    )
    said = command("run", given=None).out
    assert "REMOVED  TrafficTrace none (p.yaml)" in said
    assert "KEPT     a file of comments alone stays, no comment is deleted: p.yaml" in said
    assert (repository / "p.yaml").read_text() == "# See OPS-12.\n"


def test_what_both_engines_make_is_named_with_its_values(repository: Path) -> None:
    proxy = (
        "---\ntype: Dataplane\nname: web-1\nmesh: default\nnetworking:\n  address: 10.0.0.1\n"
        "  inbound: [{port: 80, tags: {kuma.io/service: web, kuma.io/protocol: http}}]\n"
        "  outbound: [{port: 8080, tags: {kuma.io/service: web}}]\n"
    )
    mesh = MESH.replace("Exclusive", "Disabled") + "skipCreatingInitialPolicies: ['*']\n"
    (repository / "mesh.yaml").write_text(mesh + proxy)
    (repository / "p.yaml").write_text(
        f"type: Timeout\n{OLD}conf: {{http: {{requestTimeout: 9s}}}}\n"
    )
    route = "conf: {destination: {kuma.io/service: '*'}}\n"
    (repository / "route.yaml").write_text(f"type: TrafficRoute\n{OLD}{route}")
    (repository / "new.yaml").write_text(
        "type: MeshTimeout\nname: new\nmesh: default\nspec:\n"
        "  targetRef: {kind: MeshService, name: api}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 3s}}]\n"
    )
    said = command("run", "--dry-run", given=None).out
    assert "both engines act" in said
    assert "without Timeout all: web-1 → web http.requestTimeout 9s → 0s" in said


def test_two_states_are_compared_by_what_the_release_hears_of_old_timeouts(
    tmp_path: Path,
) -> None:
    route = f"type: TrafficRoute\n{OLD}conf: {{destination: {{kuma.io/service: '*'}}}}\n"
    mesh = MESH.replace("Exclusive", "Disabled") + f"---\n{route}---\n"
    before, after = tmp_path / "before.yaml", tmp_path / "after.yaml"
    old = f"type: Timeout\n{OLD}conf: {{connectTimeout: 7s}}\n"
    new = (
        "type: MeshTimeout\nname: all\nmesh: default\nspec:\n  targetRef: {kind: Mesh}\n"
        "  to: [{targetRef: {kind: Mesh}, default: {connectionTimeout: 7s, idleTimeout: 0s, http:"
        " {requestTimeout: 0s, streamIdleTimeout: 0s}}}]\n"
    )
    before.write_text(mesh + old)
    after.write_text(mesh + new)
    words = ("prove", str(before), str(after))
    said = command(*words, given=None)
    assert said.out.startswith("Equivalent but for 2 differences that may pass (activation")
    assert "connection timeout  5s → 7s" in said.out
    assert "5s → 7s" not in command(*words, "--target", "2.9", given=None).out
    after.write_text((mesh + new).replace("7s", "6s"))
    assert command(*words, given=None).code == 4


def test_two_files_of_one_identity_are_asked_about_not_ordered_away(repository: Path) -> None:
    for name in ("a", "b"):
        text = INBOUND.replace("NAME", "web").replace("1h", "1h" if name == "a" else "2h")
        (repository / f"{name}.yaml").write_text(text)
    said = command("run", "--dry-run", given=None).out
    assert "two files define MeshTimeout web, the other is a.yaml:1" in said
    assert "environments of their own? see `kumamigrate environments`; a patch? name it" in said


def test_paths_are_seen_from_where_the_user_stands(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(repository, INBOUND, 1)
    monkeypatch.chdir(repository / "teams")
    below = screen(command("run", "--dry-run", given=None))
    assert "t00/p.yaml:5" in below
    assert "teams/t00/p.yaml:5" not in below
    monkeypatch.chdir(repository.parent)
    above = screen(command("run", "--dry-run", repository.name, given=None))
    assert f"{repository.name}/teams/t00/p.yaml:5" in above
    assert above.rstrip().count(f"kumamigrate run {repository.name}") == 1


def test_a_change_that_was_only_tried_names_no_line_of_its_own(repository: Path) -> None:
    """Its text is nobody's: values are found where policies say them on the disk."""
    narrow = """---
apiVersion: kuma.io/v1alpha1
kind: MeshTimeout
metadata: {name: narrow, namespace: kuma-system, labels: {kuma.io/mesh: default}}
spec:
  targetRef: {kind: Dataplane, labels: {app: batch}}
  to:
    - targetRef: {kind: MeshHTTPRoute, name: slow}
      default: {http: {requestTimeout: 5s}}
"""
    (repository / "r.yaml").write_text(ROUTE + narrow)
    said = command("run", "--dry-run", "--stage", "contract", "--allow", "none", given=None).out
    place = re.search(r"60s   r.yaml:(\d+)", said)
    if "held" in said:
        assert place is not None, said
        line = (repository / "r.yaml").read_text().splitlines()[int(place[1]) - 1]
        assert "requestTimeout: 60s" in line


def test_a_finding_that_names_its_successor_keeps_the_name(tmp_path: Path) -> None:
    """The old policy is `it`; the new one begins with the same word and is not."""
    policy = (
        "type: TrafficPermission\nmesh: default\nname: NAME\n"
        "sources: [{match: {kuma.io/service: web}}]\n"
        "destinations: [{match: {kuma.io/service: NAME}}]\n"
    )
    texts = [policy.replace("NAME", name) for name in ("api", "db")]
    (tmp_path / "old.yaml").write_text("---\n".join([MESH, *texts]), encoding="utf-8")
    said = command("check", tmp_path, given=None).out
    assert "2  becomes MeshTrafficPermission api, db   legacy-traffic-permission" in said
