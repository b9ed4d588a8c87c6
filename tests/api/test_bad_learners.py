"""Learners that cannot be used get one clear sentence, whichever way they are passed.

Each is tried in `partition`, `compare`, and `JoinRegressor` or `JoinClassifier`.
"""

import os
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.errors import ArgumentError, ConjoinError, ConjoinWarning, DataError
from conjoin.families import Response
from conjoin.learners.boosting import Boosting
from conjoin.learners.foreign import Foreign
from conjoin.learners.rows import UNKNOWN, LearnerRows


def table(kind="number", n=30):
    """Return two stores whose target bends."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2 * n, 2))
    y = 2 * np.abs(X[:, 0]) + rng.normal(0, 0.3, 2 * n)
    target = np.where(y > 1.4, "yes", "no") if kind == "class" else y
    names = np.repeat(["north", "south"], n)
    return pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "y": target, "store": names})


def by_partition(frame, learner, **options):
    return conjoin.partition(frame, target="y", by="store", learner=learner, **options)


def by_compare(frame, learner, **options):
    one, two = (part.drop(columns="store") for _, part in frame.groupby("store"))
    return conjoin.compare(one, two, target="y", learner=learner, **options)


def by_estimator(frame, learner, **options):
    classes = frame["y"].dtype == object or isinstance(frame["y"].iloc[0], str)
    make = conjoin.JoinClassifier if classes else conjoin.JoinRegressor
    model = make(by="store", learner=learner, **options)
    return model.fit(frame.drop(columns="y"), frame["y"])


WAYS = {"partition": by_partition, "compare": by_compare, "estimator": by_estimator}


class Odd(BaseEstimator):
    """An estimator that does one thing wrong."""

    def __init__(self, wrong="fit"):
        self.wrong = wrong

    def fit(self, X, y):
        if self.wrong == "fit":
            raise RuntimeError("the matrix\nis singular")
        if self.wrong == "changes":
            X[:], y[:] = 0.0, 0.0
        if self.wrong == "prints":
            print("training")
            warnings.warn("odd rows", UserWarning, stacklevel=2)
        self.seen_ = len(y)
        return self

    def predict(self, X):
        if self.wrong == "predict":
            raise RuntimeError("out of luck")
        if self.wrong == "changes":
            X[:] = 0.0
        if self.wrong == "words":
            return ["much"] * len(X)
        shape = {"wide": (len(X), 2), "short": (len(X) - 1,)}.get(self.wrong, (len(X),))
        return np.full(shape, np.nan if self.wrong == "nan" else 1.0)


class OddRegressor(RegressorMixin, Odd):
    """A regressor that does one thing wrong."""


class OddClassifier(ClassifierMixin, Odd):
    """A classifier that does one thing wrong."""

    def fit(self, X, y):
        super().fit(X, y)
        if self.wrong != "classes":
            self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), 5 if self.wrong == "wide" else 2), 0.2)


class Hidden(OddRegressor):
    """An estimator that does not store its argument."""

    def __init__(self, wrong="fit"):
        self.wrong = wrong.upper()


class Untrainable:
    """Something without fit."""

    def predict(self, X):
        return X[:, 0]


class Speechless(BaseEstimator):
    """Something without predict."""

    def fit(self, X, y):
        return self


REFUSED = {
    "no fit": (Untrainable(), "number", r"learner=Untrainable\(\.\.\.\) has no method fit, so it"),
    "no predict": (Speechless(), "number", "learner=Speechless has no method predict; expected"),
    "a class": (LinearRegression, "number", r"is a class, .* make one first: LinearRegression\(\)"),
    "a number": (3, "number", "learner=3 has no method fit, so it cannot be trained; expected"),
    "a name": ("trees", "number", "learner='trees' is unknown; expected one of"),
    "no clone": (Hidden(), "number", "learner=Hidden cannot be cloned .* must only store its"),
    "classifier for numbers": (LogisticRegression(), "number", "is for classes, but the target"),
    "regressor for classes": (LinearRegression(), "class", "has no predict_proba, but the target"),
    "predict fails": (OddRegressor("predict"), "number", "failed to predict .*: out of luck"),
    "nan": (OddRegressor("nan"), "number", "predicts values that are not finite"),
    "two columns": (OddRegressor("wide"), "number", r"predicts an array of shape \(\d+, 2\) for"),
    "too short": (OddRegressor("short"), "number", r"of shape \(\d+,\) .* one number for each row"),
    "words": (OddRegressor("words"), "number", "failed to predict .* could not convert string"),
    "five classes": (OddClassifier("wide"), "class", "expected a probability of each of 2 classes"),
    "no classes": (OddClassifier("classes"), "class", "has no attribute 'classes_'"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", REFUSED)
def test_one_clear_sentence(case, way):
    learner, kind, words = REFUSED[case]
    with pytest.raises(ConjoinError, match=words) as caught:
        WAYS[way](table(kind), learner)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
    assert isinstance(caught.value, ArgumentError | DataError)


@pytest.mark.parametrize(
    ("way", "where"),
    [
        ("partition", r"48 rows of 2 datasets \('north', 'south'\)"),
        ("compare", "24 rows of dataset 'a'"),
        ("estimator", r"48 rows of 2 datasets \('north', 'south'\)"),
    ],
)
def test_an_error_is_quoted_and_the_datasets_named(way, where):
    words = f"OddRegressor failed to train on {where} .*: RuntimeError: the matrix is singular"
    with pytest.raises(DataError, match=words):
        WAYS[way](table(), OddRegressor("fit"))


@pytest.mark.parametrize("way", ["partition", "compare"])
def test_what_works(way, capsys):
    """A learner that changes its input, and one that prints and warns."""
    frame = table()
    before = frame.copy()
    assert WAYS[way](frame, OddRegressor("changes"))
    pd.testing.assert_frame_equal(frame, before)
    with pytest.warns(UserWarning, match="odd rows"):
        assert WAYS[way](frame, OddRegressor("prints"))
    assert "training" in capsys.readouterr().out


@pytest.mark.parametrize("way", ["partition", "compare"])
def test_missing_values_and_categories_work(way):
    """Neither reaches an estimator that cannot take it."""
    frame = table()
    frame.loc[::7, "u"] = np.nan
    frame["colour"] = np.where(np.arange(60) % 3, "red", "blue")
    assert WAYS[way](frame, DecisionTreeRegressor(max_depth=3))


@pytest.mark.parametrize("way", ["compare", "estimator"])
def test_weights_that_an_estimator_does_not_take(way):
    frame = table().assign(k=np.linspace(0.5, 2, 60))
    words = "learner=KNeighborsRegressor takes no sample_weight, so the row weights count in its"
    weights = frame["k"].to_numpy() if way == "estimator" else "k"
    with pytest.warns(ConjoinWarning, match=words):
        if way == "estimator":
            model = conjoin.JoinRegressor(by="store", learner=KNeighborsRegressor())
            model.fit(frame.drop(columns=["y", "k"]), frame["y"], sample_weight=weights)
        else:
            WAYS[way](frame, KNeighborsRegressor(), weights=weights)


@pytest.mark.parametrize("command", ["partition", "compare"])
def test_the_command_line_says_it_in_a_sentence(command, tmp_path):
    table().to_csv(tmp_path / "both.csv", index=False)
    paths = {"partition": ["both.csv"], "compare": ["both.csv", "both.csv"]}[command]
    by = ["--by", "store"] if command == "partition" else []
    files = [str(tmp_path / path) for path in paths]
    done = CliRunner().invoke(app, [command, *files, "-t", "y", *by, "--learner", "forest"])
    assert done.exit_code == 2 and "Traceback" not in done.output
    assert "--learner 'forest' is unknown; expected one of auto, linear, boosting." in " ".join(
        done.output.split()
    )


def test_an_unseen_name_gets_a_model_without_names(learned):
    rows = pd.DataFrame({"a": [0.1, 0.5], "b": [0.2, -1.0], "c": [0.0, 1.0]})
    with pytest.warns(ConjoinWarning, match="elsewhere"):
        found = learned.predict(rows, "elsewhere")
    named = learned.using("learner named")
    with pytest.warns(ConjoinWarning, match="elsewhere"):
        np.testing.assert_allclose(named.predict(rows, "elsewhere"), found)
    with pytest.raises(DataError, match="'elsewhere'"):
        learned.predict(rows, "elsewhere", on_unseen="raise")


@pytest.mark.parametrize(
    "learner",
    [
        Boosting(rounds=5, leaves=4),
        Foreign.of(HistGradientBoostingRegressor(max_iter=5), 0),
        Foreign.of(LinearRegression(), 0),
    ],
)
def test_ten_thousand_names_work(learner):
    rng = np.random.default_rng(0)
    dataset = np.repeat(np.arange(10_000), 2)
    X = rng.standard_normal((20_000, 1))
    y = X[:, 0] + rng.standard_normal(10_000)[dataset]
    rows = LearnerRows(X, y, np.ones(20_000), dataset, 10_000, ("u",), (), Response())
    model = learner.fit(rows, learner.given_settings())
    found = model.predict(X[:5], np.array([0, 9_999, 5_000, UNKNOWN, UNKNOWN]))
    assert found.shape == (5, 1) and np.isfinite(found).all()


SLOW = """
import time
import numpy as np
import conjoin
from sklearn.base import BaseEstimator, RegressorMixin

class Slow(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        print("training", flush=True)
        time.sleep(600)
        return self
    def predict(self, X):
        return np.zeros(len(X))

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2))
columns = {"u": X[:, 0], "y": X[:, 1], "by": np.repeat(["a", "b"], 30)}
conjoin.partition(columns, target="y", by="by", learner=Slow())
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_ctrl_c_stops_a_slow_learner():
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "training\n"
    begun = time.monotonic()
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in told
    assert time.monotonic() - begun < 30  # a busy machine; alone it takes less than a second
