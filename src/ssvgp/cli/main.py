"""The commands and their options.

Click, because it is small, in pure Python and without dependencies of its own, so that the base install stays light.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ssvgp import __version__, kernel_named
from ssvgp.cli import answer, fitting, predicting
from ssvgp.cli.cluster import on_cluster
from ssvgp.cli.demo import DEMOS
from ssvgp.cli.files import SUFFIX, check_output, load, report_writer
from ssvgp.cli.voice import FAILED, INTERRUPTED, NO_LIBRARY, WRONG_INPUT, Interrupted, Voice
from ssvgp.tables.columns import MissingLibrary, TableError, plain, suggestion
from ssvgp.tables.dialect import Asked
from ssvgp.tables.outcome import ASKED
from ssvgp.tables.prepare import CATEGORIES, Choice
from ssvgp.tables.recipe import MISSING_IN_FIT, MISSING_IN_PREDICT

TRACEBACK = "SSVGP_TRACEBACK"  # set in the environment, errors come with the place in the code
FILE = click.Path(path_type=Path)
CURVES = click.Choice(["auto", "none", "log", "box-cox", "yeo-johnson"])
GAPS_IN_FIT, GAPS_IN_PREDICT = click.Choice(MISSING_IN_FIT), click.Choice(MISSING_IN_PREDICT)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)


class Stop(click.ClickException):
    """An error as one line, with its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(plain(" ".join(message.split())))
        self.exit_code = code  # type: ignore[misc]  # so does click itself

    def show(self, file: Any = None) -> None:
        click.echo(f"error: {self.format_message()}", err=True)


class Commands(click.Group):
    """A group of commands that end with one line and an exit code, whatever goes wrong."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.obj = "--json" in args  # before a command has read its options, so that errors in these are told too
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, BrokenPipeError):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if os.environ.get(TRACEBACK) and not isinstance(error, click.ClickException):
                raise
            ending = stop(error)
            if ctx.obj:
                click.echo(json.dumps({"error": ending.message, "exit_code": ending.exit_code}))
            raise ending from error

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest the command that is nearest to one that does not exist."""
        name = args[0] if args else ""
        if name and not name.startswith("-") and self.get_command(ctx, name) is None:
            raise Stop(f"no command '{name}': {suggestion(name, self.list_commands(ctx))}", WRONG_INPUT)
        return super().resolve_command(ctx, args)


def stop(error: BaseException) -> Stop:
    """The one line and exit code of an error."""
    if isinstance(error, Stop):
        return error
    if isinstance(error, click.ClickException):
        where = getattr(error, "ctx", None)
        return Stop(f"{error.format_message()} ({where.command_path if where else 'ssvgp'} --help)", WRONG_INPUT)
    if isinstance(error, (KeyboardInterrupt, click.Abort)):
        return Stop("interrupted before there was anything to keep", INTERRUPTED)
    if isinstance(error, Interrupted):
        return Stop(str(error), INTERRUPTED)
    if isinstance(error, MissingLibrary):
        return Stop(str(error), NO_LIBRARY)
    if isinstance(error, MemoryError):
        return Stop("not enough memory: leave out columns with --drop, or rows", FAILED)
    if isinstance(error, (TableError, ValueError)):
        return Stop(str(error), WRONG_INPUT)
    if isinstance(error, OSError):
        return Stop(f"{error.filename or ''}: {error.strerror or error}", FAILED)
    return Stop(f"{type(error).__name__}: {error} (set {TRACEBACK}=1 to see where)", FAILED)


