"""Every option, once: its default, its choices, its help text and its check.

Values that a user passed enter, a frozen request leaves. The Python functions take their defaults
from here (`Request.delta`), the command line its flags and help texts, the estimators their
parameters and checks, docstrings their descriptions, and the report its "make this page again".

A new option is a field here, and an argument of the same name in `partition` or `compare` and in
the estimators; a test compares all of them. This module imports nothing heavy, since
`conjoin --help` needs it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conjoin.api.described import Option, default_of, described, option
from conjoin.api.option_checks import (
    check_flag,
    check_folder,
    check_folds,
    check_interval,
    check_learner,
    check_method,
    check_sample,
    check_switch,
    check_text,
)
from conjoin.checks import check_choice, check_level, check_seed
from conjoin.durations import check_gap, check_horizon
from conjoin.errors import ArgumentError
from conjoin.strategies import LEARNER_STRATEGIES, STRATEGIES
from conjoin.text import without_secrets

PARTITION_METHODS = ("auto", "risk", "evidence", "validated", "chow", "bic", "kmeans")
PAIR_METHODS = ("risk", "gcv", "validated")
# Criteria of the paper; `conjoin.paper` is loaded when one of them is asked for.
PAPER_METHODS = ("tuned", "bound", "direct")
FAMILIES = ("auto", "gaussian", "logistic", "poisson")
MISSING = ("indicator", "median", "drop", "raise")
COLUMNS = ("intersect", "impute")
ON_UNSEEN = ("pooled", "nearest", "raise")
NETWORKS = ("mlp1", "mlp2")
VERDICTS = ("robust", "gaussian")
ENGINES = ("duckdb", "dask", "spark")

# Options that say what columns are; a schema holds them, not the settings of a result.
ROLES = ("target", "by", "features", "weights", "category", "ignore", "time", "repeat", "strategy")

# Options that say how a run is done and change nothing in its answer; they are not stored.
RUNNING = ("checkpoint", "engine", "master", "scheduler", "memory")

# Spellings of version 0.1. They get an error that names the new one.
RENAMED_ARGUMENTS = {"count": "weigh_by"}
RENAMED_METHODS = {"mallows": "risk"}
# Arguments that are gone, and what to do instead.
GONE_ARGUMENTS = {
    "learn_share": "networks are cross-fitted now: all rows train them, and no row is judged by a "
    "network that saw it. Leave it out"
}


@dataclass(frozen=True, kw_only=True)
class Question:
    """What `partition` and `compare` both ask: the columns, the family, the level, the seed."""

    target: str = field(
        metadata={"option": Option("Column to predict.", kind="str", metavar="COLUMN", short="-t")}
    )
    features: Any = option(
        None,
        "Columns to use; by default all others.",
        kind="list of str, optional",
        metavar="A,B,...",
        python_help="All others are those that are not the target, the names or the weights.",
    )
    weights: str | None = option(
        None,
        "Column of row weights.",
        kind="str, optional",
        metavar="COLUMN",
        python_help="A weight of 2 means that the row is twice as precise (half the noise "
        "variance), not that it occurs twice.",
    )
    family: str = option(
        "auto",
        "What the target is.",
        choices=FAMILIES,
        metavar="KIND",
        python_help='"gaussian" is a number (least squares), "logistic" a class, "poisson" a '
        'count. "auto" takes text and true/false for classes and numbers for numbers.',
    )
    missing: str = option(
        "indicator",
        "What is done about missing values.",
        choices=MISSING,
        metavar="WAY",
        python_help='"indicator" fills in the median and adds a column that says so, "median" only '
        'fills in, "drop" leaves the row out, "raise" is an error.',
    )
    columns: str | None = option(
        None,
        "Columns that some datasets lack.",
        kind='"intersect" or "impute", optional',
        choices=COLUMNS,
        metavar="WAY",
        python_help='"intersect" leaves them out, "impute" treats them as missing. By default they '
        "are an error.",
    )
    category: Any = option(
        None,
        "Number columns that are categories (codes).",
        kind="list of str, optional",
        metavar="A,B,...",
        python_help="Each frequent value gets a 0/1 feature, as for text.",
    )
    ignore: Any = option(
        None,
        "Columns to leave out, such as identifiers.",
        kind="list of str, optional",
        metavar="A,B,...",
    )
    time: str | None = option(
        None,
        "Column of dates or numbers that orders rows in time.",
        kind="str, optional",
        metavar="COLUMN",
        python_help="Models are then judged on rows that come after those they were fitted to, and "
        "verdicts allow noise that depends on the rows before. The column stays a feature unless "
        "`ignore` names it. conjoin loads all rows into memory.",
    )
    repeat: str | None = option(
        None,
        "Column that names whom a row is about, such as a patient.",
        kind="str, optional",
        metavar="COLUMN",
        python_help="Rows with the same value stay in one fold, and verdicts allow noise that they "
        "share. The column is no feature. conjoin loads all rows into memory.",
    )
    drop_outliers: bool | None = option(
        None,
        "Leave rows with gross errors out, or keep them.",
        kind="bool, optional",
        check=check_switch,
        opposite="--keep-outliers",
        python_help="A gross error is a value far beyond the tail of its column, such as 99999999. "
        "By default conjoin works with and without these rows. If the answers differ, it returns "
        "the one without them. True leaves them out, False keeps them.",
    )
    robust: bool = option(
        False,
        "Huber weights on rows; numbers only.",
        kind="bool",
        python_help="Rows far from their model count less. Weights are found from robust fits of "
        "each dataset. Rows with gross errors are left out, unless drop_outliers is False.",
    )
    intercept: bool = option(True, "Whether models have an intercept.", kind="bool")
    delta: float = option(
        0.1,
        "Level of verdicts and intervals.",
        kind="float",
        check=check_level,
        metavar="NUMBER",
        python_help="A verdict is wrong with at most this probability.",
    )
    verdict: str = option(
        "robust",
        "What verdicts assume about the noise.",
        choices=VERDICTS,
        metavar="KIND",
        python_help='"robust" allows noise that depends on the columns, and lines that do not fit. '
        '"gaussian" assumes normal noise that is equal inside a dataset: its level is exact then, '
        "and it decides a little more often. For classes and counts it changes nothing.",
    )
    random_state: int = option(
        0,
        "Random seed.",
        kind="int",
        check=check_seed,
        python_help="The same input and seed give the same output.",
        metavar="NUMBER",
        flag="--seed",
    )
    options: Mapping[str, Any] = field(default_factory=dict)  # those of a criterion, such as `n`

    def __post_init__(self) -> None:
        for name, one in described(type(self)).items():
            value = getattr(self, name)
            if one.choices and not (value is None and default_of(type(self), name) is None):
                if isinstance(value, str) or name != "method":
                    check_choice(name, value, one.choices)
            if one.kind == "bool":
                check_flag(name, value)
            if one.check is not None:
                one.check(name, value)

    def to_plain(self) -> dict[str, Any]:
        """Return the options as plain values, without the roles of columns.

        What no file can hold, such as a ready criterion, stands by its name.
        """
        left_out = (*ROLES, *RUNNING)
        found = {
            name: getattr(self, name) for name in described(type(self)) if name not in left_out
        }
        found["method"] = self.method_name
        found["learner"] = self.learner_name
        if not found.get("keep_moments"):  # it changes what is kept, and few ask for it
            found.pop("keep_moments", None)
        found["random_state"] = int(self.random_state)
        found |= {k: str(found[k]) for k in ("horizon", "gap") if not _is_plain(found.get(k))}
        if found.get("query"):  # settings are written to model files and pages
            found["query"] = without_secrets(found["query"])
        plain = {name: value for name, value in self.options.items() if _is_plain(value)}
        return {**found, **plain}

    def identity(self) -> dict[str, Any]:
        """Return all that the answer depends on besides the data, as plain values."""
        roles = {name: repr(getattr(self, name, None)) for name in ROLES}
        ready = {name: repr(getattr(self, name, None)) for name in ("learner", "method")}
        return {**self.to_plain(), **roles, **ready}

    @property
    def learner_name(self) -> str:
        """The name of the learner, or of the class of a ready one."""
        learner = getattr(self, "learner")  # noqa: B009 (declared by the subclasses)
        if isinstance(learner, str):
            return learner
        return str(getattr(learner, "name", type(learner).__name__))

    @property
    def method_name(self) -> str:
        """The name of the method, or of the class of a ready criterion."""
        method = getattr(self, "method")  # noqa: B009 (declared by the subclasses)
        return method if isinstance(method, str) else type(method).__name__.lower()


@dataclass(frozen=True, kw_only=True)
class Request(Question):
    """What `partition` is asked for."""

    by: Any = option(
        None,
        "Column that names a row's dataset; repeatable.",
        kind="str or list of str, optional",
        metavar="COLUMN",
        short="-b",
        python_help="Several columns name it together. Without it each file or table is a dataset.",
    )
    method: Any = option(
        "auto",
        "What finds the clusters.",
        kind='str or criterion, default "auto"',
        choices=(*PARTITION_METHODS, *PAPER_METHODS),
        check=check_method,
        short="-m",
        python_help='"auto" takes partitions proposed by their evidence and chooses by the error '
        'on held-out rows. "risk" agglomerates by the unbiased risk. The other names are for '
        'comparison: "evidence", "validated", "chow", "bic", "kmeans", and the paper\'s "tuned", '
        '"bound" and "direct".',
    )
    learner: Any = option(
        "auto",
        "What is trained on rows: auto, linear, boosting.",
        kind='"auto", "linear", "boosting", Boosting or scikit-learn estimator',
        check=check_learner,
        python_help='"linear" are straight lines. "boosting" are boosted trees (LightGBM) beside '
        'them. "auto" takes both, weighted by their error on held-out rows. A regressor, '
        "classifier or pipeline of scikit-learn takes the place of the trees.",
    )
    strategy: str = option(
        "auto",
        "Which models the datasets get.",
        choices=("auto", "best", *STRATEGIES, *LEARNER_STRATEGIES),
        short="-s",
        python_help='"auto" is an average of strategies, weighted by their error on held-out rows. '
        '"best" is the strategy with the lowest error. Clusters and their models are in the result '
        "whatever is chosen.",
    )
    grouping: str | None = option(
        None,
        "How pairs become clusters.",
        kind='"agglomerative" or "greedy", optional',
        choices=("agglomerative", "greedy"),
        metavar="WAY",
        python_help='"greedy" is Algorithm 3 of the paper and needs a criterion. By default the '
        "way that suits the method.",
    )
    weigh_by: str = option(
        "datasets",
        "What counts the same in errors.",
        choices=("datasets", "rows"),
        metavar="WHAT",
    )
    folds: int = option(
        10,
        "Folds of cross-validation.",
        kind="int",
        check=check_folds,
        metavar="NUMBER",
        python_help="Classes and counts of more than 300 datasets use half as many, at least 5.",
    )
    horizon: Any = option(
        None,
        "How far ahead models predict, such as '4 weeks'.",
        kind="number, str or timedelta, optional",
        check=check_horizon,
        metavar="LENGTH",
        python_help="Goes with `time`. A number counts days, or the units of a column of numbers. "
        "By default a model predicts until the next one is fitted.",
    )
    gap: Any = option(
        None,
        "Time between the last row of a fit and the first it predicts.",
        kind="number, str or timedelta, optional",
        check=check_gap,
        metavar="LENGTH",
        python_help="Goes with `time`, for rows that are known late. By default there is none.",
    )
    sample_rows: int | None = option(
        None,
        "Rows that teach the learner if the table stays in files.",
        kind="int, optional",
        check=check_sample,
        metavar="NUMBER",
        python_help="For files, databases and lazy tables with more rows. Errors and lines are of "
        "all rows. By default all rows if they fit into memory, else as many as fit, at most "
        "500,000.",
    )
    query: str | None = option(
        None,
        "SELECT over the files, as table 'data'.",
        kind="str, optional",
        check=check_text,
        metavar="SQL",
        python_help="It can read the given data and nothing else.",
    )
    unsafe_query: bool = option(
        False,
        "Let the query read other files, and write.",
        kind="bool",
        python_help="Only for queries that you wrote yourself.",
    )
    keep_moments: bool = option(
        False,
        "Keep sums of rows in the result, so that update can add rows.",
        kind="bool",
        python_help="Model files then hold sums of products by dataset and fold, and no row. The "
        "fold of a row depends on its values alone. For learner='linear' and targets of numbers.",
    )
    engine: str | None = option(
        None,
        "What computes sums of rows that stay in files.",
        kind='"duckdb", "dask" or "spark", optional',
        choices=ENGINES,
        metavar="NAME",
        python_help="For Parquet and CSV files. By default DuckDB, for files that are larger than "
        "memory. In Python, frames of Dask and Spark need no engine.",
    )
    master: str | None = option(
        None,
        "Where Spark is, such as spark://host:7077.",
        kind="str, optional",
        check=check_text,
        metavar="ADDRESS",
        python_help="By default all cores of this machine.",
    )
    scheduler: str | None = option(
        None,
        "Where Dask is, such as tcp://host:8786.",
        kind="str, optional",
        check=check_text,
        metavar="ADDRESS",
        python_help="By default threads of this process.",
    )
    memory: str | None = option(
        None,
        "Memory that DuckDB may use, such as 2GB.",
        kind="str, optional",
        check=check_text,
        metavar="SIZE",
        python_help="Beyond it, DuckDB uses the disk.",
    )
    checkpoint: Any = option(
        None,
        "Folder for finished steps, so that a killed run can go on.",
        kind="path, optional",
        check=check_folder,
        metavar="DIR",
        python_help="The same call with the same folder takes finished steps over: moments of "
        "tables that stay in files, fits of strategies, trees, and validation. The answer is the "
        "same to the last bit. A folder of other data or options is refused.",
    )
    representation: Any = option(
        None,
        "Network that learns features: mlp1 or mlp2.",
        kind='"mlp1", "mlp2", Representation, transformer or function, optional',
        python_help="They have one or two hidden layers. An `MLP` or `Tap` (extra: nn), a "
        "scikit-learn transformer or a function of rows work too. What learns from the target is "
        "cross-fitted, so that errors stay honest. conjoin then loads all rows into memory.",
    )

    def __post_init__(self) -> None:
        if isinstance(self.method, str) and self.method in RENAMED_METHODS:
            raise ArgumentError(
                f"method={self.method!r} is now called {RENAMED_METHODS[self.method]!r}; what was "
                "'risk' in partition is now 'auto', the default."
            )
        super().__post_init__()
        for name in ("horizon", "gap"):
            if getattr(self, name) is not None and self.time is None:
                raise ArgumentError(
                    f"{name}={getattr(self, name)!r} needs time: name the column that orders rows, "
                    "such as time='date'."
                )


@dataclass(frozen=True, kw_only=True)
class PairRequest(Question):
    """What `compare` is asked for."""

    learner: Any = option(
        "linear",
        "What is trained on rows: auto, linear, boosting.",
        kind='"auto", "linear", "boosting", Boosting or scikit-learn estimator',
        check=check_learner,
        python_help='"linear" are straight lines, with a verdict from theory. The verdict on any '
        'other learner is from cross-validation. "boosting" are boosted trees (LightGBM). "auto" '
        "is the one of the two with the lower error on held-out rows.",
    )
    method: Any = option(
        "risk",
        "What makes the point decision.",
        kind='str or criterion, default "risk"',
        choices=(*PAIR_METHODS, *PAPER_METHODS),
        check=check_method,
        short="-m",
        python_help='"risk" is the unbiased estimate of the error on new rows. The other names are '
        'for comparison: "gcv", "validated", and the paper\'s "tuned", "bound" and "direct".',
    )


@dataclass(frozen=True, kw_only=True)
class PredictionOptions:
    """How rows are predicted."""

    on_unseen: str = option(
        "pooled",
        "Model of a dataset not there at fitting.",
        choices=ON_UNSEEN,
        metavar="WAY",
        python_help='"pooled" is one model for all, "nearest" that of the most similar cluster, '
        '"raise" an error.',
    )
    limit: bool = option(
        True,
        "Whether features stay near the training range.",
        kind="bool",
        python_help="A value is kept within the training range, widened by its own width on either "
        "side. False allows extrapolation beyond that.",
    )

    interval: float | None = option(
        None,
        "Share of new rows that intervals hold, such as 0.9.",
        kind="float, optional",
        metavar="SHARE",
        python_help="Predictions then come with an interval each, for classes with a set of "
        "classes. They are found from held-out rows of the dataset and, where it has few, from "
        "those of similar ones.",
    )

    def __post_init__(self) -> None:
        check_choice("on_unseen", self.on_unseen, ON_UNSEEN)
        check_flag("limit", self.limit)
        check_interval("interval", self.interval)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def refuse_renamed(options: Mapping[str, Any]) -> None:
    """Refuse arguments that are gone, or by a name that they no longer have."""
    for name in options:
        if name in GONE_ARGUMENTS:
            raise ArgumentError(f"{name}={options[name]!r}: {GONE_ARGUMENTS[name]}.")
        if name in RENAMED_ARGUMENTS:
            raise ArgumentError(
                f"{name}={options[name]!r} is now called {RENAMED_ARGUMENTS[name]}="
                f"{options[name]!r}."
            )
