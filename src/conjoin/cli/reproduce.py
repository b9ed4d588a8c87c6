"""The command `conjoin reproduce`, which runs the paper's tables again.

Names of tables enter; files under experiments/ and tables on the terminal leave. The paper's tables
are loaded when the command runs, not with the command line.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from conjoin.errors import ArgumentError
from conjoin.text import printable

SYNTHETIC = ("table2", "table3", "table4")
REAL = ("table1", "table5", "table6", "table7")
ALL = ("table1", *SYNTHETIC, *REAL[1:], "figure1", "classification", "timings")
FOLDER = Path("experiments")


def reproduce(
    tables: Annotated[
        list[str],
        typer.Argument(
            metavar="TABLE",
            help="table1 to table7, figure1, classification or timings of the paper, or all.",
            autocompletion=lambda: [*ALL, "all"],
        ),
    ],
    data: Annotated[
        Path,
        typer.Option(
            metavar="FOLDER",
            help="Folder with the paper's data; table2 to table4 and classification need none.",
        ),
    ] = Path("data"),
    sets: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="Sets to run; by default all of the table."),
    ] = None,
    fetch: Annotated[
        bool,
        typer.Option("--fetch", help="First download missing sets with UCI's package ucimlrepo."),
    ] = False,
    seed: Annotated[int, typer.Option(metavar="NUMBER", help="Random seed.")] = 0,
    repetitions: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Repetitions of table2 to table4, each with its own draws.",
        ),
    ] = 5,
    pairs: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="Pairs in each line of table2 to table4 (1000 by default) and classification "
            "(100).",
        ),
    ] = None,
    fresh_rows: Annotated[
        int | None,
        typer.Option(
            metavar="NUMBER",
            help="In table2 to table4, judge each model by so many new rows (the paper: 1000); by "
            "default by its exact error.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="File to write; by default experiments/TABLE/results.csv or .svg."
        ),
    ] = None,
) -> None:
    """Run tables of the paper again; print the paper's results and ours."""
    from conjoin.checks import check_count, check_seed

    for table in tables:
        if table not in (*ALL, "all"):
            raise ArgumentError(
                f"Table {table!r} is unknown; expected one of {', '.join(ALL)} or all."
            )
    check_count("repetitions", repetitions)
    for name, value in (("pairs", pairs), ("fresh_rows", fresh_rows)):
        if value is not None:
            check_count(name, value)
    check_seed("random_state", seed)  # the command line prints it as --seed
    chosen = [name for name in ALL if name in tables or "all" in tables]
    _check_output(output, chosen)
    wanted = _sets(sets, chosen)
    if fetch:
        from conjoin.paper.tables.fetch import fetch_sets

        for path in fetch_sets(data):
            typer.echo(f"Downloaded {path}")
    for name in chosen:
        if name in SYNTHETIC:
            _synthetic(name, seed, repetitions, pairs, fresh_rows, output)
    real = [name for name in chosen if name in REAL]
    if real:
        _real(real, data, wanted, seed, output)
    if "figure1" in chosen:
        _figure(data, seed, output or FOLDER / "figure1" / "figure1.svg")
    if "classification" in chosen:
        _classification(seed, pairs, output or FOLDER / "classification" / "results.csv")
    if "timings" in chosen:
        _timings(data, seed, output or FOLDER / "timings" / "results.csv")


def _check_output(output: Path | None, chosen: Sequence[str]) -> None:
    if output is None:
        return
    if len(chosen) > 1:
        raise ArgumentError("--output names one file; leave it out for several tables.")
    kind = ".svg" if chosen[0] == "figure1" else ".csv"
    if output.suffix != kind or output.is_dir():
        raise ArgumentError(f"--output {str(output)!r} cannot be written; name a {kind} file.")


def _sets(text: str | None, chosen: Sequence[str]) -> list[str] | None:
    """Return the names of sets as the tables spell them; upper and lower case are equal."""
    if text is None:
        return None
    from conjoin.paper.tables.sets import SETS

    others = [name for name in chosen if name not in REAL]
    if others:
        raise ArgumentError(
            f"--sets works with {', '.join(REAL)} only; {others[0]} has no sets to choose from."
        )
    known = {name.lower(): name for name in SETS}
    names = [part.strip() for part in text.split(",")]
    return [known.get(name.lower(), name) for name in names]


