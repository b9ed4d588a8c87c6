"""Commands of `conjoin`. Heavy imports happen inside the commands, so that help is quick.

Exit codes: 0 done, 2 bad input (one sentence on standard error), 130 interrupted.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    name="conjoin",
    help="Decide which datasets to train together and which apart.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)

Target = Annotated[str, typer.Option("--target", "-t", help="Column to predict.")]
PairMethod = Annotated[
    str,
    typer.Option("--method", "-m", help="risk, gcv, validated, tuned, bound or direct."),
]
Level = Annotated[float, typer.Option("--delta", help="Level of verdicts and intervals.")]
Seed = Annotated[int, typer.Option("--seed", help="Seed of every random draw.")]
Features = Annotated[
    str | None, typer.Option("--features", help="Columns to use, separated by commas.")
]
Rule = Annotated[str | None, typer.Option("--rule", help="For tuned: signed (default) or literal.")]


@app.command()
def partition(
    data: Annotated[
        list[Path], typer.Argument(help="One table with --by, or a file for each dataset.")
    ],
    target: Target,
    by: Annotated[
        str | None, typer.Option("--by", "-b", help="Column that names the dataset of a row.")
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            "-m",
            help="risk, evidence, mallows, validated, chow, bic, kmeans, tuned, bound or direct.",
        ),
    ] = "risk",
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy",
            "-s",
            help="auto, best, or one by name: separate, pooled, clusters, partial, mixture, ...",
        ),
    ] = "auto",
    features: Features = None,
    delta: Level = 0.1,
    rule: Rule = None,
    seed: Seed = 0,
) -> None:
    """Find which datasets to train together."""
    import conjoin
    from conjoin.cli.show import progress_bar, show_partition

    tables = _read(data, by)
    with progress_bar("Joining datasets") as progress:
        result = conjoin.partition(
            tables,
            target=target,
            by=by,
            method=method,
            strategy=strategy,
            delta=delta,
            random_state=seed,
            features=_split_list(features),
            progress=progress,
            **_given(rule=rule),
        )
    show_partition(result, target)


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="File with the first dataset.")],
    b: Annotated[Path, typer.Argument(help="File with the second dataset.")],
    target: Target,
    method: PairMethod = "risk",
    features: Features = None,
    delta: Level = 0.1,
    rule: Rule = None,
    seed: Seed = 0,
) -> None:
    """Say whether two datasets should be trained together."""
    import conjoin
    from conjoin.cli.show import show_comparison
    from conjoin.tables.read import read_columns

    result = conjoin.compare(
        read_columns(a),
        read_columns(b),
        target=target,
        method=method,
        delta=delta,
        random_state=seed,
        features=_split_list(features),
        **_given(rule=rule),
    )
    show_comparison(result, str(a), str(b))


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


def _read(paths: list[Path], by: str | None) -> Any:
    """Return one table, or a mapping of names to tables."""
    from conjoin.errors import DataError
    from conjoin.tables.read import dataset_name, read_columns

    if len(paths) == 1:
        return read_columns(paths[0])
    if by is not None:
        raise DataError("--by goes with one table; leave it out where each file is a dataset.")
    names = [dataset_name(path) for path in paths]
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise DataError(f"Two files are named {repeated[0]!r}; a dataset is named by its file.")
    return {name: read_columns(path) for name, path in zip(names, paths)}


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


if __name__ == "__main__":
    main()
