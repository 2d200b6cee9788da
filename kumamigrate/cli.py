"""The command line: arguments in, functions called, exit code out. No logic lives here."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from kumamigrate import __version__
from kumamigrate.arguments import COMMANDS, Argument, Command
from kumamigrate.errors import KumamigrateError, UsageError
from kumamigrate.report.exit import Exit

_ABOUT = (
    "Bring the Kuma policies of a Git repository to the form a release wants, and prove that no"
    " proxy changes."
)
_HELP = ("-h", "--help")

Given = Mapping[str, Any]
"""What was given on the command line, by name; nothing of what was left out."""


def app(words: Sequence[str] | None = None) -> int:
    """Run a command line, and return the exit code."""
    given = [*(sys.argv[1:] if words is None else words)]
    try:
        code = _called(given)
        sys.stdout.flush()
    except KumamigrateError as error:
        sys.stderr.write(f"kumamigrate: {error}\n")
        code = Exit.FAILED
    except BrokenPipeError:
        sys.stderr.close()
        code = Exit.FAILED
    except KeyboardInterrupt:
        sys.stderr.write("kumamigrate: interrupted; nothing was left half written\n")
        code = Exit.FAILED
    except Exception as error:  # the last resort: our own fault, said in one line
        if os.environ.get("KUMAMIGRATE_DEBUG"):
            raise
        _tell_fault(error)
        code = Exit.FAILED
    return int(code)


def _called(words: Sequence[str]) -> Exit:
    """Do what the words ask for. Raises UsageError for what is no command line."""
    if not words or words[0] in _HELP:
        sys.stdout.write(_overview())
        return Exit.CLEAN if words else Exit.FAILED
    if words[0] == "--version":
        sys.stdout.write(f"kumamigrate {__version__}\n")
        return Exit.CLEAN
    command = next((one for one in COMMANDS if one.name == words[0]), None)
    if command is None:
        known = ", ".join(one.name for one in COMMANDS)
        what = "option" if words[0].startswith("-") else "command"
        raise UsageError(f"there is no {what} {words[0]}; the commands are {known}")
    split = words.index("--") if "--" in words else len(words)
    if any(word in _HELP for word in words[:split]):
        sys.stdout.write(_help(command))
        return Exit.CLEAN
    return _ACTIONS[command.name](_given(command, words[1:split], words[split + 1 :]))


def _given(command: Command, words: Sequence[str], behind: Sequence[str]) -> Given:
    """Return what some words give a command; those `behind` a `--` are no options.

    Options may stand anywhere between the others, which argparse knows only without a `--`.
    """
    options = [one for one in command.arguments if one.names[0].startswith("-")]
    others = [one for one in command.arguments if one not in options]
    parser = _parser(command, options)
    found, left = parser.parse_known_args(words)
    for word in left:
        if word.startswith("-") and word != "-":
            parser.error(_unknown(word, options))
    parser = _parser(command, others)
    _, more = parser.parse_known_args(["--", *left, *behind], found)
    if spare := [word for word in more if word != "--"]:
        parser.error(f"{spare[0]} is one argument too many")
    return {key: value for key, value in vars(found).items() if value is not None and value != []}


def _overview() -> str:
    lines = [f"  {one.name:<14}{one.help}\n" for one in COMMANDS]
    return (
        "usage: kumamigrate COMMAND [OPTION…] [PATH…]\n\n"
        f"{_ABOUT}\n\ncommands:\n{''.join(lines)}\n"
        "options:\n  --version     Show the version.\n\n"
        "`kumamigrate COMMAND --help` lists the options of a command.\n"
    )


def _unknown(word: str, options: Sequence[Argument]) -> str:
    from difflib import get_close_matches

    names = [name for one in options for name in one.names]
    near = get_close_matches(word.partition("=")[0], names, n=1)
    return f"there is no option {word}" + (f", but {near[0]}" if near else "")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Say what is wrong in one line, and where to look."""
        raise UsageError(f"{message}; `{self.prog} --help` lists what there is")


def _parser(command: Command, arguments: Iterable[Argument], *, width: int = 80) -> _Parser:
    parser = _Parser(
        prog=f"kumamigrate {command.name}",
        description=command.help,
        allow_abbrev=False,
        add_help=False,
        # argparse would ask the terminal how wide it is for each argument.
        formatter_class=partial(argparse.HelpFormatter, width=width),
    )
    for one in arguments:
        parser.add_argument(*one.names, **one.settings)
    return parser


