"""Commands for sites that may not share rows: `conjoin site plan | export | answer | serve`.

Heavy imports happen inside the commands, so that help is quick.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjoin.cli.notes import notes
from conjoin.errors import ArgumentError

if TYPE_CHECKING:
    from conjoin.sites import Plan, Rules
    from conjoin.sites.ledger import Ledger
    from conjoin.sites.rows import SiteRows

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
    bool,
    typer.Option(
        "--i-know",
        help="Allow weaker rules than the default, or a plan that changes values of many rows.",
    ),
]
LedgerFolder = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        metavar="FOLDER",
        help="Folder of the site's own register of exports; by default beside TABLE.",
    ),
]
Epsilon = Annotated[
    float | None,
    typer.Option(
        "--epsilon",
        metavar="NUMBER",
        help="Add noise for differential privacy; 1 is usual, less protects better.",
    ),
]
Delta = Annotated[
    float,
    typer.Option("--delta", metavar="NUMBER", help="Probability that differential privacy fails."),
]
Bound = Annotated[
    list[str] | None,
    typer.Option(
        "--bound",
        metavar="COLUMN=LOW:HIGH",
        help="With --epsilon: ends of a column, known without looking at rows; repeatable.",
    ),
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
    trees: Annotated[
        Path | None,
        typer.Option(
            "--trees",
            metavar="FILE",
            help="Text of a LightGBM booster whose prediction is one more column.",
        ),
    ] = None,
    min_rows: FewestRows = None,
    i_know: IKnow = False,
) -> None:
    """Write the plan of a study: columns, levels, units, folds, and what leaves a site."""
    from conjoin.sites import make_plan, with_trees
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
        if trees is not None:
            found = with_trees(found, trees.read_text())
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
    i_know: IKnow = False,
    ledger: LedgerFolder = None,
    epsilon: Epsilon = None,
    delta: Delta = 1e-6,
    bound: Bound = None,
    dry_run: DryRun = False,
) -> None:
    """Write what a site sends: sums of products, no rows."""
    from conjoin.files import check_writable
    from conjoin.sites import load_plan
    from conjoin.sites.export import export as export_table

    if output is None and not dry_run:
        raise ArgumentError("Name the file to write with -o FILE, or try --dry-run first.")
    if output is not None:
        check_writable(output, f"-o {str(output)!r}")
    agreed = load_plan(plan)
    with notes():
        found = export_table(
            table,
            agreed,
            name,
            by=by or None,
            rules=_own_rules(min_rows, agreed),
            i_know=i_know,
            ledger=_ledger_folder(table, ledger),
            epsilon=epsilon,
            delta=delta,
            bounds=_bounds(bound or [], epsilon),
        )
    typer.echo(found.describe())
    if output is None or dry_run:
        typer.echo("Nothing was written (--dry-run).")
        return
    found.save(output)
    typer.echo(f"Written to {output}; read it, then send it to the coordinator.")


@app.command()
def answer(
    table: Table,
    plan: PlanFile,
    name: SiteName,
    round_file: Annotated[
        Path, typer.Option("--round", metavar="FILE", help="The round that the coordinator sent.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")],
    by: By = None,
    min_rows: FewestRows = None,
    i_know: IKnow = False,
    ledger: LedgerFolder = None,
) -> None:
    """Answer one round of a study of classes or counts."""
    from conjoin.sites.serve import answer_file

    with notes():
        rows = _rows(table, plan, name, by, (min_rows, i_know))
        answer_file(rows, round_file, output, _ledger(table, ledger))
    typer.echo(f"Answer written to {output}; send it to the coordinator.")


@app.command()
def serve(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="A folder that the coordinator sees too.")
    ],
    table: Table,
    name: SiteName,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", metavar="FILE", help="The plan; by default FOLDER/plan.json."),
    ] = None,
    by: By = None,
    min_rows: FewestRows = None,
    i_know: IKnow = False,
    ledger: LedgerFolder = None,
    idle: Annotated[
        float,
        typer.Option("--idle", metavar="SECONDS", help="Stop after so long without a round."),
    ] = 600.0,
) -> None:
    """Answer all rounds that appear in a folder, until there are no more."""
    from conjoin.sites.serve import serve as serve_folder

    with notes():
        rows = _rows(table, plan or folder / "plan.json", name, by, (min_rows, i_know))
        register = _ledger(table, ledger)
        typer.echo(f"Site {name!r} answers rounds in {folder}; stop with Ctrl-C.")
        done = serve_folder(rows, folder, register, idle=idle, tell=typer.echo)
    typer.echo(f"{done} rounds answered; no new one for {idle:g} seconds.")


def _rows(
    table: str, plan: Path, name: str, by: list[str] | None, own: tuple[int | None, bool]
) -> "SiteRows":
    """Return the rows of a site, as the plan and the site's own rules read them."""
    from conjoin.sites import load_plan
    from conjoin.sites.rows import read_rows

    min_rows, i_know = own
    agreed = load_plan(plan)
    rules = _own_rules(min_rows, agreed)
    return read_rows(table, agreed, name, by or None, rules, i_know=i_know)


def _own_rules(min_rows: int | None, plan: "Plan") -> "Rules | None":
    """Return the rules of the site itself; they cannot be weaker than those of the plan."""
    from conjoin.sites import Rules

    if min_rows is None:
        return None
    if min_rows < plan.rules.rows:
        raise ArgumentError(
            f"--min-rows {min_rows} is weaker than the plan's {plan.rules.rows}; leave it out, or "
            "ask the coordinator for another plan."
        )
    return Rules(rows=min_rows)


def _ledger(table: str, folder: Path | None) -> "Ledger":
    """Return the site's ledger."""
    from conjoin.sites.ledger import Ledger

    return Ledger.open(_ledger_folder(table, folder))


def _ledger_folder(table: str, folder: Path | None) -> Path:
    """Return where the site's ledger is: in a folder that is named, else beside the table."""
    if folder is not None:
        return folder
    path = Path(table.split("::")[0])
    return path.parent if path.exists() else Path()


def _bounds(given: list[str], epsilon: float | None) -> dict[str, tuple[float, float]]:
    """Return the declared ends of columns, from COLUMN=LOW:HIGH."""
    if given and epsilon is None:
        raise ArgumentError("--bound goes with --epsilon; give both, or neither.")
    found = {}
    for one in given:
        name, _, ends = one.rpartition("=")
        try:
            low, high = (float(end) for end in ends.split(":"))
        except ValueError:
            low = high = float("nan")
        if not name or not low < high:
            raise ArgumentError(f"--bound {one!r} is not of the form COLUMN=LOW:HIGH, LOW < HIGH.")
        found[name] = (low, high)
    return found
