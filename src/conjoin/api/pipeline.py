"""The public functions: tables in, decisions and models out."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, Literal

import narwhals as nw
import numpy as np

from conjoin._typing import FloatArray, Progress
from conjoin.checks import check_count, check_level
from conjoin.criterion import Criterion, Unit
from conjoin.criterion.judge import Judge
from conjoin.criterion.risk import cluster_errors, noise_variances
from conjoin.criterion.verdict import judge, rows_to_settle
from conjoin.engine.analysis import Analysis, DatasetFacts
from conjoin.engine.criteria import CRITERIA, make_criterion
from conjoin.engine.methods import PARTITIONS
from conjoin.engine.remote import Reduced, reduce, stays
from conjoin.engine.study import Study
from conjoin.errors import ArgumentError, warn_caller
from conjoin.execution import small_matrices
from conjoin.families import check_family
from conjoin.grouping import Grouping
from conjoin.models.ols import fit_ols
from conjoin.moments import Basis, Moments
from conjoin.representations.base import Representation
from conjoin.representations.learned import SHARE, check_learn_share, represent
from conjoin.result.fits import Fit
from conjoin.result.partition import Comparison, Partition
from conjoin.sources.read import Source, is_source, open_source
from conjoin.sources.sql import quote_name
from conjoin.strategies import core as strategies
from conjoin.tables import DatasetCollection, collect
from conjoin.tables.collect import check_choice, collect_rows, has_classes, one_frame
from conjoin.tables.frame import in_memory, is_lazy, to_frame
from conjoin.tables.schema import Roles
from conjoin.tables.stack import settle_columns

FOLDS = 10
SAME = 1e-9  # relative difference of sums that are the same but for rounding
PAIR_JOINED = np.zeros(2, dtype=int)


def compare(
    a: Any,
    b: Any,
    *,
    target: str,
    method: str | Criterion = "risk",
    delta: float = 0.1,
    random_state: int = 0,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    missing: str = "indicator",
    columns: str | None = None,
    family: str = "auto",
    intercept: bool = True,
    **options: Any,
) -> Comparison:
    """Say whether two datasets should be trained together, and how sure that is.

    Parameters
    ----------
    a, b : frames
        Frames (pandas, Polars, ...), mappings of column names to arrays, or files.
    target : str
        Column to predict.
    method : str or Criterion
        What makes the point decision: "risk" (unbiased out-of-sample error, the default), "gcv",
        "validated", or the paper's "tuned", "bound" and "direct"; or a ready criterion.
    delta : float
        Level of the verdict and of the interval (and of the paper's inequality).
    random_state : int
        Seed of every random draw.
    features : list of str, optional
        Columns to use; by default all that are not target or weights.
    weights : str, optional
        Column of row weights.
    missing : "indicator", "median", "drop" or "raise"
        What to do where a feature is missing: fill in the median beside an indicator column, the
        median alone, leave the row out, or refuse.
    columns : "intersect" or "impute", optional
        What to do with columns that only some tables have: leave them out, or treat them as
        missing in the others; by default they are refused.
    family : "auto", "gaussian", "logistic" or "poisson"
        What the target is: a number (least squares), one of several classes (logistic regression)
        or a count (log-linear). "auto" takes text and true/false for classes, numbers for numbers.
    intercept : bool
        Whether models have an intercept.
    **options
        Passed to the criterion, such as `n`, `resamples`, `rule` of method="tuned".

    Examples
    --------
    >>> from conjoin.datasets import make_pair
    >>> same = compare(*make_pair(p=10, n=300, d=0.0).tables().values(), target="y")
    >>> same.join, same.verdict
    (True, 'join')
    >>> far = compare(*make_pair(p=10, n=300, d=1.0).tables().values(), target="y")
    >>> far.join, far.verdict
    (False, 'apart')
    """
    check_level("delta", delta)
    if not {"representation", "learn_share"}.isdisjoint(options):
        raise ArgumentError(
            "compare has no representation; pass both tables to partition instead: "
            "conjoin.partition({'a': a, 'b': b}, target=..., representation=...)."
        )
    if method in ("tuned", "bound"):
        options = {"delta": delta, **options}
    criterion = make_criterion(method, options)
    collection = collect(
        {_called("a", a): _read(a, target), _called("b", b): _read(b, target)},
        target=target,
        features=features,
        weights=weights,
        missing=missing,
        columns=columns,
        family=family,
    )
    seed = check_seed(random_state)
    if collection.response.family != "gaussian":
        if method != "risk":
            raise ArgumentError(
                f"method={_method_name(method)!r} is for numbers, but the target is of family "
                f"{collection.response.family!r}; leave method out."
            )
        return _compare_likelihoods(collection, delta, seed, intercept)
    units = to_units(collection, intercept=intercept)
    result = criterion.compare(*(criterion.prepare(unit, seed) for unit in units))
    moments = Moments.stack([unit.moments for unit in units])
    noise = noise_variances(moments)
    basis = units[0].basis
    _hint_at_classes(family, target, basis, moments)
    fit_a, fit_b = (_linear_fit(collection, basis, moments[[k]], noise[[k]]) for k in (0, 1))
    fit_joined = _linear_fit(collection, basis, moments, noise)
    found = judge(moments[0], moments[1], delta=delta)
    undecided = found.verdict == "undecided"
    scale = basis.target_scale**2
    return Comparison(
        verdict=found.verdict,
        join=result.join,
        gain=found.gain * scale,
        interval=(found.interval[0] * scale, found.interval[1] * scale),
        delta=delta,
        rows_to_settle=rows_to_settle(moments[0], moments[1], delta=delta) if undecided else 1.0,
        score=result.score,
        threshold=criterion.threshold,
        phi=result.phi * scale,
        psi=result.psi * scale,
        alpha=result.alpha,
        method=_method_name(method),
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=fit_joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=fit_joined.error,
    )


def _compare_likelihoods(
    collection: DatasetCollection, delta: float, seed: int, intercept: bool
) -> Comparison:
    """Compare two datasets whose target is a class or a count.

    Errors are validated ones, and so is the point decision: the quadratic form of the gain is too
    flat where datasets are small and far apart.
    """
    with small_matrices(len(collection.features)):
        study = Study.of(collection, intercept=intercept, folds=FOLDS, seed=seed, count="datasets")
        known, judge_of = described(collection), study.judge
        answers, ends = judge_of.verdicts([((0,), (1,))], delta=delta, interval=True)
        gain = float(judge_of.gains([((0,), (1,))])[0])
        scale, m = study.gain_scale, judge_of.moments
        grown = 1.0 if answers[0] != "undecided" else _likelihood_rows_to_settle(judge_of, delta)
        fits, errors = [], []
        for refit in (strategies.separate_ridged, strategies.clusters(PAIR_JOINED, study.hyper)):
            coef, losses = strategies.fit_and_validate(refit, study.problem)
            errors.append(losses.sum(axis=0) / m.w)
            fits.append(coef)
        rows = collection.sizes
        fit_a, fit_b = (
            known.model(study.basis, fits[0][k], rows[k], float(errors[0][k])) for k in (0, 1)
        )
        joined = known.model(study.basis, fits[1][0], sum(rows), float(errors[1].mean()))
        lead = float(errors[0].mean() - errors[1].mean())
    return Comparison(
        verdict=answers[0],
        join=lead > 0 if answers[0] == "undecided" else answers[0] == "join",
        gain=gain * scale,
        interval=(float(ends[0, 0] * scale), float(ends[0, 1] * scale)),
        delta=delta,
        rows_to_settle=grown,
        score=lead,
        threshold=0.0,
        phi=float("nan"),
        psi=float("nan"),
        alpha=float("nan"),
        method="risk",
        fit_a=fit_a,
        fit_b=fit_b,
        fit_joined=joined,
        error_separate=(fit_a.error + fit_b.error) / 2,
        error_joined=joined.error,
    )


def _likelihood_rows_to_settle(judge_of: Judge, delta: float) -> float | None:
    """Return by what factor two datasets would have to grow for a verdict, if that is known."""
    m = judge_of.moments
    assert judge_of.backing is not None
    short = float(judge_of.backing.short(m.p // m.outputs).max())
    if not np.isfinite(short) or judge_of.backing.lacking()[0]:
        return None
    grown = rows_to_settle(m[0], m[1], delta=delta)
    return None if grown is None else max(grown, short)


def partition(
    data: Any,
    *,
    target: str,
    by: str | Sequence[str] | None = None,
    method: str | Criterion = "risk",
    strategy: str = "auto",
    grouping: Literal["agglomerative", "greedy"] | None = None,
    count: Literal["datasets", "rows"] = "datasets",
    delta: float = 0.1,
    folds: int = 10,
    random_state: int = 0,
    features: Sequence[str] | None = None,
    weights: str | None = None,
    missing: str = "indicator",
    columns: str | None = None,
    query: str | None = None,
    family: str = "auto",
    intercept: bool = True,
    representation: Any = None,
    learn_share: float = SHARE,
    progress: Progress | None = None,
    **options: Any,
) -> Partition:
    """Find which datasets to train together, and fit the models.

    Parameters
    ----------
    data : frame, mapping of names to frames, or files
        One table with a column `by` that names the dataset of each row, or a table per dataset;
        pandas, Polars, Arrow, DuckDB, Dask or PySpark, columns of any kind. A text or path names
        files, folders, patterns or a database table (`conjoin.sources.read`).
    target : str
        Column to predict.
    by : str or list of str, optional
        Column (or columns) that name the dataset; needed when data is one table.
    method : str or Criterion
        What finds the clusters: "risk" (the default: partitions proposed by their evidence,
        judged by validated risk against joining all and joining none), "evidence", "mallows"
        (agglomeration over the unbiased risk), "validated"; the plain "chow", "bic" and
        "kmeans"; the paper's "tuned", "bound" and "direct"; or a ready criterion.
    strategy : str
        Which models the datasets get: "auto" (an average of strategies weighted by validated
        error), "best" (the one with least validated error), or one by name: "separate",
        "pooled", "clusters", "intercept", "slopes", "partial", "full", "mixture". Clusters and
        their models are in the result whatever is chosen.
    grouping : "agglomerative" or "greedy", optional
        How pairs become clusters; "greedy" is the paper's Algorithm 3 and needs a criterion. By
        default what the method was made for.
    count : "datasets" or "rows"
        Whether every dataset counts the same in errors, or every row.
    delta : float
        Level of the verdicts in the ledger (and of the paper's inequality).
    folds : int
        Folds of the validation; for classes or counts of more than 300 datasets half as many, but
        not fewer than 5.
    random_state, features, weights, missing, columns, intercept, **options
        As in `compare`.
    query : str, optional
        Where data names files: a SELECT over them, as table `data`.
    family : "auto", "gaussian", "logistic" or "poisson"
        What the target is: a number (least squares), one of several classes (logistic regression)
        or a count (log-linear). "auto" takes text and true/false for classes, numbers for numbers.
    representation : "mlp1", "mlp2", Representation, transformer or function, optional
        Features that models have instead of the columns, learned from the rows of all datasets:
        a network of one or two hidden layers (`representations.Network`; extra: nn), an `MLP` or
        `Tap`, a scikit-learn transformer, a function of rows. Rows are brought into memory.
    learn_share : float
        Share of each dataset's rows that teach a representation which learns from the target; the
        models, verdicts and errors are of the others. With 1 all rows teach and are used again, as
        in the paper: errors are too low then. Other representations learn from all rows.
    progress : callable, optional
        Called with the number of steps done so far and in all.

    Examples
    --------
    >>> from conjoin.datasets import make_clusters
    >>> stores = make_clusters(sizes=(2, 2), n=100, p=4, distance=2.0)
    >>> result = partition(stores.tables(), target="y")
    >>> result.clusters
    [['d1', 'd2'], ['d3', 'd4']]
    >>> sorted(result.coefficients)
    ['d1', 'd2', 'd3', 'd4']
    """
    check_level("delta", delta)
    if strategy not in strategies.NAMES:
        raise ArgumentError(
            f"strategy={strategy!r} is unknown; expected one of {', '.join(strategies.NAMES)}."
        )
    check_family(family)
    check_count("folds", folds, least=2)
    if count not in ("datasets", "rows"):
        raise ArgumentError(f"count={count!r} is unknown; expected 'datasets' or 'rows'.")
    seed = check_seed(random_state)
    check_learn_share(learn_share)
    if representation is None and learn_share != SHARE:
        raise ArgumentError(
            f"learn_share={learn_share!r} is for a representation, of which there is none; leave "
            "it out, or choose one, such as representation='mlp1'."
        )
    chosen = _chosen(representation, seed)
    use_greedy = _wants_greedy(method, grouping)
    if method in ("tuned", "bound") and use_greedy:
        options = {"delta": delta, **options}
    criterion = make_criterion(method, options) if use_greedy else None
    if criterion is None and options:
        raise ArgumentError(_unknown_options(method, sorted(options)))
    asked = {
        "method": _method_name(method),
        "grouping": grouping,
        "count": count,
        "delta": delta,
        "folds": folds,
        "random_state": seed,
        "missing": missing,
        "columns": columns,
        "query": query,
        "family": family,
        "intercept": intercept,
        **_asked(representation, chosen, learn_share),
        **{name: value for name, value in options.items() if _is_plain(value)},
    }
    run = partial(
        _from_table,
        settings={**asked, "data": _shown_source(data)},
        method=method,
        criterion=criterion,
        strategy=strategy,
        count=count,
        delta=delta,
        folds=folds,
        seed=seed,
        missing=missing,
        family=family,
        intercept=intercept,
        representation=chosen,
        learn_share=learn_share,
        progress=progress,
    )
    if not is_source(data):
        if query is not None:
            raise ArgumentError("query goes with files or a database; data is a table already.")
        return run(data, Roles.of(target, by, features, weights), columns=columns)
    with open_source(data, by=by or (), query=query) as source, source.reading():
        roles = Roles.of(target, source.by or by, features, weights)
        return run(_usable(source.labelled(target), roles, columns), roles, columns=None)


def _from_table(
    data: Any,
    roles: Roles,
    *,
    method: str | Criterion,
    criterion: Criterion | None,
    strategy: str,
    count: str,
    delta: float,
    folds: int,
    seed: int,
    missing: str,
    columns: str | None,
    family: str,
    intercept: bool,
    representation: Representation | None,
    learn_share: float,
    progress: Progress | None,
    settings: Mapping[str, Any],
) -> Partition:
    """Find clusters and models of tables; arguments have been checked."""
    reduced = None
    if criterion is None and representation is None and not isinstance(data, Mapping):
        reduced = _reduced(data, roles, missing, folds, seed, intercept, family)
    if reduced is not None:
        study = Study.of_folds(
            reduced.basis, reduced.folds, seed=seed, count=count, progress=progress
        )
        known = DatasetFacts(reduced.names, reduced.sizes, reduced.schema, reduced.limits)
        _hint_at_classes(family, roles.target, study.basis, study.moments)
        with small_matrices(len(reduced.schema.features)):
            return _partition(known, study, None, method, strategy, delta, settings)
    collection = collect_rows(data, roles, missing=missing, columns=columns, family=family)
    if collection.response.family != "gaussian":
        _check_method(collection.response.family, method, criterion)
    if representation is not None:
        collection, progress = represent(
            collection, representation, share=learn_share, seed=seed, progress=progress
        )
    with small_matrices(len(collection.features)):
        study = Study.of(
            collection,
            intercept=intercept,
            folds=folds,
            seed=seed,
            count=count,
            progress=progress if criterion is None else None,
        )
        if collection.response.family == "gaussian":
            _hint_at_classes(family, roles.target, study.basis, study.moments)
        found = None
        if criterion is not None:
            units = to_units(collection, intercept=intercept)
            from conjoin.paper.greedy import greedy

            found = greedy(criterion, units, seed, progress)
        known = described(collection)
        return _partition(known, study, found, method, strategy, delta, settings)


def _reduced(
    data: Any, roles: Roles, missing: str, folds: int, seed: int, intercept: bool, family: str
) -> Reduced | None:
    """Form moments where the rows are, if they should stay there; a likelihood needs the rows."""
    if not is_lazy(data) or family not in ("auto", "gaussian"):
        return None
    frame, roles = one_frame(data, roles)
    if not isinstance(frame, nw.LazyFrame) or not stays(frame):
        return None
    if has_classes(frame.collect_schema()[roles.target], family):
        return None
    return reduce(frame, roles, missing=missing, folds=folds, seed=seed, intercept=intercept)


def _partition(
    known: DatasetFacts,
    study: Study,
    grouping: Grouping | None,
    method: str | Criterion,
    strategy: str,
    delta: float,
    settings: Mapping[str, Any],
) -> Partition:
    """Find the clusters, unless a grouping has, and collect the result."""
    if grouping is None:
        labels, merges = PARTITIONS[str(method)].find(study), None
    else:
        position = {name: i for i, c in enumerate(grouping.clusters) for name in c}
        labels, merges = np.array([position[name] for name in known.names]), grouping.history
    kind = "agglomerative" if grouping is None else "greedy"
    analysis = Analysis(known, study, labels, _method_name(method), kind, delta, merges, settings)
    return analysis.using(strategy)


def _unknown_options(method: str | Criterion, names: Sequence[str]) -> str:
    """Say that arguments are unknown, and which ones are nearly named so."""
    known = [name for name in signature(partition).parameters if name != "options"]
    near = [close for name in names for close in get_close_matches(name, known, n=1)]
    hint = (
        f"did you mean {', '.join(near)}?"
        if near
        else f"leave {'it' if len(names) == 1 else 'them'} out."
    )
    given = ", ".join(f"{name}=..." for name in names)
    return f"method={_method_name(method)!r} does not take {given}; {hint}"


def _hint_at_classes(family: str, target: str, basis: Basis, moments: Moments) -> None:
    """Say so where a number that nobody called one may be meant as a class.

    The sum of squares is the sum where all values are 0 or 1; y^2 - y is positive at every other
    whole number, and fractions would have to meet by chance.
    """
    if family != "auto" or not basis.intercept:
        return
    m = moments.union()
    total, squares = basis.target_sums(float(m.h[0]), float(m.q), float(m.w))
    if total > 0 and abs(squares - total) <= SAME * total:
        warn_caller(
            f"Target {target!r} has only the values 0 and 1; family='logistic' treats it as "
            "classes, family='gaussian' as the number it is taken for now."
        )


def _check_method(family: str, method: str | Criterion, criterion: Criterion | None) -> None:
    """Refuse methods that know least squares only."""
    if criterion is not None or method == "validated":
        raise ArgumentError(
            f"method={_method_name(method)!r} is for numbers, but the target is of family "
            f"{family!r}; leave method out, or choose 'risk', 'evidence', 'mallows', 'chow', "
            "'bic' or 'kmeans'."
        )


def _usable(source: Source, roles: Roles, columns: str | None) -> Any:
    """Return the rows of files with the columns that are to be used."""
    check_choice(columns)
    names = list(source.relation.columns)
    dropped = settle_columns(source.partial_columns, roles, columns, set(names))
    if not dropped:
        return source.relation
    return source.relation.project(", ".join(quote_name(n) for n in names if n not in dropped))


def _shown_source(data: Any) -> list[str]:
    """Return the names of files as they may be told: no folders, no addresses of databases."""
    if not is_source(data):
        return []
    items = [data] if isinstance(data, (str, Path)) else list(data)
    texts = [str(item) for item in items]
    if any("://" in text for text in texts):
        return []
    return [Path(text).name for text in texts]


def _chosen(representation: Any, seed: int) -> Representation | None:
    """Return the representation that is meant."""
    if representation is None:
        return None
    # Here, since most calls need no representation and none of what it imports.
    from conjoin.representations.embedding import as_representation

    return as_representation(representation, seed)


def _asked(representation: Any, chosen: Representation | None, share: float) -> dict[str, Any]:
    """Return what is told of a representation: its name, or what it is; nothing without one."""
    if chosen is None:
        return {}
    name = representation if isinstance(representation, str) else chosen.describe()
    return {"representation": name, "learn_share": share}


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _called(name: str, data: Any) -> str:
    """Return what messages call one of two datasets; the first sorts before the second."""
    return " ".join([name, *(f"({file})" for file in _shown_source(data))])


def _read(table: Any, target: str) -> Any:
    """Return a table as it is, or read the file it names."""
    if not is_source(table):
        return table
    with open_source(table) as source, source.reading():
        return in_memory(to_frame(source.labelled(target).relation)).to_native()


def described(collection: DatasetCollection) -> DatasetFacts:
    """Return what is known of a collection besides its rows."""
    return DatasetFacts(collection.names, collection.sizes, collection.schema, collection.limits)


def _wants_greedy(method: str | Criterion, grouping: str | None) -> bool:
    """Say whether Algorithm 3 makes the clusters; refuse what does not fit together."""
    if grouping not in (None, "agglomerative", "greedy"):
        raise ArgumentError(
            f"grouping={grouping!r} is unknown; expected 'agglomerative' or 'greedy'."
        )
    if not isinstance(method, str):
        return True
    if method not in PARTITIONS and method not in CRITERIA:
        names = ", ".join(sorted({*PARTITIONS, *CRITERIA}))
        raise ArgumentError(f"method={method!r} is unknown; expected one of {names}.")
    if grouping == "agglomerative" and method not in PARTITIONS:
        raise ArgumentError(f"method={method!r} scores pairs only; leave grouping out.")
    if grouping == "greedy" and method not in CRITERIA:
        raise ArgumentError(f"method={method!r} finds clusters itself; leave grouping out.")
    return grouping == "greedy" or method not in PARTITIONS


def to_units(collection: DatasetCollection, *, intercept: bool = True) -> list[Unit]:
    """Bring each dataset into the shared centred and scaled coordinates."""
    X, y, w = collection.X, collection.y, collection.weights
    basis = Basis.from_rows(X, y, w, intercept=intercept)
    Z, t = basis.design(X), basis.response(y)
    units = []
    for k, name in enumerate(collection.names):
        rows = collection.rows(k)
        units.append(Unit((name,), (collection.sizes[k],), Z[rows], t[rows], w[rows], basis))
    return units


def check_seed(random_state: int) -> int:
    """Refuse a seed from which no stream can be made."""
    if isinstance(random_state, bool) or not isinstance(random_state, (int, np.integer)):
        raise ArgumentError(f"random_state={random_state!r} is no seed; expected a whole number.")
    if random_state < 0:
        raise ArgumentError(f"random_state={random_state!r} is negative; expected >= 0.")
    return int(random_state)


def _method_name(method: str | Criterion) -> str:
    return method if isinstance(method, str) else type(method).__name__.lower()


def _linear_fit(
    collection: DatasetCollection, basis: Basis, moments: Moments, noise: FloatArray
) -> Fit:
    """Fit one model to the datasets of a cluster, moments (K,), and estimate its error."""
    joint = moments.union()
    error = float(np.mean(cluster_errors(moments, noise)))
    return described(collection).model(basis, fit_ols(joint).beta, int(joint.n), error)
