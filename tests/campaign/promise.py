"""The promise, checked for a case: a result whose numbers hold, or one clear sentence.

A `Case` enters; an `Outcome` leaves. "result" and "refused" keep the promise. Everything else
breaks it: another exception, a warning of numpy, a hang, a number that is not finite, an interval
that does not hold its estimate, a file that reads back differently.
"""

import math
import pickle
import signal
import tempfile
import threading
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import LinAlgWarning
from sklearn.exceptions import ConvergenceWarning

import conjoin
from conjoin.errors import ConjoinError, ConjoinWarning, ReadError
from tests.campaign.cases import Case
from tests.campaign.data import contain, joined, rows_to_predict, tables_of

KEPT = ("result", "refused")
LONGEST = 700  # characters of a message: one or two sentences with a list of names
PARTS = ("clusters", "datasets", "strategies", "coefficients")
# Types in files of learners of scikit-learn: trees, neighbours, and how datasets are encoded.
TRUSTED = [
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.tree._tree.Tree",
]
OF_LEARNERS = (LinAlgWarning, ConvergenceWarning)
SECONDS = 60.0  # a case that takes longer hangs


class BrokenError(AssertionError):
    """A number of a result breaks the promise."""


class Hang(BaseException):
    """A case takes too long; no `except Exception` may swallow it."""


class ContainerError(Exception):
    """The container cannot hold the data; conjoin was not called."""


@dataclass(frozen=True)
class Outcome:
    """What happened: "result", "refused", or a fault with where it was and what it said."""

    kind: str
    where: str = ""
    message: str = ""

    @property
    def kept(self) -> bool:
        """Whether the promise was kept."""
        return self.kind in KEPT

    @property
    def signature(self) -> tuple[str, str]:
        """What faults with one cause share."""
        return self.kind, self.where


