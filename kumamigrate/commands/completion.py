"""Scripts by which shells complete a command line.

They are made of the table of arguments; nothing has to be run while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator

from kumamigrate.arguments import COMMANDS, Argument, Command
from kumamigrate.model.release import known_releases
from kumamigrate.rewrite.rulebook import rulebook

_KINDS = ("activation", "name", "residue", "none")


def completion(shell: str) -> str:
    """Return the script for a shell: bash, zsh or fish."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _words_of(argument: Argument) -> tuple[str, ...]:
    """Return the words that an argument takes, none where they are not known beforehand."""
    choices = argument.settings.get("choices")
    if choices:
        return tuple(choices)
    match argument.settings.get("metavar"):
        case "RELEASE":
            return tuple(known_releases())
        case "RULE" | "RULE[@FILE:LINE]" | "ID":
            return tuple(rule.id for rule in rulebook())
        case "KIND":
            return _KINDS
    return ()


def _options(command: Command) -> list[Argument]:
    return [one for one in command.arguments if one.names[0].startswith("-")]


def _places(command: Command) -> list[Argument]:
    """Return what is told by its place, where the words for it are known."""
    others = [one for one in command.arguments if not one.names[0].startswith("-")]
    return [one for one in others if _words_of(one)]


def _takes(argument: Argument) -> bool:
    return argument.settings.get("action") != "store_true"


def _help(argument: Argument) -> str:
    return str(argument.settings.get("help", ""))


# -- bash ------------------------------------------------------------------------------------


def _bash() -> str:
    names = " ".join(command.name for command in COMMANDS)
    return "\n".join(
        (
            "# bash completion for kumamigrate",
            "_kumamigrate() {",
            '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" words=""',
            "    if ((COMP_CWORD == 1)); then",
            f'        COMPREPLY=($(compgen -W "{names} --help --version" -- "$cur"))',
            "        return",
            "    fi",
            '    case "${COMP_WORDS[1]} $prev" in',
            *(f"    {one}" for command in COMMANDS for one in _bash_values(command)),
            "    esac",
            '    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi',
            '    if [[ $cur == -* ]]; then case "${COMP_WORDS[1]}" in',
            *(f"    {_bash_options(command)}" for command in COMMANDS),
            '    esac; COMPREPLY=($(compgen -W "$words" -- "$cur")); return; fi',
            '    COMPREPLY=($(compgen -f -- "$cur"))',
            "}",
            "complete -o filenames -F _kumamigrate kumamigrate",
            "",
        )
    )


def _bash_values(command: Command) -> Iterator[str]:
    """Yield what may follow a word of a command, where that is known."""
    for one in _options(command):
        if words := _words_of(one):
            cases = "|".join(f'"{command.name} {name}"' for name in one.names)
            yield f'{cases}) words="{" ".join(words)}" ;;'
    for one in _places(command):
        yield f'"{command.name} {command.name}") words="{" ".join(_words_of(one))}" ;;'


def _bash_options(command: Command) -> str:
    names = " ".join(name for one in _options(command) for name in one.names)
    return f'{command.name}) words="{names} --help" ;;'


# -- zsh -------------------------------------------------------------------------------------


def _zsh() -> str:
    described = (f"        {_quoted(f'{c.name}:{c.help}')}" for c in COMMANDS)
    return "\n".join(
        (
            "#compdef kumamigrate",
            "_kumamigrate() {",
            "    local -a commands=(",
            *described,
            "    )",
            "    if (( CURRENT == 2 )); then _describe command commands; return; fi",
            "    local command=$words[2]",
            "    shift words; (( CURRENT-- ))",
            "    case $command in",
            *(f"        {_zsh_case(command)}" for command in COMMANDS),
            "    esac",
            "}",
            "compdef _kumamigrate kumamigrate",
            "",
        )
    )


def _zsh_case(command: Command) -> str:
    specs = [spec for one in _options(command) for spec in _zsh_option(one)]
    specs += [_quoted(f"1:{one.names[0]}:({_joined(one)})") for one in _places(command)]
    specs.append(_quoted("*:file:_files"))
    return f"{command.name}) _arguments {' '.join(specs)} ;;"


def _zsh_option(option: Argument) -> Iterator[str]:
    told = _help(option).replace("[", r"\[").replace("]", r"\]").replace(":", r"\:")
    repeated = "*" if option.settings.get("action") == "append" else ""
    for name in option.names:
        value = ""
        if _takes(option):
            words = f"({_joined(option)})" if _words_of(option) else "_files"
            value = f":{option.settings.get('metavar', 'value').replace(':', ' ')}:{words}"
        yield _quoted(f"{repeated}{name}[{told}]{value}")


def _joined(argument: Argument) -> str:
    return " ".join(_words_of(argument))


# -- fish ------------------------------------------------------------------------------------


def _fish() -> str:
    lines = ["# fish completion for kumamigrate"]
    for command in COMMANDS:
        lines.append(_fish_line("__fish_use_subcommand", f"-f -a {command.name}", command.help))
    for command in COMMANDS:
        seen = f"__fish_seen_subcommand_from {command.name}"
        lines += [_fish_line(seen, _fish_option(one), _help(one)) for one in _options(command)]
        lines += [
            _fish_line(seen, f"-f -a {_quoted(_joined(one))}", _help(one))
            for one in _places(command)
        ]
    return "\n".join([*lines, ""])


def _fish_line(when: str, what: str, told: str) -> str:
    return f"complete -c kumamigrate -n {_quoted(when)} {what} -d {_quoted(told)}"


def _fish_option(option: Argument) -> str:
    names = " ".join(_fish_name(name) for name in option.names)
    if not _takes(option):
        return names
    words = _words_of(option)
    return f"{names} -x -a {_quoted(' '.join(words))}" if words else f"{names} -r"


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


def _quoted(text: str) -> str:
    """Return a text as one word of any of these shells."""
    return "'" + text.replace("'", r"'\''") + "'"
