"""What the help of a command says besides its options: examples, and what exit codes mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kumamigrate.report.exit import Exit

_EXITS = {
    Exit.CLEAN: "nothing is left to do, and what was written is proven",
    Exit.FINDINGS: "findings are left, or changes are to be written",
    Exit.FAILED: "it could not run",
    Exit.INCONCLUSIVE: "something was not read or is not modelled, or a verdict cannot be given",
    Exit.DIFFERENT: "proxies would get other values: what makes them was not written",
}
_PROOF = {
    Exit.CLEAN: "equivalent, or different only in what --allow lets pass",
    Exit.FAILED: _EXITS[Exit.FAILED],
    Exit.INCONCLUSIVE: _EXITS[Exit.INCONCLUSIVE],
    Exit.DIFFERENT: "different",
}
_CHECK = {
    Exit.CLEAN: "nothing to do",
    Exit.FINDINGS: "findings",
    Exit.FAILED: _EXITS[Exit.FAILED],
    Exit.INCONCLUSIVE: "something was not read or is not modelled",
}
_CODES: Mapping[str, Mapping[Exit, str]] = {
    "run": _EXITS,
    "apply": {
        Exit.CLEAN: "the plan is written",
        Exit.FAILED: "nothing is written: files moved since the plan was made, or it is none",
    },
    "check": _CHECK,
    "prove": _PROOF,
    "inspect": {
        Exit.CLEAN: "shown",
        Exit.FAILED: _EXITS[Exit.FAILED],
        Exit.INCONCLUSIVE: "shown, but something was not read",
    },
}
_ORDINARY = {Exit.CLEAN: "done", Exit.FAILED: _EXITS[Exit.FAILED]}

_EXAMPLES: Mapping[str, Sequence[tuple[str, str]]] = {
    "run": (
        ("kumamigrate run --dry-run", "what would change, and why that is safe"),
        ("kumamigrate run", "write what is proven"),
        ("kumamigrate run teams/web", "one team's files, proven against all the rest"),
        ("kumamigrate run --target 3.0 --diff 3.0.patch --dry-run", "the way to 3.0, as a patch"),
        ("kumamigrate run --hold activation", "leave settings that would start to work for later"),
    ),
    "check": (
        ("kumamigrate check", "what 2.14 warns of, ignores or refuses"),
        ("kumamigrate check --target 3.0", "what 3.0 needs"),
        ("kumamigrate check --output sarif=kuma.sarif", "for code scanning, too"),
    ),
    "apply": (
        ("kumamigrate run --plan kuma.plan", "make a plan, and review it"),
        ("kumamigrate apply kuma.plan", "write just that"),
    ),
    "baseline": (
        ("kumamigrate baseline write", "from now on only new findings count"),
        ("kumamigrate baseline prune", "forget what is settled"),
    ),
    "prove": (
        ("kumamigrate prove --against origin/main", "does this branch change a proxy?"),
        ("kumamigrate prove before/ after/", "two folders"),
        ("kumamigrate prove --against v1 --from 2.14 --target 3.0", "with the upgrade in between"),
    ),
    "inspect": (
        ("kumamigrate inspect", "all proxies"),
        ("kumamigrate inspect --proxy web-1", "one"),
        ("kumamigrate inspect --labels app=web --release 3.0", "one that is not there, on 3.0"),
    ),
    "environments": (
        ("kumamigrate environments", "what is applied together"),
        ("kumamigrate environments --write", "save that, and correct it"),
    ),
    "snapshot": (
        ("kumamigrate snapshot --print-commands", "what to run where this tool may not"),
        ("kumamigrate snapshot --context prod --output prod.yaml", "with kubectl"),
        ("kumamigrate run --inventory prod.yaml", "use it"),
    ),
    "completion": (
        ("source <(kumamigrate completion bash)", "in ~/.bashrc"),
        ("source <(kumamigrate completion zsh)", "in ~/.zshrc, behind compinit"),
        (
            "kumamigrate completion fish > ~/.config/fish/completions/kumamigrate.fish",
            "once",
        ),
    ),
    "merge": (("kumamigrate merge part-*.json", "what `prove --shard` printed, put together"),),
    "rules": (("kumamigrate rules", "in the order in which they run"),),
    "rule": (("kumamigrate rule route-in-target-ref", "with before and after"),),
}


def more_help(command: str) -> str:
    """Return what stands below the options of a command."""
    return f"\nexamples:\n{_columns(_EXAMPLES[command])}\nexit codes:\n{_exits(command)}"


def _exits(command: str) -> str:
    codes = _CODES.get(command, _ORDINARY)
    said = "".join(f"  {int(code)}  {words}\n" for code, words in codes.items())
    return said + ("  The worst counts: 2, 4, 3, 1, 0.\n" if len(codes) > 2 else "")


def _columns(examples: Sequence[tuple[str, str]]) -> str:
    width = max(len(words) for words, _ in examples) + 2
    return "".join(f"  {words:<{width}}{said}\n" for words, said in examples)
