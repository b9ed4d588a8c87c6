"""Every option, once: its default, its choices, its help text and its check.

Values that a user passed enter, a frozen request leaves. The Python functions take their defaults
from here (`Request.delta`), the command line its flags and help texts, the estimators their
parameters and checks, docstrings their descriptions, and the report its "make this page again".

A new option is a field here, and an argument of the same name in `partition` or `compare` and in
the estimators; a test compares all of them. This module imports nothing heavy, since
`conjoin --help` needs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, TypeVar

from conjoin.checks import check_choice, check_count, check_level, check_seed
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
LEARNERS = ("auto", "linear", "boosting")
FEWEST_SAMPLED = 1_000  # rows that a sample must have: trees of fewer are worse than lines

# Options that say what columns are; a schema holds them, not the settings of a result.
ROLES = ("target", "by", "features", "weights", "category", "ignore", "strategy")

# Spellings of version 0.1. They get an error that names the new one.
RENAMED_ARGUMENTS = {"count": "weigh_by"}
RENAMED_METHODS = {"mallows": "risk"}
# Arguments that are gone, and what to do instead.
GONE_ARGUMENTS = {
    "learn_share": "networks are cross-fitted now: all rows train them, and no row is judged by a "
    "network that saw it. Leave it out"
}

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Option:
    """How one option is described, spelled and checked.

    Parameters
    ----------
    help : str
        One or two sentences, for the command line and for docstrings.
    kind : str
        What values are, in the manner of numpydoc; by default the choices.
    choices : tuple of str
        Values that are allowed; empty if any are.
    check : callable, optional
        Called with the name and the value; raises `ArgumentError`.
    metavar : str
        What stands for the value in help texts.
    flag : str
        Name on the command line, if it is not the name of the option.
    short : str
        Short flag, such as "-t".
    python_help : str
        What a docstring says in addition.
    opposite : str
        Flag for False, of an option that is true, false or None.
    """

    help: str
    kind: str = ""
    choices: tuple[str, ...] = ()
    check: Callable[[str, Any], None] | None = None
    metavar: str = "NAME"
    flag: str = ""
    short: str = ""
    python_help: str = ""
    opposite: str = ""

    def described(self) -> str:
        """Return what values are, for a docstring."""
        if self.kind:
            return self.kind
        words = [f'"{choice}"' for choice in self.choices]
        return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else "str"


def _option(default: Any, help: str, **settings: Any) -> Any:
    return field(default=default, metadata={"option": Option(help, **settings)})


def _check_switch(name: str, value: Any) -> None:
    if value is not None and not isinstance(value, bool):
        raise ArgumentError(f"{name}={value!r} is unknown; expected True, False or None.")


def _check_learner(name: str, value: Any) -> None:
    if isinstance(value, str):
        check_choice(name, value, LEARNERS)
    elif isinstance(value, type) or not (hasattr(value, "fit") or hasattr(value, "cross_fit")):
        # Values of plain types are shown; others by their class, as they may be long.
        plain = value is None or isinstance(value, bool | int | float | bytes)
        shown = repr(value) if plain else f"{type(value).__name__}(...)"
        wrong, made = f"{name}={shown} has no method fit", ""
        if isinstance(value, type):
            wrong = f"{name}={value.__name__} is a class"
            made = f"; make one first: {value.__name__}()"
        raise ArgumentError(
            f"{wrong}, so it cannot be trained; expected 'auto', 'linear', 'boosting', "
            f"conjoin.Boosting(...) or a scikit-learn estimator with fit and predict{made}."
        )


def _check_sample(name: str, value: Any) -> None:
    if value is None:
        return
    if not isinstance(value, Integral):
        raise ArgumentError(
            f"{name}={value!r} is no whole number; expected one >= {FEWEST_SAMPLED:,}."
        )
    check_count(name, int(value), least=FEWEST_SAMPLED)


def _check_folds(name: str, value: Any) -> None:
    if not isinstance(value, Integral):
        raise ArgumentError(f"{name}={value!r} is no whole number; expected one >= 2.")
    check_count(name, int(value), least=2)


@dataclass(frozen=True, kw_only=True)
class Question:
    """What `partition` and `compare` both ask: the columns, the family, the level, the seed."""

    target: str = field(
        metadata={"option": Option("Column to predict.", kind="str", metavar="COLUMN", short="-t")}
    )
    features: Any = _option(
        None,
        "Columns to use; by default all others.",
        kind="list of str, optional",
        metavar="A,B,...",
        python_help="All others are those that are not the target, the names or the weights.",
    )
    weights: str | None = _option(
        None,
        "Column of row weights.",
        kind="str, optional",
        metavar="COLUMN",
        python_help="A weight of 2 means that the row is twice as precise (half the noise "
        "variance), not that it occurs twice.",
    )
    family: str = _option(
        "auto",
        "What the target is.",
        choices=FAMILIES,
        metavar="KIND",
        python_help='"gaussian" is a number (least squares), "logistic" a class, "poisson" a '
        'count. "auto" takes text and true/false for classes and numbers for numbers.',
    )
    missing: str = _option(
        "indicator",
        "What is done about missing values.",
        choices=MISSING,
        metavar="WAY",
        python_help='"indicator" fills in the median and adds a column that says so, "median" only '
        'fills in, "drop" leaves the row out, "raise" is an error.',
    )
    columns: str | None = _option(
        None,
        "Columns that some datasets lack.",
        kind='"intersect" or "impute", optional',
        choices=COLUMNS,
        metavar="WAY",
        python_help='"intersect" leaves them out, "impute" treats them as missing. By default they '
        "are an error.",
    )
    category: Any = _option(
        None,
        "Number columns that are categories (codes).",
        kind="list of str, optional",
        metavar="A,B,...",
        python_help="Each frequent value gets a 0/1 feature, as for text.",
    )
    ignore: Any = _option(
        None,
        "Columns to leave out, such as identifiers.",
        kind="list of str, optional",
        metavar="A,B,...",
    )
    drop_outliers: bool | None = _option(
        None,
        "Leave rows with gross errors out, or keep them.",
        kind="bool, optional",
        check=_check_switch,
        opposite="--keep-outliers",
        python_help="A gross error is a value far beyond the tail of its column, such as 99999999. "
        "By default conjoin works with and without these rows. If the answers differ, it returns "
        "the one without them. True leaves them out, False keeps them.",
    )
    robust: bool = _option(
        False,
        "Huber weights on rows; numbers only.",
        kind="bool",
        python_help="Rows far from their model count less. Weights are found from robust fits of "
        "each dataset. Rows with gross errors are left out, unless drop_outliers is False.",
    )
    intercept: bool = _option(True, "Whether models have an intercept.", kind="bool")
    delta: float = _option(
        0.1,
        "Level of verdicts and intervals.",
        kind="float",
        check=check_level,
        metavar="NUMBER",
        python_help="A verdict is wrong with at most this probability.",
    )
    verdict: str = _option(
        "robust",
        "What verdicts assume about the noise.",
        choices=VERDICTS,
        metavar="KIND",
        python_help='"robust" allows noise that depends on the columns, and lines that do not fit. '
        '"gaussian" assumes normal noise that is equal inside a dataset: its level is exact then, '
        "and it decides a little more often. For classes and counts it changes nothing.",
    )
    random_state: int = _option(
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
        for name, option in described(type(self)).items():
            value = getattr(self, name)
            if option.choices and not (value is None and _default(type(self), name) is None):
                if isinstance(value, str) or name != "method":
                    check_choice(name, value, option.choices)
            if option.check is not None:
                option.check(name, value)

    def to_plain(self) -> dict[str, Any]:
        """Return the options as plain values, without the roles of columns.

        What no file can hold, such as a ready criterion, stands by its name.
        """
        found = {name: getattr(self, name) for name in described(type(self)) if name not in ROLES}
        found["method"] = self.method_name
        found["learner"] = self.learner_name
        found["random_state"] = int(self.random_state)
        if found.get("query"):  # settings are written to model files and pages
            found["query"] = without_secrets(found["query"])
        plain = {name: value for name, value in self.options.items() if _is_plain(value)}
        return {**found, **plain}

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

    by: Any = _option(
        None,
        "Column that names a row's dataset; repeatable.",
        kind="str or list of str, optional",
        metavar="COLUMN",
        short="-b",
        python_help="Several columns name it together. Without it each file or table is a dataset.",
    )
    method: Any = _option(
        "auto",
        "What finds the clusters.",
        kind='str or criterion, default "auto"',
        choices=(*PARTITION_METHODS, *PAPER_METHODS),
        short="-m",
        python_help='"auto" takes partitions proposed by their evidence and chooses by the error '
        'on held-out rows. "risk" agglomerates by the unbiased risk. The other names are for '
        'comparison: "evidence", "validated", "chow", "bic", "kmeans", and the paper\'s "tuned", '
        '"bound" and "direct".',
    )
    learner: Any = _option(
        "auto",
        "What is trained on rows: auto, linear, boosting.",
        kind='"auto", "linear", "boosting", Boosting or scikit-learn estimator',
        check=_check_learner,
        python_help='"linear" are straight lines. "boosting" are boosted trees (LightGBM) beside '
        'them. "auto" takes both, weighted by their error on held-out rows. A regressor, '
        "classifier or pipeline of scikit-learn takes the place of the trees.",
    )
    strategy: str = _option(
        "auto",
        "Which models the datasets get.",
        choices=("auto", "best", *STRATEGIES, *LEARNER_STRATEGIES),
        short="-s",
        python_help='"auto" is an average of strategies, weighted by their error on held-out rows. '
        '"best" is the strategy with the lowest error. Clusters and their models are in the result '
        "whatever is chosen.",
    )
    grouping: str | None = _option(
        None,
        "How pairs become clusters.",
        kind='"agglomerative" or "greedy", optional',
        choices=("agglomerative", "greedy"),
        metavar="WAY",
        python_help='"greedy" is Algorithm 3 of the paper and needs a criterion. By default the '
        "way that suits the method.",
    )
    weigh_by: str = _option(
        "datasets",
        "What counts the same in errors.",
        choices=("datasets", "rows"),
        metavar="WHAT",
    )
    folds: int = _option(
        10,
        "Folds of cross-validation.",
        kind="int",
        check=_check_folds,
        metavar="NUMBER",
        python_help="Classes and counts of more than 300 datasets use half as many, at least 5.",
    )
    sample_rows: int | None = _option(
        None,
        "Rows that teach the learner if the table stays in files.",
        kind="int, optional",
        check=_check_sample,
        metavar="NUMBER",
        python_help="For files, databases and lazy tables with more rows. Errors and lines are of "
        "all rows. By default all rows if they fit into memory, else as many as fit, at most "
        "500,000.",
    )
    query: str | None = _option(
        None,
        "SELECT over the files, as table 'data'.",
        kind="str, optional",
        metavar="SQL",
        python_help="It can read the given data and nothing else.",
    )
    unsafe_query: bool = _option(
        False,
        "Let the query read other files, and write.",
        kind="bool",
        python_help="Only for queries that you wrote yourself.",
    )
    representation: Any = _option(
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


@dataclass(frozen=True, kw_only=True)
class PairRequest(Question):
    """What `compare` is asked for."""

    learner: Any = _option(
        "linear",
        "What is trained on rows: auto, linear, boosting.",
        kind='"auto", "linear", "boosting", Boosting or scikit-learn estimator',
        check=_check_learner,
        python_help='"linear" are straight lines, with a verdict from theory. The verdict on any '
        'other learner is from cross-validation. "boosting" are boosted trees (LightGBM). "auto" '
        "is the one of the two with the lower error on held-out rows.",
    )
    method: Any = _option(
        "risk",
        "What makes the point decision.",
        kind='str or criterion, default "risk"',
        choices=(*PAIR_METHODS, *PAPER_METHODS),
        short="-m",
        python_help='"risk" is the unbiased estimate of the error on new rows. The other names are '
        'for comparison: "gcv", "validated", and the paper\'s "tuned", "bound" and "direct".',
    )


@dataclass(frozen=True, kw_only=True)
class PredictionOptions:
    """How rows are predicted."""

    on_unseen: str = _option(
        "pooled",
        "Model of a dataset not there at fitting.",
        choices=ON_UNSEEN,
        metavar="WAY",
        python_help='"pooled" is one model for all, "nearest" that of the most similar cluster, '
        '"raise" an error.',
    )
    limit: bool = _option(
        True,
        "Whether features stay near the training range.",
        kind="bool",
        python_help="A value is kept within the training range, widened by its own width on either "
        "side. False allows extrapolation beyond that.",
    )

    def __post_init__(self) -> None:
        check_choice("on_unseen", self.on_unseen, ON_UNSEEN)


def described(request: type) -> dict[str, Option]:
    """Return the options of a request by name, in the order of its class."""
    return {one.name: one.metadata["option"] for one in fields(request) if "option" in one.metadata}


def _default(request: type, name: str) -> Any:
    return getattr(request, name, None)


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


def documented(*requests: type, leave_out: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Put the descriptions of options in place of `{options}` in a docstring."""

    def decorate(function: Function) -> Function:
        text = function.__doc__ or ""
        indent = next(
            line[: len(line) - len(line.lstrip())]
            for line in text.splitlines()
            if line.strip() == "{options}"
        )
        lines = []
        for request in requests:
            for name, option in described(request).items():
                if name not in leave_out:
                    lines += _entry(name, option, request, indent)
        function.__doc__ = text.replace(f"{indent}{{options}}", "\n".join(lines))
        return function

    return decorate


def _entry(name: str, option: Option, request: type, indent: str) -> list[str]:
    """Return the lines of one parameter in a docstring."""
    kind, default = option.described(), _default(request, name)
    if default is not None and "default" not in kind:
        kind += (
            f", default {default!r}" if not isinstance(default, str) else f' (default "{default}")'
        )
    words = f"{option.help} {option.python_help}".strip()
    lines, line = [f"{indent}{name} : {kind}"], ""
    for word in words.split():
        if line and len(indent) + 4 + len(line) + 1 + len(word) > 100:
            lines.append(f"{indent}    {line}")
            line = word
        else:
            line = f"{line} {word}".strip()
    return [*lines, f"{indent}    {line}"]
