"""Commands of `conjoin`. Heavy imports happen inside the commands, so that help is quick.

Exit codes: 0 done, 2 bad input (one sentence on standard error), 130 interrupted.
"""

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="conjoin",
    help="Decide which datasets to train together and which apart.",
    epilog="Exit codes: 0 done, 2 bad input, 130 interrupted.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)

Target = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
Sources = Annotated[
    list[str],
    typer.Argument(
        help="CSV or Parquet files, folders, quoted patterns, or a database "
        "(file.duckdb::table, file.sqlite::table, postgresql://...::table).",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", "-b", help="Column that names the dataset of a row; may be given several times."
    ),
]
Query = Annotated[
    str | None,
    typer.Option("--query", help="SQL SELECT to read; files are the table 'data' in it."),
]
PairMethod = Annotated[
    str,
    typer.Option("--method", "-m", help="risk, gcv, validated, tuned, bound or direct."),
]
Level = Annotated[float, typer.Option("--delta", help="Level of verdicts and intervals.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random draw.")]
Features = Annotated[
    str | None, typer.Option("--features", help="Columns to use, separated by commas.")
]
Weights = Annotated[str | None, typer.Option("--weights", help="Column of row weights.")]
Missing = Annotated[
    str,
    typer.Option("--missing", help="Missing values: indicator (and median), median, drop, raise."),
]
Columns = Annotated[
    str | None,
    typer.Option("--columns", help="Columns that some datasets lack: intersect or impute."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Rule = Annotated[str | None, typer.Option("--rule", help="For tuned: signed (default) or literal.")]


def _version(wanted: bool) -> None:
    if wanted:
        from conjoin.version import __version__

        typer.echo(f"conjoin {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Decide which datasets to train together and which apart."""


@app.command()
def partition(
    data: Sources,
    target: Target,
    by: By = None,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            help="auto, best, or one by name: separate, pooled, clusters, partial, mixture, ...",
        ),
    ] = "auto",
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="risk, evidence, mallows, validated, chow, bic, kmeans, tuned, bound or direct.",
        ),
    ] = "risk",
    save: Annotated[
        Path | None, typer.Option("--save", help="File to write the models to (JSON).")
    ] = None,
    as_json: Json = False,
    features: Features = None,
    weights: Weights = None,
    missing: Missing = "indicator",
    columns: Columns = None,
    query: Query = None,
    count: Annotated[
        str, typer.Option("--count", help="What counts the same in errors: datasets or rows.")
    ] = "datasets",
    delta: Level = 0.1,
    rule: Rule = None,
    seed: Seed = 0,
) -> None:
    """Find which datasets to train together, and fit the models."""
    import conjoin
    from conjoin.cli.show import progress_bar, show_json, show_partition
    from conjoin.report.summarize import summarize

    if save is not None:
        _check_folder(save)
    with _notes(), progress_bar("Finding what to join") as progress:
        result = conjoin.partition(
            data,
            target=target,
            by=by or None,
            method=method,
            strategy=strategy,
            delta=delta,
            random_state=seed,
            features=_split_list(features),
            weights=weights,
            missing=missing,
            columns=columns,
            query=query,
            count=count,  # type: ignore[arg-type]
            progress=progress,
            **_given(rule=rule),
        )
        _ = result.errors  # takes a while with many datasets: inside the progress bar
        if save is not None:
            result.save(save)
    if as_json:
        show_json(summarize(result))
        return
    show_partition(result)
    if save is not None:
        typer.echo(f"Models written to {save}; next: conjoin predict {save} DATA -o OUT")


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="File with the first dataset.", show_default=False)],
    b: Annotated[str, typer.Argument(help="File with the second dataset.", show_default=False)],
    target: Target,
    method: PairMethod = "risk",
    as_json: Json = False,
    features: Features = None,
    weights: Weights = None,
    missing: Missing = "indicator",
    columns: Columns = None,
    delta: Level = 0.1,
    rule: Rule = None,
    seed: Seed = 0,
) -> None:
    """Say whether two datasets should be trained together."""
    import conjoin
    from conjoin.cli.show import show_comparison, show_json
    from conjoin.report.summarize import summarize_comparison

    with _notes():
        result = conjoin.compare(
            a,
            b,
            target=target,
            method=method,
            delta=delta,
            random_state=seed,
            features=_split_list(features),
            weights=weights,
            missing=missing,
            columns=columns,
            **_given(rule=rule),
        )
    if as_json:
        show_json(summarize_comparison(result))
    else:
        show_comparison(result, a, b)


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="File written by --save.", show_default=False)],
    data: Sources,
    output: Annotated[Path, typer.Option("--output", "-o", help="CSV or Parquet file to write.")],
    on_unseen: Annotated[
        str,
        typer.Option("--on-unseen", help="A dataset not seen at fitting: pooled, nearest, raise."),
    ] = "pooled",
    query: Query = None,
) -> None:
    """Predict rows with saved models; writes all columns and the prediction."""
    from conjoin.cli.show import progress_bar
    from conjoin.prediction import predict_source
    from conjoin.store import load
    from conjoin.tables.write import check_output

    check_output(output)
    loaded = load(model)
    with _notes(), progress_bar("Predicting") as progress:
        rows, column = predict_source(
            loaded, data, output, on_unseen=on_unseen, query=query, progress=progress
        )
    typer.echo(f"{rows:,} rows with column '{column}' written to {output}")