def how_to_read(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say how a text table is written, for a table that is not read as it should be."""
    for option in (
        click.option("--separator", metavar="SIGN", help="Sign between cells: , ; tab | blank. Default: detected."),
        click.option("--decimal", type=click.Choice([".", ","]), help="Decimal sign. Default: detected."),
        click.option("--header/--no-header", default=None, help="Whether the first line has names. Default: detected."),
        click.option("--encoding", metavar="NAME", help="Such as latin-1. Default: UTF-8, else Windows-1252."),
    ):
        command = option(command)
    return command


def how_to_speak(command: Callable[..., None]) -> Callable[..., None]:
    """Options that say how a command reports."""
    command = click.option("--quiet", "-q", is_flag=True, help="Say nothing but errors.")(command)
    return click.option("--json", "as_json", is_flag=True, help="Answer with one JSON object.")(command)


def _asked(separator: str | None, decimal: str | None, header: bool | None, encoding: str | None) -> Asked:
    named = {"tab": "\t", "\\t": "\t", "blank": " ", "space": " ", "comma": ",", "semicolon": ";"}
    sign = named.get(separator, separator) if separator is not None else None
    if sign is not None and len(sign) != 1:
        raise TableError(f"--separator is one sign, or tab or blank, not '{separator}'")
    return Asked(sign, decimal, header, encoding)


def _kernel(name: str) -> str | list[str]:
    """One kernel or, with commas, several to average over; checked before a table is read."""
    names = [part.strip() for part in name.split(",")]
    for one in names:
        if one != "auto":
            kernel_named(one)
    return names if len(names) > 1 else names[0]


def _end(finished: bool) -> None:
    if not finished:
        raise click.exceptions.Exit(INTERRUPTED)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ssvgp")
def cli() -> None:
    """Find the few columns of a table that decide a target, and predict it.

    \b
    ssvgp fit table.csv --target y --report report.html
    ssvgp predict table.ssvgp new.csv -o predictions.csv
    """


@cli.command("fit")
@click.argument("table", type=FILE)
@click.option("--target", "-t", default="", metavar="NAME", help="Column to predict; several by commas or *.")
@click.option("--weight", default="", metavar="NAME", help="Column that says how many times a row counts.")
@click.option("--noise", default="", metavar="NAME", help="Column with the known noise variance of a row.")
@click.option("--exposure", default="", metavar="NAME", help="Column with what a count is a count of: time, area.")
@click.option("--likelihood", type=click.Choice(ASKED), default="auto", show_default=True, help="What the target is.")
@click.option("--output", "-o", type=FILE, help="Model to write. Default: name of the table with .ssvgp.")
@click.option("--report", type=FILE, help="Report to write, one HTML page.")
@click.option("--features", multiple=True, metavar="NAMES", help="Columns to use; commas, *, repeatable. Default: all.")
@click.option("--drop", multiple=True, metavar="NAMES", help="Columns to leave out; commas, *, repeatable.")
@click.option("--missing", type=GAPS_IN_FIT, default="error", show_default=True, help="Missing values.")
@click.option("--categories", type=click.Choice(CATEGORIES), default="error", show_default=True, help="Text columns.")
@click.option("--kernel", default="auto", show_default=True, help="Kernel, or several with commas.")
@click.option("--method", type=click.Choice(["auto", "paper"]), default="auto", show_default=True, help="Method.")
@click.option("--transform", type=CURVES, default="auto", show_default=True, help="Curve for a skewed target.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Processor cores; -1 for all.")
@click.option("--sample-rows", type=click.IntRange(min=2), help="Rows drawn from a folder. Default: 100000.")
@click.option("--checkpoint", type=FILE, help="Folder of finished targets: a run that was killed goes on.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers fit the targets.")
@how_to_read
@how_to_speak
def fit_command(
    table: Path, target: str, weight: str, noise: str, exposure: str, likelihood: str, output: Path | None,
    report: Path | None, features: tuple[str, ...], drop: tuple[str, ...], missing: str, categories: str, kernel: str,
    method: str, transform: str, seed: int, jobs: int, sample_rows: int | None, checkpoint: Path | None,
    scheduler: str | None, quiet: bool, as_json: bool, **written: Any,
) -> None:  # fmt: skip
    """Fit a model to TABLE: CSV, TSV, Parquet or Feather, or a folder of Parquet files."""
    options: dict[str, Any] = {"kernel": _kernel(kernel), "method": method, "random_state": seed}
    options["n_jobs"] = jobs if scheduler is None else None  # None: as many as the cluster has
    options["target_transform"] = None if transform == "none" else transform
    options["checkpoint"] = checkpoint
    choice = Choice(target, features, drop, missing, categories, weight, noise, exposure, likelihood)
    model = output or Path(table.with_suffix(SUFFIX).name)
    order = fitting.FitOrder(table, choice, model, report, _asked(**written), options, sample_rows)
    with on_cluster(scheduler):
        _end(fitting.fit(order, Voice(quiet, as_json)))


@cli.command("predict")
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option("--output", "-o", type=FILE, help="CSV or TSV file to write, or folder. Default: standard output.")
@click.option("--level", type=SHARE, default=0.95, show_default=True, help="Probability of the interval.")
@click.option("--keep", multiple=True, metavar="NAMES", help="Columns of TABLE to write beside the predictions.")
@click.option("--missing", type=GAPS_IN_PREDICT, help="Missing values. Default: as in the fit.")
@click.option("--neighbours", type=click.IntRange(min=1), help="Nearest rows a prediction of a large model looks at.")
@click.option("--jobs", type=int, default=1, show_default=True, help="Parts of a folder at a time; -1 for all cores.")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler whose workers predict the parts of a folder.")
@how_to_read
@how_to_speak
def predict_command(
    model: Path, table: Path, output: Path | None, level: float, keep: tuple[str, ...], missing: str | None,
    neighbours: int | None, jobs: int, scheduler: str | None, quiet: bool, as_json: bool, **written: Any,
) -> None:  # fmt: skip
    """Predict the rows of TABLE with MODEL: mean, standard deviation and interval, or class and probabilities.

    A folder of Parquet files goes to a folder, a file for each file; those that are there already are kept.
    """
    workers = jobs if scheduler is None else None  # None: as many as the cluster has
    order = predicting.PredictOrder(model, table, output, level, keep, missing, _asked(**written), workers, neighbours)
    predict = predicting.predict
    if table.is_dir():
        from ssvgp.cli.folders import predict_folder as predict  # here, since a single file needs none of it
    with on_cluster(scheduler):
        _end(predict(order, Voice(quiet, as_json)))


@cli.command("report")
@click.argument("model", type=FILE)
@click.option("--output", "-o", type=FILE, help="Page to write. Default: name of the model with .html.")
@how_to_speak
def report_command(model: Path, output: Path | None, quiet: bool, as_json: bool) -> None:
    """Write the report of MODEL, one HTML page."""
    path = output or Path(model.with_suffix(".html").name)
    check_output(path, model)
    write_report, loaded = report_writer(), load(model)
    write_report(loaded.model, path, loaded.target, loaded.notes)
    record = {"command": "report", "model": str(model), "report": str(path)}
    Voice(quiet, as_json).answer(record, [f"report in {path}"])


@cli.command("inspect")
@click.argument("model", type=FILE)
@how_to_speak
def inspect_command(model: Path, quiet: bool, as_json: bool) -> None:
    """Print what MODEL found: selected inputs, their probabilities, how well it predicts."""
    loaded = load(model)
    if hasattr(loaded.model, "targets_"):
        several = answer.several_record(loaded.model)
        Voice(quiet, as_json).answer({"command": "inspect", **several}, answer.several_lines(several))
        return
    record = answer.answer_record(loaded.model, loaded.target or None)
    heading = f"{record['rows']} rows, {record['columns']} inputs, method {record['method']}"
    heading += f", target {record['target']}" if record["target"] else ""
    Voice(quiet, as_json).answer({"command": "inspect", **record}, [heading, *answer.answer_lines(record)])


@cli.command("demo")
@click.option("--classes", "kind", flag_value="classes", help="Two classes: which batches are good.")
@click.option("--counts", "kind", flag_value="counts", help="Counts: faults in a shift.")
@click.option("--report/--no-report", "with_report", default=True, help="Whether to write the report.")
@how_to_speak
def demo_command(kind: str | None, with_report: bool, quiet: bool, as_json: bool) -> None:
    """Fit a bundled table of a made-up reactor; write ssvgp_demo.csv, .ssvgp and .html here."""
    demo = DEMOS[kind or "numbers"]
    voice, name = Voice(quiet, as_json), Path.cwd() / f"ssvgp_{demo.file}"
    report = name.with_suffix(".html") if with_report else None
    try:
        report_writer()
    except MissingLibrary as error:  # the demo is for a first look: it does without
        if report is not None:
            voice.note(str(error))
        report = None
    check_output(name)
    name.write_bytes(demo.content())
    voice.step(demo.said)
    choice = Choice(demo.target, exposure=demo.exposure)
    options = {"random_state": 0}
    _end(fitting.fit(fitting.FitOrder(name, choice, name.with_suffix(SUFFIX), report, options=options), voice))


def main() -> None:
    """Run the command line, with output in UTF-8 where the terminal has another encoding."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    cli(prog_name="ssvgp")


if __name__ == "__main__":
    main()
