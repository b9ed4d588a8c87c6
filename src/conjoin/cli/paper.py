"""The commands `conjoin paper ...`: the paper's algorithms on files, with its own options.

Files and settings enter; the paper's answer leaves first, then conjoin's verdict as a second
opinion. The paper's methods are loaded when a command runs, not with the command line.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from conjoin.api.request import PairRequest, Request
from conjoin.cli.options import Json, Sources
from conjoin.errors import ArgumentError, DataError
from conjoin.text import quoted

if TYPE_CHECKING:
    from conjoin.paper import Gaussian, Tuned
    from conjoin.tables import DatasetCollection

app = typer.Typer(
    name="paper",
    help="Run the algorithms of the paper as printed; conjoin's verdict follows as a second "
    "opinion.",
    rich_markup_mode=None,
    no_args_is_help=True,
)

Target = Annotated[str, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by", "-b", metavar="COLUMN", help="Column that names a row's dataset; else each file is."
    ),
]
Features = Annotated[
    str | None, typer.Option(metavar="A,B,...", help="Columns to use; by default all others.")
]
Intercept = Annotated[
    bool,
    typer.Option("--intercept/--no-intercept", help="Whether models have one; the paper has none."),
]
Seed = Annotated[int, typer.Option(metavar="NUMBER", help="Random seed.")]
Delta = Annotated[float, typer.Option(metavar="NUMBER", help="The paper's delta, between 0 and 1.")]
Level = Annotated[
    float, typer.Option(metavar="NUMBER", help="Level of conjoin's verdict, the second opinion.")
]
Resamples = Annotated[
    int, typer.Option(metavar="NUMBER", help="The paper's max_iterations, for each expectation.")
]
Known = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="JSON file with the known mean and covariance of each dataset's features, such as "
        '{"a": {"mean": [0], "covariance": [[1]]}, ...}; by default estimated from rows.',
    ),
]
Overparametrised = Annotated[
    bool,
    typer.Option(
        "--overparametrised", help="Allow fewer rows than columns (Moore-Penrose estimator)."
    ),
]
Rows = Annotated[
    int | None,
    typer.Option("--n", metavar="NUMBER", help="Rows of a resample; by default 50 or 100."),
]
Lambda = Annotated[
    float, typer.Option("--lambda", metavar="NUMBER", help="Join where proxy_acc is above it.")
]
Alpha = Annotated[
    str, typer.Option(metavar="MIN:MAX:STEP", help="Grid of alpha; the step is the paper's eta.")
]
PaperRule = Annotated[
    str, typer.Option("--rule", metavar="NAME", help="literal (as printed) or signed.")
]
OutOfSamples = Annotated[
    int | None,
    typer.Option(
        metavar="NUMBER",
        help="Rows that judge a resample (the paper: 1000); by default all that were not drawn.",
    ),
]


@app.command()
def algorithm1(
    data: Sources,
    target: Target,
    by: By = None,
    features: Features = None,
    delta: Delta = 0.1,
    resamples: Resamples = 1000,
    known: Known = None,
    intercept: Intercept = True,
    overparametrised: Overparametrised = False,
    level: Level = PairRequest.delta,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Join two datasets where phi > psi (Algorithm 1)."""
    from conjoin.paper import Bound

    pair = _read_pair(data, target, by, features, seed)
    criterion = Bound(
        delta=delta,
        resamples=resamples,
        known=_read_known(known, pair),
        overparametrised=overparametrised,
    )
    _compare(pair, criterion, target, intercept, level, seed, as_json)