@app.command()
def explain(
    model: Annotated[Path, typer.Argument(help="File written by --save.", show_default=False)],
    dataset: Annotated[
        str | None, typer.Argument(help="A dataset; without it the whole result.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say why datasets are where they are, and what their nearest alternatives are."""
    from conjoin.cli.show import show_dataset, show_json, show_partition
    from conjoin.report.summarize import summarize, summarize_dataset
    from conjoin.store import load

    loaded = load(model)
    if dataset is None:
        show_json(summarize(loaded)) if as_json else show_partition(loaded, columns=True)
    else:
        facts = summarize_dataset(loaded, dataset)
        show_json(facts) if as_json else show_dataset(facts)


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help="table2, table3 or table4 of the paper.")],
    seed: Seed = 0,
    repetitions: Annotated[
        int, typer.Option(help="Repetitions of the whole protocol, each with its own draws.")
    ] = 5,
    output: Annotated[
        Path | None,
        typer.Option(help="CSV to write; default experiments/TABLE/results.csv."),
    ] = None,
) -> None:
    """Run a table of the paper again and print paper and ours side by side."""
    from conjoin.cli.show import progress_bar, show_table
    from conjoin.criterion.checks import check_count
    from conjoin.errors import ArgumentError
    from conjoin.reproduce.synthetic import TABLES, run_table
    from conjoin.reproduce.write import write_cells

    if table not in TABLES:
        raise ArgumentError(f"Table {table!r} is unknown; expected one of {', '.join(TABLES)}.")
    check_count("repetitions", repetitions)
    path = output or Path("experiments") / table / "results.csv"
    with progress_bar(f"Running {table}") as progress:
        cells = run_table(table, seed=seed, repetitions=repetitions, progress=progress)
    write_cells(cells, path)
    show_table(cells, table)
    typer.echo(f"Written to {path}")


@contextmanager
def _notes() -> Iterator[None]:
    """Print what the library warns of as plain notes on standard error, each once."""
    from conjoin.errors import ConjoinWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConjoinWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(warning.message) for warning in caught):
                typer.echo(f"Note: {text}", err=True)


def _check_folder(path: Path) -> None:
    """Refuse a file that cannot be written before the work is done, not after."""
    from conjoin.errors import ArgumentError

    if path.is_dir() or not path.absolute().parent.is_dir():
        raise ArgumentError(
            f"--save {str(path)!r} cannot be written: name a file in a folder that exists."
        )


def _split_list(text: str | None) -> list[str] | None:
    return [part.strip() for part in text.split(",")] if text else None


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


def main() -> None:
    """Run the command line; bad input gets one sentence and exit code 2."""
    from conjoin.errors import ConjoinError

    try:
        app()
    except ConjoinError as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(2)
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        sys.exit(130)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        sys.stderr.close()


if __name__ == "__main__":
    main()