def _help(command: Command) -> str:
    from shutil import get_terminal_size

    from kumamigrate.report.screen.helptext import more_help

    width = get_terminal_size().columns - 2
    said = _parser(command, command.arguments, width=width).format_help()
    return said + more_help(command.name)


def _run(given: Given) -> Exit:
    from kumamigrate.commands.runcommand import run

    return run(
        given,
        dry_run=given["dry_run"] or "plan" in given,
        diff=given.get("diff"),
        adopt=given.get("adopt_initial_policies"),
        markdown=given["markdown"],
        printed=given["format"],
        saved=given.get("output", ()),
    )


def _check(given: Given) -> Exit:
    from kumamigrate.commands.checkcommand import check

    return check(given, printed=given["format"], saved=given.get("output", ()))


def _apply(given: Given) -> Exit:
    from kumamigrate.choose.applying import apply_plan

    return apply_plan(given)


def _baseline(given: Given) -> Exit:
    from kumamigrate.choose.knownfindings import baseline

    return baseline(given)


def _prove(given: Given) -> Exit:
    from kumamigrate.commands.provecommand import prove
    from kumamigrate.flow.shard import shard_of

    return prove(
        given,
        given["before"],
        given.get("after"),
        given.get("against"),
        printed=given["format"],
        saved=given.get("output", ()),
        shard=shard_of(given.get("shard")),
    )


def _merge(given: Given) -> Exit:
    from kumamigrate.commands.provecommand import merge

    reports = given.get("reports", ())
    return merge(reports, printed=given["format"], saved=given.get("output", ()))


def _inspect(given: Given) -> Exit:
    from kumamigrate.commands.lookcommands import inspect

    release = given.get("release")
    asked = given if release is None else {**given, "target": release, "source": release}
    return inspect(
        asked,
        proxy=given.get("proxy"),
        labels=given.get("labels", []),
        resources=given["resources"],
        environment=given.get("environment"),
        as_json=_as_json(given),
    )


def _environments(given: Given) -> Exit:
    from kumamigrate.commands.lookcommands import environments

    return environments(given, write_them=given["write"], as_json=_as_json(given))


def _snapshot(given: Given) -> Exit:
    from kumamigrate.snapshot.command import SnapshotAsked, show_commands, snapshot

    asked = SnapshotAsked(
        exports=tuple(given.get("exports", ())),
        kubeconfig=given.get("kubeconfig"),
        context=given.get("context"),
        control_plane=given.get("control_plane"),
        token=given.get("token", os.environ.get("KUMAMIGRATE_TOKEN", "")),
        ca_file=given.get("ca_file"),
        name=given.get("name", ""),
        output=given.get("output"),
    )
    return show_commands(asked) if given["print_commands"] else snapshot(asked)


def _completion(given: Given) -> Exit:
    from kumamigrate.commands.completion import completion

    sys.stdout.write(completion(given["shell"]))
    return Exit.CLEAN


def _rules(given: Given) -> Exit:
    from kumamigrate.commands.lookcommands import rules

    return rules(as_json=_as_json(given))


def _rule(given: Given) -> Exit:
    from kumamigrate.commands.lookcommands import rule

    return rule(given["rule_id"], as_json=_as_json(given))


_ACTIONS: Mapping[str, Callable[[Given], Exit]] = {
    "run": _run,
    "check": _check,
    "apply": _apply,
    "baseline": _baseline,
    "prove": _prove,
    "merge": _merge,
    "inspect": _inspect,
    "environments": _environments,
    "snapshot": _snapshot,
    "completion": _completion,
    "rules": _rules,
    "rule": _rule,
}


def _as_json(given: Given) -> bool:
    return bool(given["format"] == "json")


def _tell_fault(error: Exception) -> None:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{Path(frame.filename).name}:{frame.lineno}"
    sys.stderr.write(
        f"kumamigrate: internal error, nothing was written: {type(error).__name__}: {error}"
        f" ({place}); please report it with the output of KUMAMIGRATE_DEBUG=1\n"
    )
