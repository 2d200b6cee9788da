"""The command line: arguments in, functions called, results out. No logic lives here."""

from __future__ import annotations

import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer

from kumamigrate import __version__
from kumamigrate.errors import KumamigrateError
from kumamigrate.report.exit import Exit

app = typer.Typer(
    name="kumamigrate",
    help="Bring the Kuma policies of a Git repository to the form a release wants, and prove"
    " that no proxy changes.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Format(StrEnum):
    """How results are printed."""

    TEXT = "text"
    JSON = "json"


class ReportFormat(StrEnum):
    """How a run or a check is printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"


class Stage(StrEnum):
    """How far forms that need both halves for a while are taken."""

    AUTO = "auto"
    EXPAND = "expand"
    CONTRACT = "contract"


class Mode(StrEnum):
    """What kind of control plane reads the repository."""

    ZONE = "zone"
    GLOBAL = "global"


class MeshServices(StrEnum):
    """The modes of `Mesh.meshServices`."""

    DISABLED = "Disabled"
    EVERYWHERE = "Everywhere"
    REACHABLE_BACKENDS = "ReachableBackends"
    EXCLUSIVE = "Exclusive"


class InitialPolicies(StrEnum):
    """What a control plane gave its meshes when it made them."""

    NONE = "none"
    UP_TO_2_5 = "2.5"
    SINCE_2_6 = "2.6"


Paths = Annotated[list[Path] | None, typer.Argument(help="Files or folders; default: here.")]
Target = Annotated[str | None, typer.Option(help="The release to reach: 2.9 to 2.14, or 3.0.")]
Source = Annotated[str | None, typer.Option("--from", help="The release in use now.")]
MeshServicesMode = Annotated[
    MeshServices | None, typer.Option(help="MeshService mode of meshes that no Mesh tells of.")
]
Zone = Annotated[str | None, typer.Option(help="The zone whose control plane reads the files.")]
ControlPlaneMode = Annotated[Mode | None, typer.Option(help="What control plane reads the files.")]
SystemNamespace = Annotated[str | None, typer.Option(help="Where the control plane lives.")]
Given = Annotated[
    InitialPolicies | None,
    typer.Option(help="What meshes were given: no policies, those up to 2.5, those since 2.6."),
]
Inventory = Annotated[
    list[Path] | None, typer.Option(help="Exported resources of a control plane; repeatable.")
]
Select = Annotated[list[str] | None, typer.Option(help="Only these rules; repeatable.")]
Ignore = Annotated[list[str] | None, typer.Option(help="Not these rules; repeatable.")]
Stages = Annotated[Stage | None, typer.Option(help="Write new forms beside old ones, or finish.")]
Accept = Annotated[
    list[str] | None,
    typer.Option(help="Write what a rule could not prove, on your own word; repeatable."),
]
Allow = Annotated[
    list[str] | None,
    typer.Option(
        help="Kinds of differences that may pass: activation, name, residue or none;"
        " several with commas. Default: all three."
    ),
]
OutputFormat = Annotated[Format, typer.Option("--format", help="How to print the result.")]
PrintedAs = Annotated[ReportFormat, typer.Option("--format", help="How to print the result.")]
Outputs = Annotated[
    list[str] | None,
    typer.Option(
        "--output",
        metavar="FORMAT=FILE",
        help="Save the result as json, sarif, github, gitlab or junit, too; repeatable.",
    ),
]


@app.command()
def run(
    paths: Paths = None,
    target: Target = None,
    source: Source = None,
    dry_run: Annotated[
        bool, typer.Option(help="Show the diff and the verdict, write nothing.")
    ] = False,
    diff: Annotated[Path | None, typer.Option(help="Save the patch to this file.")] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="Change examples in Markdown as well.")
    ] = False,
    adopt_initial_policies: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write what meshes were given at creation into DIR, too."),
    ] = None,
    mesh_services: MeshServicesMode = None,
    zone: Zone = None,
    control_plane_mode: ControlPlaneMode = None,
    system_namespace: SystemNamespace = None,
    initial_policies: Given = None,
    inventory: Inventory = None,
    select: Select = None,
    ignore: Ignore = None,
    stage: Stages = None,
    accept: Accept = None,
    allow: Allow = None,
    format: PrintedAs = ReportFormat.TEXT,
    output: Outputs = None,
) -> None:
    """Change what can be proven, in place; say what was held back and why."""
    from kumamigrate import commands

    given = _given(locals())
    adopt, printed, saved = adopt_initial_policies, format.value, output or ()
    _end(
        lambda: commands.run(
            given,
            dry_run=dry_run,
            diff=diff,
            adopt=adopt,
            markdown=markdown,
            printed=printed,
            saved=saved,
        )
    )


@app.command()
def check(
    paths: Paths = None,
    target: Target = None,
    source: Source = None,
    mesh_services: MeshServicesMode = None,
    zone: Zone = None,
    control_plane_mode: ControlPlaneMode = None,
    system_namespace: SystemNamespace = None,
    initial_policies: Given = None,
    inventory: Inventory = None,
    select: Select = None,
    ignore: Ignore = None,
    stage: Stages = None,
    format: PrintedAs = ReportFormat.TEXT,
    output: Outputs = None,
) -> None:
    """Say what the target release would refuse, ignore or read differently; change nothing."""
    from kumamigrate import commands

    given = _given(locals())
    _end(lambda: commands.check(given, printed=format.value, saved=output or ()))


@app.command()
def prove(
    before: Annotated[
        Path, typer.Argument(help="A file or folder; with --against, what to prove.")
    ] = Path(),
    after: Annotated[
        Path | None, typer.Argument(help="The file or folder to compare with.")
    ] = None,
    against: Annotated[str | None, typer.Option(help="Compare with this Git revision.")] = None,
    target: Target = None,
    source: Source = None,
    mesh_services: MeshServicesMode = None,
    zone: Zone = None,
    control_plane_mode: ControlPlaneMode = None,
    system_namespace: SystemNamespace = None,
    initial_policies: Given = None,
    inventory: Inventory = None,
    allow: Allow = None,
    format: OutputFormat = Format.TEXT,
) -> None:
    """Say whether two states give every proxy the same configuration."""
    from kumamigrate import commands

    given = _given({**locals(), "paths": []})
    _end(lambda: commands.prove(given, before, after, against, as_json=format is Format.JSON))


@app.command()
def inspect(
    paths: Paths = None,
    release: Annotated[str | None, typer.Option(help="The release whose matcher answers.")] = None,
    proxy: Annotated[str | None, typer.Option(help="Only the Dataplane of this name.")] = None,
    labels: Annotated[
        list[str] | None, typer.Option(help="A made-up proxy with key=value labels.")
    ] = None,
    resources: Annotated[bool, typer.Option(help="Show the labels resources get instead.")] = False,
    environment: Annotated[
        str | None, typer.Option(help="The environment to show, where there are several.")
    ] = None,
    mesh_services: MeshServicesMode = None,
    zone: Zone = None,
    control_plane_mode: ControlPlaneMode = None,
    system_namespace: SystemNamespace = None,
    initial_policies: Given = None,
    inventory: Inventory = None,
    format: OutputFormat = Format.TEXT,
) -> None:
    """Show what proxies resolve to, and which line each value comes from."""
    from kumamigrate import commands

    given = _given({**locals(), "target": release, "source": release})
    _end(
        lambda: commands.inspect(
            given,
            proxy=proxy,
            labels=labels or [],
            resources=resources,
            environment=environment,
            as_json=format is Format.JSON,
        )
    )


@app.command()
def environments(
    paths: Paths = None,
    write: Annotated[
        bool, typer.Option(help="Save them in kumamigrate.toml, to be corrected there.")
    ] = False,
    format: OutputFormat = Format.TEXT,
) -> None:
    """List the environments of the repository: what is applied together, each a mesh of its own."""
    from kumamigrate import commands

    given = _given({"paths": paths})
    as_json = format is Format.JSON
    _end(lambda: commands.environments(given, write_them=write, as_json=as_json))


@app.command()
def snapshot(
    exports: Annotated[
        list[Path] | None,
        typer.Argument(help="Files that kubectl or kumactl wrote; - for what comes in."),
    ] = None,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Take it with kubectl, and this configuration of it.")
    ] = None,
    context: Annotated[
        str | None, typer.Option(help="Take it with kubectl, from the cluster of this context.")
    ] = None,
    control_plane: Annotated[
        str | None, typer.Option(metavar="URL", help="Take it from a control plane's read API.")
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(help="What shows the control plane who asks.", envvar="KUMAMIGRATE_TOKEN"),
    ] = None,
    ca_file: Annotated[Path | None, typer.Option(help="Certificates to trust, for https.")] = None,
    name: Annotated[str | None, typer.Option(help="What to call where it was taken.")] = None,
    print_commands: Annotated[
        bool, typer.Option(help="Show what to run by hand, and run nothing.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write it to this file.")] = None,
) -> None:
    """Take an inventory: what a control plane holds, without secrets, as one file."""
    from kumamigrate.snapshot.command import Asked, show_commands, snapshot

    asked = Asked(
        exports=tuple(exports or ()),
        kubeconfig=kubeconfig,
        context=context,
        control_plane=control_plane,
        token=token or "",
        ca_file=ca_file,
        name=name or "",
        output=output,
    )
    _end(lambda: show_commands(asked) if print_commands else snapshot(asked))


@app.command()
def rules(format: OutputFormat = Format.TEXT) -> None:
    """List all rules."""
    from kumamigrate import commands

    _end(lambda: commands.rules(as_json=format is Format.JSON))


@app.command()
def rule(
    rule_id: Annotated[str, typer.Argument(metavar="ID")], format: OutputFormat = Format.TEXT
) -> None:
    """Explain one rule: what, why, releases, before and after, traps, what is proved."""
    from kumamigrate import commands

    _end(lambda: commands.rule(rule_id, as_json=format is Format.JSON))


def _version(value: bool) -> None:
    if value:
        typer.echo(f"kumamigrate {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    del version


def _given(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments that were given, enums as their words."""
    return {
        key: value.value if isinstance(value, StrEnum) else value
        for key, value in arguments.items()
        if value is not None and value != []
    }


def _end(action: Any) -> NoReturn:
    try:
        code = action()
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
        import traceback

        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        sys.stderr.write(
            f"kumamigrate: internal error, nothing was written: {type(error).__name__}: {error}"
            f" ({place}); please report it with the output of KUMAMIGRATE_DEBUG=1\n"
        )
        code = Exit.FAILED
    raise typer.Exit(int(code))