def try_case(case: Case, seconds: float = SECONDS) -> Outcome:
    """Run a case through the public interface."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with np.errstate(all="warn", under="ignore"), at_most(seconds):
                found = _call(case, Path(name))
        except ContainerError as error:
            return Outcome("refused", "container", str(error))
        except ReadError as error:
            if _line(error).startswith("sources/"):  # a table of the case cannot be read
                return _judge_message(error)
            return Outcome("ReadError", _line(error), str(error))  # conjoin wrote the file
        except ConjoinError as error:
            found = _judge_message(error)
        except BrokenError as error:
            return Outcome("broken", _line(error), str(error))
        except Hang:
            return Outcome("hang", "", f"over {seconds:.0f} s")
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # a panic of Polars is no Exception
            return Outcome(type(error).__name__, _line(error), str(error)[:LONGEST])
    return _judge_warnings(found, [one for one in caught if not _is_of_learner(case, one)])


def _is_of_learner(case: Case, one: warnings.WarningMessage) -> bool:
    """Say whether the estimator that a user passed warns of its own fit."""
    return case.learner == "ridge" and issubclass(one.category, OF_LEARNERS)


def _judge_message(error: ConjoinError) -> Outcome:
    text = str(error)
    if len(text) > LONGEST or not text.strip():
        return Outcome("message", _line(error), f"{len(text)} characters: {text[:200]}")
    return Outcome("refused", _line(error), text)


def _judge_warnings(found: Outcome, caught: list) -> Outcome:
    for one in caught:
        # Python hides the last three from users: they are for whoever calls a library.
        kept = (ConjoinWarning, ResourceWarning, DeprecationWarning, PendingDeprecationWarning)
        if not issubclass(one.category, kept):
            where = f"{Path(one.filename).name}:{one.lineno}"
            return Outcome(one.category.__name__, where, str(one.message))
    return found


def _line(error: BaseException) -> str:
    """Return the last line of this library in a trace, as file:line."""
    lines = traceback.extract_tb(error.__traceback__)
    own = [one for one in lines if "/conjoin/" in one.filename or "/campaign/" in one.filename]
    one = (own or lines)[-1]
    return f"{Path(one.filename).parent.name}/{Path(one.filename).name}:{one.lineno}"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `Hang` after so many seconds of computing; a no-op outside of the main thread.

    Seconds of the processor are counted, so that a busy machine is no hang.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_):
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# --- the faces ------------------------------------------------------------------------------------


def _call(case: Case, folder: Path) -> Outcome:
    tables = tables_of(case)
    face = {"compare": _compare, "partition": _partition}.get(case.face, _estimate)
    face(case, tables, folder)
    return Outcome("result")


def _contained(case: Case, table: dict, folder: Path, make=rows_to_predict):
    try:
        return make(case, table, folder)
    except BaseException as error:  # Polars panics with an exception of its own
        raise ContainerError(f"{type(error).__name__}: {error}") from None


def _options(case: Case) -> dict:
    family = {"count": "poisson", "number": "auto"}.get(case.target, "auto")
    given = {
        "target": "y",
        "learner": _learner(case),
        "method": case.method,
        "verdict": case.verdict,
        "missing": case.missing,
        "intercept": case.intercept,
        "robust": case.robust,
        "family": family,
        "weights": "w" if case.weights else None,
        "time": "t" if case.time else None,
        "repeat": "who" if case.repeat else None,
    }
    if case.face != "compare":
        given |= {"strategy": case.strategy, "weigh_by": case.weigh_by, "folds": case.folds}
    return given


def _learner(case: Case):
    classes = case.target in ("boolean", "classes")
    if case.learner in ("linear", "auto"):
        return case.learner
    if case.learner == "boosting":
        return conjoin.Boosting(rounds=5, leaves=4, rate=0.5, least_rows=2)
    from sklearn import ensemble, linear_model, neighbors, tree

    kinds = {
        "tree": (tree.DecisionTreeRegressor, tree.DecisionTreeClassifier),
        "forest": (ensemble.RandomForestRegressor, ensemble.RandomForestClassifier),
        "neighbours": (neighbors.KNeighborsRegressor, neighbors.KNeighborsClassifier),
        "ridge": (linear_model.Ridge, linear_model.LogisticRegression),
    }
    size: dict[str, dict] = {
        "tree": {"max_depth": 3, "random_state": 0},
        "forest": {"max_depth": 3, "n_estimators": 3, "random_state": 0},
        "neighbours": {"n_neighbors": 1},
        "ridge": {"random_state": 0},
    }
    return kinds[case.learner][classes](**size[case.learner])


def _features(case: Case):
    from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

    made = {"splines": SplineTransformer(3, degree=2), "squares": PolynomialFeatures(2)}
    return made.get(case.features, case.features)


def _partition(case: Case, tables: dict, folder: Path) -> None:
    data, by = _contained(case, tables, folder, contain)
    options = _options(case)
    if case.features:
        options["representation"] = _features(case)
    result = conjoin.partition(data, by=by, **options)
    check_partition(result, in_time=case.time)
    rows = _contained(case, joined(tables), folder)
    use_partition(case, result, rows, tables, folder)


def _compare(case: Case, tables: dict, folder: Path) -> None:
    a, b = (_contained(case, one, folder) for one in tables.values())
    found = conjoin.compare(a, b, **_options(case))
    interval("the gain", found.gain, found.interval, unknown=True)
    for name in ("error_separate", "error_joined"):
        error = getattr(found, name)
        if not (error >= 0 or math.isnan(error)):
            raise BrokenError(f"{name} is {error}")
    for one in (found.fit_a, found.fit_b, found.fit_joined):
        check_model(one)
    if found.verdict not in ("join", "apart", "undecided") or not isinstance(found.join, bool):
        raise BrokenError(f"verdict {found.verdict}, join {found.join}")
    str(found), found.notices


def _estimate(case: Case, tables: dict, folder: Path) -> None:
    one = joined(tables)
    groups, y = one.pop("g"), one.pop("y")
    weights = one.pop("w", None)
    options = _options(case)
    options["fit_intercept"] = options.pop("intercept")
    options["family"] = "poisson" if case.target == "count" else "gaussian"
    kind = conjoin.JoinRegressor if case.face == "regressor" else conjoin.JoinClassifier
    known = kind().get_params()
    join = kind(**{name: value for name, value in options.items() if name in known})
    X = _contained(case, one, folder)
    groups = groups if case.datasets > 1 else None
    join.fit(X, y, groups=groups, sample_weight=weights)
    predicted = join.predict(X, groups=groups)
    if case.face == "classifier":
        check_probabilities(join.predict_proba(X, groups=groups))
    else:
        finite("predictions", predicted)
    number = join.score(X, y, groups=groups)
    if not math.isfinite(number):
        raise BrokenError(f"score is {number}")
    join.save(folder / "join.json")
    loaded = kind.load(folder / "join.json", trusted=TRUSTED)
    again = loaded.predict(X, groups=groups)
    if not np.array_equal(again, predicted):
        raise BrokenError("predictions differ after load")


# --- what holds -----------------------------------------------------------------------------------


def finite(what: str, values) -> None:
    """Raise unless all numbers are finite."""
    array = np.asarray(values, dtype=float)
    if not np.isfinite(array).all():
        raise BrokenError(f"{what} not finite: {array[~np.isfinite(array)][:3]}")


def interval(what: str, estimate: float, ends, *, unknown: bool = False) -> None:
    """Raise unless the estimate is a number inside its interval, whose ends may be infinite."""
    low, high = ends
    if math.isnan(estimate):
        if not unknown:
            raise BrokenError(f"{what} is not a number")
        return
    if math.isinf(estimate):
        raise BrokenError(f"{what} is {estimate}")
    if math.isnan(low) and math.isnan(high):
        return
    slack = 1e-9 * max(abs(estimate), 1e-300)
    if not low - slack <= estimate <= high + slack:
        raise BrokenError(f"{what} {estimate!r} outside of ({low!r}, {high!r})")


def check_model(model, *, unknown: bool = False) -> None:
    """Raise unless coefficients are finite and the error is at least 0, or may be unknown."""
    for line in getattr(model, "lines", ()):
        finite("intercept", line.intercept)
        finite("coefficients", list(line.coef.values()))
    error = getattr(model, "error", 0.0)
    if not (error >= 0 or (unknown and math.isnan(error))):
        raise BrokenError(f"error of a model is {error}")


def check_partition(result, *, in_time: bool) -> None:
    """Raise unless the numbers of a result hold.

    Where rows are in time, a dataset that ends early has a model and no error.
    """
    if sorted(result.labels) != sorted({n for c in result.clusters for n in c}):
        raise BrokenError("labels and clusters differ")
    for name, one in result.errors.items():
        finite(f"error of {name}", [one.error, one.behind])
        if one.error < 0:
            raise BrokenError(f"error of {name} is {one.error}")
        interval(f"error of {name}", one.error, one.interval)
    if result.weights and abs(sum(result.weights.values()) - 1) > 1e-9:
        raise BrokenError(f"weights sum to {sum(result.weights.values())}")
    for model in (*result.models, result.pooled, *result.coefficients.values()):
        check_model(model, unknown=in_time)


def use_partition(case: Case, result, rows, tables: dict, folder: Path) -> None:
    """Ask for the steps of a case, one after another; raise unless all numbers hold."""
    names = [name for name, table in tables.items() for _ in table["y"]]
    predicted = result.predict(rows, names)
    if not result.classes:
        finite("predictions", predicted)
    for step in case.steps:
        if step in ("load", "pickle"):
            result = load_again(result, step, folder)
            if not np.array_equal(result.predict(rows, names), predicted):
                raise BrokenError(f"predictions differ after {step}")
        elif step == "using":
            result = result.using(case.strategy)
            predicted = result.predict(rows, names)
        elif step == "assign":
            first = next(iter(tables.values()))
            check_assignment(result, first)
        else:
            take_step(step, result, rows, names, folder)


def load_again(result, step: str, folder: Path):
    """Return the result that a file or a pickle holds."""
    if step == "pickle":
        return pickle.loads(pickle.dumps(result))
    result.save(folder / "model.json")
    return conjoin.load(folder / "model.json", trusted=TRUSTED)


def take_step(step: str, result, rows, names: list[str], folder: Path) -> None:
    """Ask one thing of a result."""
    if step == "predict":
        predicted = result.predict(rows, names)
        if result.classes:
            check_probabilities(result.predict_proba(rows, names))
        else:
            finite("predictions", predicted)
            result.predict(rows, names, limit=False)
    elif step == "intervals":
        check_intervals(result, rows, names)
    elif step == "unseen":
        with suppress(ConjoinError):  # it needs an intercept and five rows
            result.predict(rows, "a name that nobody has", on_unseen="nearest")
    elif step in ("frames", "verdicts"):
        for part in PARTS if step == "frames" else ("verdicts",):
            result.to_frame(part)
    elif step == "ledger":
        for line in result.ledger():
            interval("a gain of the ledger", line.gain, line.interval, unknown=True)
            if not (math.isnan(line.p_value) or 0 <= line.p_value <= 1):
                raise BrokenError(f"p-value {line.p_value}")
    elif step == "explain":
        for name in result.labels:
            for line in result.explain(name):
                interval("a gain of explain", line.gain, line.interval, unknown=True)
    elif step == "metrics":
        for name, value in result.metrics().items():
            finite(f"metric {name}", value)
    elif step == "text":
        str(result), str(result.summary()), result.notices, result.outliers
    elif step == "report":
        result.report(folder / "page.html")
    elif step == "stability":
        with suppress(ConjoinError):  # where it is not known
            result.stability()


def check_intervals(result, rows, names: list[str]) -> None:
    """Raise unless intervals are finite and hold their prediction."""
    if result.classes:
        result.predict(rows, names, interval=0.9)
        return
    mean, low, high = result.predict(rows, names, interval=0.9)
    finite("intervals of predictions", [low, high])
    if not ((low <= mean) & (mean <= high)).all():
        raise BrokenError("a prediction lies outside of its interval")


def check_probabilities(P) -> None:
    """Raise unless probabilities are finite and sum to one."""
    finite("probabilities", P)
    if len(P) and (np.abs(P.sum(axis=1) - 1).max() > 1e-9 or P.min() < 0):
        raise BrokenError("probabilities do not sum to one")


def check_assignment(result, table: dict) -> None:
    """Raise unless rows with known targets get a model."""
    place = result.assign(table, table["y"])
    finite("probabilities", [*place.probabilities, place.probability_new])
    if abs(sum(place.probabilities) + place.probability_new - 1) > 1e-9:
        raise BrokenError("probabilities of clusters do not sum to one")
    check_model(place.model)