@app.command()
def algorithm2(
    data: Sources,
    target: Target,
    by: By = None,
    features: Features = None,
    n: Rows = None,
    lam: Lambda = 0.9,
    resamples: Resamples = 1000,
    alpha: Alpha = "2:10:0.01",
    delta: Delta = 0.1,
    rule: PaperRule = "literal",
    out_of_samples: OutOfSamples = None,
    known: Known = None,
    intercept: Intercept = True,
    overparametrised: Overparametrised = False,
    level: Level = PairRequest.delta,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Join two datasets where proxy_acc > lambda, with alpha tuned on resamples (Algorithm 2)."""
    pair = _read_pair(data, target, by, features, seed)
    criterion = _tuned(
        alpha,
        rule=rule,
        delta=delta,
        resamples=resamples,
        n=n,
        lam=lam,
        known=_read_known(known, pair),
        overparametrised=overparametrised,
        out_of_samples=out_of_samples,
    )
    _compare(pair, criterion, target, intercept, level, seed, as_json)


@app.command()
def algorithm3(
    data: Sources,
    target: Target,
    by: By = None,
    features: Features = None,
    n: Rows = None,
    lam: Lambda = 0.9,
    resamples: Resamples = 1000,
    alpha: Alpha = "2:10:0.01",
    delta: Delta = 0.1,
    rule: PaperRule = "literal",
    out_of_samples: OutOfSamples = None,
    known: Known = None,
    intercept: Intercept = True,
    overparametrised: Overparametrised = False,
    level: Level = Request.delta,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Grow clusters of many datasets, one at a time, by Algorithm 2 (Algorithm 3)."""
    import conjoin
    from conjoin.cli.show import show_json, show_partition
    from conjoin.cli.show_paper import show_steps
    from conjoin.report.facts import facts

    criterion = _tuned(
        alpha,
        rule=rule,
        delta=delta,
        resamples=resamples,
        n=n,
        lam=lam,
        known=_read_known(known),
        overparametrised=overparametrised,
        out_of_samples=out_of_samples,
    )
    result = conjoin.partition(
        data,
        target=target,
        by=by,
        features=_columns(features),
        method=criterion,
        grouping="greedy",
        learner="linear",
        drop_outliers=False,
        delta=level,
        random_state=seed,
        intercept=intercept,
    )
    if as_json:
        show_json(facts(result))
        return
    show_partition(result)
    show_steps(result.analysis.steps)


@app.command()
def bounds(
    data: Sources,
    target: Target,
    by: By = None,
    features: Features = None,
    lam: Annotated[
        float, typer.Option("--lambda", metavar="NUMBER", help="Weight of the ridge term.")
    ] = 0.1,
    delta: Delta = 0.1,
    reading: Annotated[
        str, typer.Option(metavar="NAME", help="Of phi3 and psi3: corrected, printed or squared.")
    ] = "corrected",
    steps: Annotated[
        int, typer.Option(metavar="NUMBER", help="Steps K of the subgradient method.")
    ] = 1000,
    intercept: Intercept = True,
    as_json: Json = False,
) -> None:
    """Join two datasets with classes where Psi <= Phi1 + Phi2 (appendix "Classification")."""
    import numpy as np

    from conjoin.checks import check_count
    from conjoin.cli.show import show_json
    from conjoin.cli.show_paper import bounds_facts, show_bounds
    from conjoin.paper import Setting, compare_classes
    from conjoin.paper.classification import largest_norm
    from conjoin.paper.surrogate import step_sizes

    check_count("steps", steps)
    pair = _read_pair(data, target, by, features, seed=0, family="logistic")
    ones = np.ones((len(pair.y), 1))
    X = np.hstack([ones, pair.X]) if intercept else pair.X
    parts = [(X[pair.rows(k)], pair.y[pair.rows(k)].astype(np.int64)) for k in (0, 1)]
    (X1, y1), (X2, y2) = parts
    setting = Setting(
        C=len(pair.response.classes),
        B=largest_norm(X1, X2),
        lam=lam,
        delta=delta,
        eta=step_sizes(steps),
        reading=reading,  # type: ignore[arg-type]  # Setting checks it
    )
    found = bounds_facts(compare_classes(X1, y1, X2, y2, setting), setting, pair.names)
    show_json(found) if as_json else show_bounds(found)


def _tuned(alpha: str, **settings: Any) -> "Tuned":
    """Return Algorithm 2 with a grid written as MIN:MAX:STEP."""
    from conjoin.paper import Tuned

    try:
        low, high, step = (float(part) for part in alpha.split(":"))
    except ValueError:
        raise ArgumentError(
            f"--alpha {alpha!r} is not a grid; expected MIN:MAX:STEP, such as 2:10:0.01."
        ) from None
    return Tuned(alpha_min=low, alpha_max=high, alpha_step=step, **settings)


def _columns(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _read_pair(
    data: list[str],
    target: str,
    by: list[str] | None,
    features: str | None,
    seed: int,
    family: str = "gaussian",
) -> "DatasetCollection":
    """Read the rows of two datasets; refuse any other number."""
    from conjoin.engine.reading import reading
    from conjoin.tables import DatasetCollection

    request = Request(
        target=target, by=by, features=_columns(features), random_state=seed, family=family
    )
    with reading(data, request, rows_needed=True) as found:
        assert isinstance(found, DatasetCollection)  # rows were asked for
    if len(found.names) != 2:
        raise DataError(
            f"There are {len(found.names)} datasets ({quoted(list(found.names))}), but this "
            "command compares two; name two files, or use conjoin paper algorithm3."
        )
    return found


def _read_known(
    path: Path | None, pair: "DatasetCollection | None" = None
) -> "dict[str, Gaussian] | None":
    """Read known distributions; those of a pair may be named a and b, or as the datasets are."""
    from conjoin.paper import Gaussian

    if path is None:
        return None
    try:
        content = json.loads(path.read_text())
        known = {name: Gaussian(one["mean"], one["covariance"]) for name, one in content.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"--known {str(path)!r} cannot be read ({error}); expected JSON such as "
            '{"a": {"mean": [0, 0], "covariance": [[1, 0], [0, 1]]}, "b": ...}.'
        ) from None
    if pair is not None and set(pair.names) <= set(known):
        return {side: known[name] for side, name in zip(("a", "b"), pair.names)}
    return known


def _compare(
    pair: "DatasetCollection",
    criterion: Any,
    target: str,
    intercept: bool,
    level: float,
    seed: int,
    as_json: bool,
) -> None:
    """Print what a criterion of the paper says about two datasets, then conjoin's verdict."""
    from conjoin.cli.show import show_comparison, show_json
    from conjoin.engine.pair_numbers import compare_numbers
    from conjoin.report.facts import comparison_facts

    request = PairRequest(
        target=target, method=criterion, delta=level, random_state=seed, intercept=intercept
    )
    result = compare_numbers(pair, request, criterion)
    if as_json:
        show_json(comparison_facts(result, *pair.names))
    else:
        show_comparison(result, *pair.names)
