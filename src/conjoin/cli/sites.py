"""Commands for sites that may not share rows: `conjoin site plan | export | answer | serve`.

Heavy imports happen inside the commands, so that help is quick.
"""

from pathlib import Path
from typing import Annotated, Any

import typer

from conjoin.cli.notes import notes
from conjoin.errors import ArgumentError

app = typer.Typer(
    name="site",
    help="Decide from sums that sites export, without sharing rows.",
    epilog="Example: conjoin site export rows.csv --plan plan.json --name clinic_3 -o out.json",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Table = Annotated[
    str,
    typer.Argument(metavar="TABLE", help="The site's rows: a CSV or Parquet file, or a database."),
]
PlanFile = Annotated[
    Path, typer.Option("--plan", metavar="FILE", help="The plan that the coordinator sent.")
]
SiteName = Annotated[
    str, typer.Option("--name", metavar="NAME", help="Name of the site, such as clinic_3.")
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        "-b",
        metavar="COLUMN",
        help="Column that names the datasets of a site with several; repeatable.",
    ),
]
FewestRows = Annotated[
    int | None,
    typer.Option(
        "--min-rows", metavar="NUMBER", help="Fewest rows behind any number; 11 by default."
    ),
]
IKnow = Annotated[
    bool, typer.Option("--i-know", help="Allow rules that are weaker than the default.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show what would be written, and write nothing.")
]


def _rules(rows: int | None, i_know: bool) -> Any:
    """Return the disclosure rules that options ask for; None for the default ones."""
    from conjoin.sites import Rules

    if rows is None:
        return None
    rules = Rules(rows=rows)
    rules.check(i_know)
    return rules


@app.command()
def plan(
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")],
    table: Annotated[
        str | None,
        typer.Argument(metavar="[TABLE]", help="A first site's rows, instead of --columns."),
    ] = None,
    columns: Annotated[
        Path | None,
        typer.Option("--columns", metavar="FILE", help="JSON file that describes the columns."),
    ] = None,
    family: Annotated[
        str,
        typer.Option(
            "--family",
            metavar="KIND",
            help="With TABLE: what the target is: auto, gaussian, logistic or poisson.",
        ),
    ] = "auto",
    ignore: Annotated[
        str | None,
        typer.Option("--ignore", metavar="A,B,...", help="With TABLE: columns to leave out."),
    ] = None,
    folds: Annotated[
        int, typer.Option("--folds", metavar="NUMBER", help="Folds of cross-validation.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", metavar="NUMBER", help="Random seed.")] = 0,
    min_rows: FewestRows = None,
    i_know: IKnow = False,
) -> None:
    """Write the plan of a study: columns, levels, units, folds, and what leaves a site."""
    from conjoin.sites import make_plan
    from conjoin.sites.first_table import columns_of_file, columns_of_table

    if (table is None) == (columns is None):
        raise ArgumentError("Name either TABLE, a first site's rows, or --columns, a JSON file.")
    rules = _rules(min_rows, i_know)
    with notes():
        if columns is not None:
            described = columns_of_file(columns)
        else:
            ignored = [name.strip() for name in ignore.split(",")] if ignore else None
            described = columns_of_table(table, target, family=family, ignore=ignored, rules=rules)
        found = make_plan(described, target, folds=folds, seed=seed, rules=rules, i_know=i_know)
        found.save(output)
    typer.echo(found.describe())
    typer.echo(f"Plan written to {output}; send it to every site.")


@app.command()
def export(
    table: Table,
    plan: PlanFile,
    name: SiteName,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = None,
    by: By = None,
    min_rows: FewestRows = None,
    dry_run: DryRun = False,
) -> None:
    """Write what a site sends: sums of products, no rows."""
    from conjoin.sites import Rules, load_plan
    from conjoin.sites import export as make_export

    if output is None and not dry_run:
        raise ArgumentError("Name the file to write with -o FILE, or try --dry-run first.")
    own = None if min_rows is None else Rules(rows=min_rows)
    with notes():
        found = make_export(table, load_plan(plan), name, by=by or None, rules=own)
    typer.echo(found.describe())
    if output is not None and not dry_run:
        found.save(output)
        typer.echo(f"Written to {output}; read it, then send it to the coordinator.")
    else:
        typer.echo("Nothing was written (--dry-run).")