def _synthetic(
    table: str,
    seed: int,
    repetitions: int,
    pairs: int | None,
    fresh_rows: int | None,
    output: Path | None,
) -> None:
    from conjoin.cli.show_paper import show_cells
    from conjoin.paper.tables.synthetic import PAIRS, run_table, write_cells
    from conjoin.progress import progress_bar

    path = output or FOLDER / table / "results.csv"
    with progress_bar(f"Running {table}", lines=True) as progress:
        cells = run_table(
            table,
            seed=seed,
            repetitions=repetitions,
            pairs=pairs or PAIRS,
            progress=progress,
            fresh_rows=fresh_rows,
        )
    write_cells(cells, path)
    show_cells(cells, table)
    typer.echo(f"Written to {path}")


def _real(
    tables: Sequence[str], data: Path, sets: Sequence[str] | None, seed: int, output: Path | None
) -> None:
    """Run sets one after another; the files are updated after each.

    Results of other sets stay in the files as they are.
    """
    from conjoin.cli.show_paper import show_rows
    from conjoin.paper.tables import real
    from conjoin.paper.tables.results import MethodResult, read_results, write_results
    from conjoin.paper.tables.sets import check_files
    from conjoin.progress import progress_bar

    cases = real.cases_of(tables, sets)
    for name, _ in cases:
        check_files(name, data)
    paths = {table: output or FOLDER / table / "results.csv" for table in tables}
    for path in paths.values():
        path.parent.mkdir(parents=True, exist_ok=True)  # if it fails, then before the work
    kept: dict[str, list[MethodResult]] = {}
    for table, path in paths.items():
        old = read_results(path) if sets and path.is_file() else []
        kept[table] = [one for one in old if one.set not in (sets or ())]
    results: list[MethodResult] = []
    for case, methods in cases.items():
        with progress_bar(printable(f"Running {', '.join(case)}"), lines=True) as progress:
            results += real.run_case(case, methods, data, seed=seed, progress=progress)
        for table, path in paths.items():
            write_results(real.results_for(table, kept[table] + results), path)
    for table, path in paths.items():
        title = f"{table}: {real.TABLES[table].title}; reduction of the error in percent"
        show_rows(title, real.HEADER, real.text_rows(table, results), words=real.WORDS)
        typer.echo(f"Written to {path}; docs/paper-tables.md explains the columns")


def _figure(data: Path, seed: int, path: Path) -> None:
    from conjoin.paper.tables.figure import draw_figure
    from conjoin.progress import progress_bar

    with progress_bar("Training MLP2 on CFGSF", lines=True) as progress:
        described = draw_figure(data, path, seed=seed, progress=progress)
    typer.echo(described)
    typer.echo(f"Written to {path}")


def _classification(seed: int, pairs: int | None, path: Path) -> None:
    from conjoin.cli.show_paper import show_rows
    from conjoin.paper.tables.classification import PAIRS, SHOWN, run, texts_of, write_lines
    from conjoin.progress import progress_bar

    with progress_bar("Running classification", lines=True) as progress:
        lines = run(seed, pairs or PAIRS, progress)
    write_lines(lines, path)
    title = "classification: percent of pairs that each reading of the bounds joins"
    show_rows(title, SHOWN, [texts_of(line, SHOWN) for line in lines])
    typer.echo(f"Written to {path}; docs/classification-bounds.md explains the columns")


def _timings(data: Path, seed: int, path: Path) -> None:
    from conjoin.paper.tables.timings import TEXT_HEADER, in_words, run_timings, text_of
    from conjoin.paper.tables.write import write_rows
    from conjoin.progress import progress_bar

    with progress_bar("Training networks", lines=True) as progress:
        timings = list(run_timings(data, seed=seed, progress=progress))
    for timing in timings:
        typer.echo(in_words(timing))
    write_rows(TEXT_HEADER, [text_of(timing) for timing in timings], path)
    typer.echo(f"Written to {path}")
