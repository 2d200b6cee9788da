"""What may stand on a command line: the commands and their arguments, as data.

argparse reads it, because it is there: typer brings pydantic, and took twice as long to import as
a pre-commit hook has for one file.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kumamigrate.dataclass import dataclass
from kumamigrate.report.forms import SAVED, TEXT


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument: what it is called on the command line, and what argparse is told of it.

    What begins without a dash is told by its place.
    """

    names: tuple[str, ...]
    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its arguments, in the order in which its help lists them."""

    name: str
    help: str
    arguments: tuple[Argument, ...]


def _one(*names: str, help: str, **settings: Any) -> Argument:
    return Argument(names, {"help": help, **settings})


def _word(name: str, metavar: str, help: str, **settings: Any) -> Argument:
    return _one(name, metavar=metavar, help=help, **settings)


def _choice(name: str, choices: tuple[str, ...], help: str, **settings: Any) -> Argument:
    return _one(name, choices=choices, help=help, **settings)


def _path(name: str, metavar: str, help: str) -> Argument:
    return _one(name, metavar=metavar, type=Path, help=help)


def _many(name: str, metavar: str, help: str, **settings: Any) -> Argument:
    return _one(name, metavar=metavar, action="append", help=f"{help}; repeatable", **settings)


def _flag(name: str, help: str) -> Argument:
    return _one(name, action="store_true", help=help)


_PATHS = _one("paths", nargs="*", metavar="PATH", type=Path, help="files or folders; default: here")
_TARGET = _word("--target", "RELEASE", "the release to reach: 2.9 to 2.14, or 3.0; default: 2.14")
_SOURCE = _word(
    "--from",
    "RELEASE",
    "the release in use now; default: the target, or the newest 2.x before 3.0",
    dest="source",
)
_STAGE = _choice(
    "--stage",
    ("auto", "expand", "contract"),
    "write new forms beside old ones (expand), or take the old ones away (contract); default: auto,"
    " which moves in place where that is safe today",
)
_SELECT = _many("--select", "RULE", "only these rules; default: all")
_IGNORE = _many("--ignore", "RULE", "not these rules; default: none")
_ACCEPT = _many(
    "--accept",
    "RULE[@FILE:LINE]",
    "write what a rule could not prove, or asks for, on your own word: everywhere, or at one place"
    " as reports name it; default: none",
)
_ALLOW = _word(
    "--allow",
    "KIND",
    "kinds of differences that may pass: activation, name, residue or none; several with commas"
    " or one by one; default: all three",
    action="append",
)
_HOLD = _word(
    "--hold",
    "KIND",
    "leave for a change of its own what makes such differences: activation (settings that have no"
    " effect today start to work), name, residue or none; default: none",
    action="append",
)
_BASELINE = _path(
    "--baseline",
    "FILE",
    "findings known before, which are left out; default: kumamigrate-baseline.json where it is;"
    " none: no such file",
)
_FAIL_ON = _choice(
    "--fail-on",
    ("silent-loss", "other-meaning", "refused", "deprecated", "advice", "none"),
    "exit with 1 only for findings that are as dangerous as that; default: all but mere advice",
)
_WORLD = (
    _choice(
        "--mesh-services",
        ("Disabled", "Everywhere", "ReachableBackends", "Exclusive"),
        "MeshService mode of meshes that no Mesh tells of; default: each is tried",
    ),
    _word("--zone", "NAME", "the zone whose control plane reads the files; default: default"),
    _choice(
        "--control-plane-mode",
        ("zone", "global"),
        "what control plane reads the files; default: zone",
    ),
    _word("--system-namespace", "NAME", "where the control plane lives; default: kuma-system"),
    _choice(
        "--initial-policies",
        ("none", "2.5", "2.6"),
        "what Kuma gave meshes at their creation: no policies, those up to 2.5, those since 2.6;"
        " default: each is tried where neither a Mesh nor an inventory tells",
    ),
    _many("--inventory", "PATH", "exported resources of a control plane", type=Path),
)
_VERBOSE = _one(
    "--verbose", "-v", action="store_true", help="list everything that is counted or left out"
)
_HOW = "how to print the result; default: text"
_FORMAT = _choice("--format", ("text", "json"), _HOW, default="text")
_PRINTED_AS = _choice(
    "--format",
    (TEXT, *SAVED),
    _HOW,
    default="text",
)
_OUTPUT = _many(
    "--output",
    "FORMAT=FILE",
    f"save the result as {', '.join(SAVED[:-1])} or {SAVED[-1]}, too",
    default=[],
)
_STATS = _flag("--stats", "say aside what was met, what it cost and where the time went")
_JOBS = _word(
    "--jobs",
    "N",
    "how many processes may work on proofs at a time; the result is the same; default: one for each"
    " processor that may be used",
)
_NO_CACHE = _flag(
    "--no-cache",
    "do all the work, and keep nothing for the next time",
)

COMMANDS = (
    Command(
        "run",
        "Change what can be proven, in place; say what was held back and why.",
        (
            _PATHS,
            _TARGET,
            _SOURCE,
            _flag("--dry-run", "show the diff and the verdict, write nothing"),
            _one(
                "-i",
                "--interactive",
                action="store_true",
                help="ask about each change: accept, skip, why, quit; what is skipped is held, and"
                " the rest proven again",
            ),
            _path(
                "--answers",
                "FILE",
                "as -i, with the answers from a file, one a line; - from what comes in",
            ),
            _path("--diff", "FILE", "save the patch to this file"),
            _path(
                "--plan",
                "FILE",
                "write nothing but a plan, which `kumamigrate apply` writes as it was reviewed",
            ),
            _choice(
                "--deletions",
                ("kubectl", "kumactl"),
                "list what to delete for who applies by hand, in a safe order",
            ),
            _flag("--markdown", "change examples in Markdown as well"),
            _path(
                "--adopt-initial-policies",
                "DIR",
                "write what meshes were given at creation into DIR, too",
            ),
            *_WORLD,
            _SELECT,
            _IGNORE,
            _STAGE,
            _ACCEPT,
            _ALLOW,
            _HOLD,
            _BASELINE,
            _FAIL_ON,
            _VERBOSE,
            _PRINTED_AS,
            _OUTPUT,
            _STATS,
            _JOBS,
        ),
    ),
    Command(
        "check",
        "Say what the target release would refuse, ignore or read differently; change nothing.",
        (
            _PATHS,
            _TARGET,
            _SOURCE,
            *_WORLD,
            _SELECT,
            _IGNORE,
            _STAGE,
            _BASELINE,
            _flag(
                "--dead",
                "say as well which policies reach nobody, are overruled everywhere, or repeat what"
                " holds without them",
            ),
            _FAIL_ON,
            _VERBOSE,
            _PRINTED_AS,
            _OUTPUT,
            _STATS,
            _NO_CACHE,
        ),
    ),
    Command(
        "apply",
        "Write a plan that `run --plan` made, byte for byte; nothing if files moved since.",
        (
            _one("plan", metavar="PLAN", type=Path, help="the file with the plan"),
            _one(
                "path", nargs="?", metavar="PATH", type=Path, help="the repository; default: here"
            ),
            _FORMAT,
        ),
    ),
    Command(
        "baseline",
        "Write down the findings there are, so that only new ones count; prune takes out those"
        " that are settled.",
        (
            _choice("action", ("write", "prune"), "what to do with it", metavar="write|prune"),
            _one(
                "path", nargs="?", metavar="PATH", type=Path, help="the repository; default: here"
            ),
            _path("--baseline", "FILE", "the file; default: kumamigrate-baseline.json at the top"),
            _TARGET,
            _SOURCE,
            *_WORLD,
        ),
    ),
    Command(
        "prove",
        "Say whether two states give every proxy the same configuration.",
        (
            _one(
                "before",
                nargs="?",
                metavar="BEFORE",
                type=Path,
                default=Path(),
                help="a file or folder; with --against, what to prove",
            ),
            _one(
                "after",
                nargs="?",
                metavar="AFTER",
                type=Path,
                help="the file or folder to compare with",
            ),
            _word("--against", "REVISION", "compare with this Git revision"),
            _word("--shard", "I/N", "only this part of the environments; see merge"),
            _TARGET,
            _SOURCE,
            *_WORLD,
            _ALLOW,
            _VERBOSE,
            _PRINTED_AS,
            _OUTPUT,
            _STATS,
            _JOBS,
        ),
    ),
    Command(
        "merge",
        "Put the proofs of all parts of the environments together: prove --shard, for CI.",
        (
            _one(
                "reports",
                nargs="*",
                metavar="REPORT",
                type=Path,
                help="what `prove --shard I/N --format json` printed, of every part",
            ),
            _PRINTED_AS,
            _OUTPUT,
        ),
    ),
    Command(
        "inspect",
        "Show what proxies resolve to, and which line each value comes from.",
        (
            _PATHS,
            _word("--release", "RELEASE", "the release whose matcher answers"),
            _word("--proxy", "NAME", "only the Dataplane of this name, or that of a workload"),
            _word(
                "--labels",
                "KEY=VALUE",
                "a made-up proxy with such labels; several with commas or one by one",
                action="append",
            ),
            _flag("--resources", "show the labels resources get instead"),
            _word("--environment", "NAME", "the environment to show, where there are several"),
            *_WORLD,
            _FORMAT,
        ),
    ),
    Command(
        "environments",
        "List the environments of the repository: what is applied together, each a mesh of its"
        " own.",
        (_PATHS, _flag("--write", "save them in kumamigrate.toml, to be corrected there"), _FORMAT),
    ),
    Command(
        "snapshot",
        "Take an inventory: what a control plane holds, without secrets, as one file.",
        (
            _one(
                "exports",
                nargs="*",
                metavar="FILE",
                type=Path,
                help="files that kubectl or kumactl wrote; - for what comes in",
            ),
            _path("--kubeconfig", "FILE", "take it with kubectl, and this configuration of it"),
            _word("--context", "NAME", "take it with kubectl, from the cluster of this context"),
            _word("--control-plane", "URL", "take it from a control plane's read API"),
            _word(
                "--token",
                "WORD",
                "what shows the control plane who asks; default: $KUMAMIGRATE_TOKEN",
            ),
            _path("--ca-file", "FILE", "certificates to trust, for https"),
            _word("--name", "NAME", "what to call where it was taken"),
            _flag("--print-commands", "show what to run by hand, and run nothing"),
            _path("--output", "FILE", "write it to this file"),
        ),
    ),
    Command(
        "completion",
        "Print what makes a shell complete commands, options and rules.",
        (_choice("shell", ("bash", "zsh", "fish"), "the shell", metavar="bash|zsh|fish"),),
    ),
    Command("rules", "List all rules.", (_FORMAT,)),
    Command(
        "rule",
        "Explain one rule: what, why, releases, before and after, traps, what is proved.",
        (_one("rule_id", metavar="ID", help="what the list calls it"), _FORMAT),
    ),
)
