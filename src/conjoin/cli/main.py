"""Commands of `conjoin`. Heavy imports happen inside the commands, so that help is quick.

Exit codes: 0 done, 2 bad input (one sentence on standard error), 3 a check needs a look, 130
interrupted, 143 terminated.
"""

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from conjoin.api.request import (
    GONE_ARGUMENTS,
    NETWORKS,
    RENAMED_ARGUMENTS,
    PairRequest,
    PredictionOptions,
    Request,
)
from conjoin.checks import check_choice
from conjoin.cli.assign import assign
from conjoin.cli.check import NEEDS_A_LOOK, check
from conjoin.cli.notes import notes
from conjoin.cli.options import (
    Json,
    Model,
    Query,
    Rule,
    Sources,
    Trust,
    UnsafeQuery,
    takes,
)
from conjoin.cli.paper import app as paper
from conjoin.cli.reproduce import reproduce
from conjoin.cli.sites import app as sites
from conjoin.cli.stops import INTERRUPTED, TERMINATED, Stops
from conjoin.cli.update import update
from conjoin.cli.words import with_options
from conjoin.errors import (
    ArgumentError,
    ConjoinError,
    DataError,
    RoundsNeededError,
)
from conjoin.text import printable, quoted

PAGES = (".html", ".htm")
# Shares of the time of the search and of the verdicts, for the progress bar; files have the rest.
PARTS = 0.5, 0.4
USAGE_ERROR: Any = typer.BadParameter.__base__  # typer brings its own click, or uses another's


class Commands(TyperGroup):
    """The commands, with one sentence for whatever stops them."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run a command and leave with its exit code."""
        kwargs |= {"prog_name": "conjoin", "standalone_mode": False}
        stops = Stops()
        try:
            with stops.listening():
                code = super().main(*args, **kwargs)
        except RoundsNeededError as error:  # nothing is wrong: the sites are next
            typer.echo(str(error))
            code = NEEDS_A_LOOK
        except ConjoinError as error:
            code = _fail(with_options(str(error)))
        except USAGE_ERROR as error:
            code = _fail(_usage(error))
        except OSError as error:
            where = f"{str(error.filename)!r}: " if error.filename else ""
            code = _fail(f"{where}{error.strerror or error}.")
        except MemoryError as error:
            code = _fail(_out_of_memory(error))
        except (typer.Abort, KeyboardInterrupt):
            code = stops.code
        except RuntimeError as error:
            if str(error) != "Query interrupted":  # what DuckDB makes of Ctrl-C
                raise
            code = stops.code
        if code in (INTERRUPTED, TERMINATED):
            code = stops.code  # newer versions of typer turn both into the first
            typer.echo(stops.sentence, err=True)
        sys.exit(code if code in (None, 0, NEEDS_A_LOOK, INTERRUPTED, TERMINATED) else 2)

    def invoke(self, ctx: Any) -> Any:
        """Run a command whose reader, such as head, may have seen enough."""
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        return code


def _usage(error: Any) -> str:
    """Say what is wrong with the options, and where they are explained."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "conjoin"
    message = error.format_message()
    for old, new in RENAMED_ARGUMENTS.items():
        if f"--{old}" in message:
            return f"--{old} is now called --{new.replace('_', '-')}."
    for old, instead in GONE_ARGUMENTS.items():
        if f"--{old.replace('_', '-')}" in message:
            return f"--{old.replace('_', '-')}: {instead}."
    if message.endswith("?"):
        return f"{message} See {command} --help."
    return f"{message.rstrip('.')}; see {command} --help."


def _out_of_memory(error: MemoryError) -> str:
    """Say that memory ran out, what asked for it if that is known, and what to do."""
    what = f" ({error})" if str(error) else ""
    return (
        f"Memory ran out{what}. Name fewer columns with --features, or let trees learn from a "
        "sample with --sample-rows."
    )


def _fail(message: str) -> int:
    typer.echo(f"Error: {printable(message)}", err=True)
    return 2


app = typer.Typer(
    name="conjoin",
    cls=Commands,
    help="Decide which datasets to train together and which apart.",
    epilog="Example: conjoin partition sales.csv --target sales --by store\n\n"
    "Exit codes: 0 done, 2 bad input, 3 something needs a look, 130 or 143 stopped.",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help needs half the time
)


def _version(wanted: bool) -> None:
    if wanted:
        from conjoin.version import __version__

        typer.echo(f"conjoin {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decide which datasets to train together and which apart."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


@app.command()
@takes(Request)
def partition(
    data: Sources,
    save: Annotated[
        Path | None,
        typer.Option("--save", metavar="FILE", help="File to write the models to (JSON)."),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="HTML page to write the report to."),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            metavar="DIR",
            help="Folder for tables: clusters, datasets, strategies, verdicts, coefficients.",
        ),
    ] = None,
    as_json: Json = False,
    rule: Rule = None,
    wait: Annotated[
        float,
        typer.Option(
            "--wait",
            metavar="SECONDS",
            help="For files of sites: how long to wait for the answers to a round.",
        ),
    ] = 0.0,
    without: Annotated[
        list[str] | None,
        typer.Option(
            "--without", metavar="SITE", help="For files of sites: leave a site out; repeatable."
        ),
    ] = None,
    *,
    asked: dict[str, Any],
) -> None:
    """Find which datasets to train together, and fit the models."""
    import conjoin
    from conjoin.cli.show import MOST_STEPS_SHOWN, show_json, show_partition
    from conjoin.progress import progress_bar
    from conjoin.progress_parts import report as tell
    from conjoin.progress_parts import split_progress
    from conjoin.report.facts import facts
    from conjoin.report.frames import write_csv

    if asked["representation"] is not None:
        check_choice("representation", asked["representation"], NETWORKS)
    if save is not None:
        _check_folder(save)
    if report is not None:
        _check_page(report, "--report")
    if csv is not None:
        _check_tables(csv)
    with notes(), progress_bar("Finding what to join", lines=True) as progress:
        search, joins, rest = split_progress(progress, *PARTS)
        named: Any = data
        if wait or without:
            named = conjoin.sites.open_study(data, wait=wait, without=without or ())
        result = conjoin.partition(named, **asked, progress=search, **_given(rule=rule))
        # These take a while with many datasets: inside the progress bar.
        _ = result.errors, result.ledger(MOST_STEPS_SHOWN, joins)
        tell(rest, 0, 2)
        if save is not None:
            result.save(save, evidence=True)  # explain and report read it from the file
        tell(rest, 1, 2)
        if report is not None:
            result.report(report)
        if csv is not None:
            write_csv(result, csv)
    if as_json:
        show_json(facts(result))
        return
    show_partition(result)
    _show_rounds(named)
    if report is not None:
        typer.echo(f"Report written to {report}")
    if csv is not None:
        typer.echo(f"Tables written to {csv}")
    if save is not None:
        typer.echo(f"Models written to {save}; next: conjoin predict {save} DATA -o OUT")


def _show_rounds(data: Any) -> None:
    """Say how many rounds sites were asked, if data are files of sites with rounds."""
    from conjoin.sites.folder import as_study

    study = as_study(data)
    if study is not None and study.rounds:
        typer.echo(f"The sites answered {study.rounds} rounds.")


@app.command()
@takes(PairRequest)
def compare(
    a: Annotated[
        str, typer.Argument(metavar="A", help="File with the first dataset.", show_default=False)
    ],
    b: Annotated[
        str, typer.Argument(metavar="B", help="File with the second dataset.", show_default=False)
    ],
    as_json: Json = False,
    rule: Rule = None,
    *,
    asked: dict[str, Any],
) -> None:
    """Say whether two datasets should be trained together."""
    import conjoin
    from conjoin.cli.show import show_comparison, show_json
    from conjoin.report.facts import comparison_facts

    with notes():
        result = conjoin.compare(a, b, **asked, **_given(rule=rule))
    if as_json:
        show_json(comparison_facts(result, a, b))
    else:
        show_comparison(result, a, b)


@app.command()
@takes(PredictionOptions)
def predict(
    model: Model,
    data: Sources,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="File to write: .csv, .csv.gz or .parquet."
        ),
    ],
    query: Query = None,
    unsafe_query: UnsafeQuery = False,
    trust: Trust = None,
    *,
    asked: dict[str, Any],
) -> None:
    """Predict rows with saved models.

    Writes all columns of DATA and the prediction, for classes also the probability of each class. A
    model of many files finds the dataset of a file by its name.
    """
    from conjoin.cli.show import columns_in_words
    from conjoin.progress import progress_bar
    from conjoin.result.file_prediction import predict_source
    from conjoin.result.load import load
    from conjoin.sources.write import check_output

    check_output(output)
    loaded = load(model, trusted=trust)
    with notes(), progress_bar("Predicting", lines=True) as progress:
        rows, columns = predict_source(
            loaded,
            data,
            output,
            PredictionOptions(**asked),
            query=query,
            unsafe_query=unsafe_query,
            progress=progress,
        )
    typer.echo(f"{rows:,} rows with {columns_in_words(columns)} written to {output}")


app.command()(assign)


@app.command()
def explain(
    model: Model,
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="DATASET", help="A dataset; without it the whole result."),
    ] = None,
    as_json: Json = False,
    trust: Trust = None,
) -> None:
    """Say why a dataset is where it is, and what else is near."""
    from conjoin.cli.show import show_assigned, show_dataset, show_json, show_partition
    from conjoin.progress import progress_bar
    from conjoin.report.facts import dataset_facts, facts
    from conjoin.result.load import load

    with progress_bar("Explaining", lines=True) as progress:  # files of many datasets take long
        loaded = load(model, trusted=trust)
        progress(1, 2)
        if dataset is not None and dataset in loaded.added:
            show = partial(show_assigned, loaded, dataset, as_json=as_json)
        elif dataset is not None:
            _check_dataset(dataset, list(loaded.labels))
            found = dataset_facts(loaded, dataset)
            show = partial(show_json if as_json else show_dataset, found)
        elif as_json:
            show = partial(show_json, facts(loaded))
        else:
            show = partial(show_partition, loaded, columns=True)
    show()


@app.command()
def report(
    model: Model,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="HTML page to write.")
    ],
    trust: Trust = None,
) -> None:
    """Write the report on saved models as one HTML page."""
    from conjoin.result.load import load

    _check_page(output, "--output")
    load(model, trusted=trust).report(output)
    typer.echo(f"Report written to {output}")


app.command()(check)
app.command()(update)
app.command()(reproduce)
app.add_typer(paper)
app.add_typer(sites)


def _check_folder(path: Path, option: str = "--save") -> None:
    """Refuse a file that cannot be written before the work is done, not after."""
    from conjoin.files import check_writable

    check_writable(path, f"{option} {str(path)!r}")


def _check_tables(path: Path) -> None:
    """Refuse a folder that cannot be made."""
    if path.exists() and not path.is_dir():
        raise ArgumentError(f"--csv {str(path)!r} is a file; name a folder for the tables.")
    if not path.absolute().parent.is_dir():
        raise ArgumentError(
            f"--csv {str(path)!r} cannot be made: its parent folder does not exist."
        )


def _check_page(path: Path, option: str) -> None:
    """Refuse a page that cannot be written, or whose name promises another kind of file."""
    _check_folder(path, option)
    if path.suffix.lower() not in PAGES:
        raise ArgumentError(
            f"{option} {str(path)!r} is to be a page: name a file that ends in .html."
        )


def _check_dataset(name: str, known: list[str]) -> None:
    """Refuse a dataset that is not there, and say which ones are nearly named so."""
    if name in known:
        return
    import difflib

    by_text = {one.casefold(): one for one in known}
    near = difflib.get_close_matches(name.casefold(), list(by_text))
    close = [by_text[text] for text in near]
    if close:
        hint = f"did you mean {' or '.join(map(repr, close))}?"
    else:
        hint = f"known are {quoted(known)}."
    raise DataError(f"Dataset {name!r} was not there at fitting; {hint}")


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def main() -> None:
    """Run the command line; bad input gets one sentence and exit code 2."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell (>&-): nobody reads it
            setattr(sys, name, open(os.devnull, "w"))
        stream = getattr(sys, name)
        if hasattr(stream, "reconfigure"):  # names may hold what the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    app()


if __name__ == "__main__":
    main()
