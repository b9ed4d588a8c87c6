"""`compare` with any learner: verdicts, models, sentences, and what cannot be asked."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.errors import ArgumentError, ConjoinWarning, DataError
from conjoin.learners.boosting import Boosting
from conjoin.report.facts import comparison_facts

QUICK = Boosting(rounds=30, leaves=6)


def bent(n, seed, sign=1.0, kind="number"):
    """Return a table whose target bends; a sign of -1 turns it around."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    mean = sign * (2 * np.abs(X[:, 0]) + X[:, 1]) - sign
    y = mean + rng.standard_normal(n)
    if kind == "class":
        y = np.where(y > 0, "yes", "no")
    if kind == "count":
        y = rng.poisson(np.exp(np.clip(mean, -2, 2)))
    return pd.DataFrame(X, columns=["u", "v", "w"]).assign(y=y)


FAMILY = {"number": "gaussian", "class": "logistic", "count": "poisson"}


@pytest.mark.parametrize("kind", FAMILY)
def test_boosting_joins_what_is_alike_and_keeps_apart_what_is_not(kind):
    asked = {"target": "y", "learner": QUICK, "family": FAMILY[kind]}
    near = conjoin.compare(bent(250, 0, kind=kind), bent(250, 1, kind=kind), **asked)
    far = conjoin.compare(bent(250, 0, kind=kind), bent(250, 1, -1.0, kind), **asked)
    assert near.verdict != "apart" and near.join and near.gain > 0
    assert far.verdict == "apart" and not far.join and far.interval[1] < 0
    for found in (near, far):
        assert found.gain == pytest.approx(found.error_separate - found.error_joined)
        assert found.interval[0] < found.gain < found.interval[1]
        assert (found.learner, found.asked, found.folds, found.repeats) == (
            "boosting", "boosting", 5, 3,
        )  # fmt: skip
        assert found.fit_joined.rows == 500
        assert found.fit_joined.predict(bent(4, 2)).shape == (4,)


def test_the_order_of_datasets_and_rows_changes_nothing():
    a, b = bent(60, 0), bent(80, 1, 0.5)
    found = conjoin.compare(a, b, target="y", learner=QUICK)
    turned = conjoin.compare(b, a, target="y", learner=QUICK)
    mixed = conjoin.compare(a.sample(frac=1.0, random_state=1), b, target="y", learner=QUICK)
    for other in (turned, mixed):
        assert other.gain == pytest.approx(found.gain, rel=1e-12)
        assert other.interval == pytest.approx(found.interval, rel=1e-12)
    np.testing.assert_array_equal(turned.fit_b.predict(a), found.fit_a.predict(a))
    again = conjoin.compare(a, b, target="y", learner=QUICK)
    assert again.gain == found.gain


def test_rounds_are_chosen_and_told():
    learner = Boosting(leaves=4, rate=0.3)
    found = conjoin.compare(bent(80, 0), bent(80, 1), target="y", learner=learner)
    assert found.repeats == 2
    facts = comparison_facts(found)
    assert facts["models"]["joined"]["settings"]["leaves"] == 4
    assert facts["models"]["joined"]["settings"]["rounds"] >= 1
    assert "coef" not in facts["models"]["joined"]
    json.dumps(facts)


def test_the_sentence_names_the_learner_and_what_it_is_about():
    learner = make_pipeline(StandardScaler(), KNeighborsRegressor(5))
    found = conjoin.compare(bent(100, 0), bent(100, 1, -1.0), target="y", learner=learner)
    words = comparison_facts(found, "A", "B")["sentence"]
    assert words.startswith("Keep A and B apart with KNeighborsRegressor: joining raises")
    assert "5-fold cross-validation, repeated 3 times: models trained on 80 % of the rows" in words


def test_weights_count_in_training_and_in_errors():
    a, b = bent(80, 0), bent(80, 1)
    plain = conjoin.compare(a, b, target="y", learner=QUICK)
    same = conjoin.compare(a.assign(k=2.0), b.assign(k=2.0), target="y", learner=QUICK, weights="k")
    assert same.gain == pytest.approx(plain.gain)
    w = np.linspace(0.1, 2, 80)
    other = conjoin.compare(a.assign(k=w), b.assign(k=w), target="y", learner=QUICK, weights="k")
    assert other.gain != pytest.approx(plain.gain)


def test_a_target_of_0_and_1_may_be_meant_as_a_class():
    a, b = (bent(40, k).assign(y=lambda frame: (frame["y"] > 0).astype(int)) for k in (0, 1))
    with pytest.warns(ConjoinWarning, match="only the values 0 and 1, and is treated as a number"):
        conjoin.compare(a, b, target="y", learner=KNeighborsRegressor())


# --- no verdict ----------------------------------------------------------------------------------


def test_too_few_rows_leave_it_undecided_and_say_so():
    found = conjoin.compare(bent(25, 0), bent(200, 1, -1.0), target="y", learner=QUICK)
    assert found.verdict == "undecided" and found.interval == (-np.inf, np.inf)
    words = comparison_facts(found)["sentence"]
    assert "Dataset a has 25 rows; a verdict on boosting needs at least 30 in each." in words
    assert "The better guess is to" in words


def test_few_rows_of_a_class_leave_it_undecided():
    a, b = bent(60, 0, kind="class"), bent(60, 1, kind="class")
    a["y"] = np.where(np.arange(60) < 4, "yes", "no")
    found = conjoin.compare(a, b, target="y", learner=LogisticRegression())
    assert found.verdict == "undecided"
    assert "4 rows outside its largest class" in found.reason


def test_a_few_rows_that_carry_the_difference_are_told():
    a, b = bent(80, 0), bent(80, 1)
    a.loc[0, "y"] = 300.0
    nearest = KNeighborsRegressor(1)
    found = conjoin.compare(a, b, target="y", learner=nearest, drop_outliers=False)
    assert found.few_rows_decide and found.verdict == "undecided"
    assert "A few rows carry most of the difference" in comparison_facts(found)["sentence"]


def test_gross_errors_are_found_first():
    a, b = bent(80, 0), bent(80, 1)
    a.loc[3, "y"] = 99999999.0
    with pytest.warns(ConjoinWarning, match="Without row 4"):
        found = conjoin.compare(a, b, target="y", learner=QUICK)
    assert found.findings.left_out and found.fit_a.rows == 79
    kept = conjoin.compare(a, b, target="y", learner=QUICK, drop_outliers=True)
    assert kept.gain == pytest.approx(found.gain)


# --- auto ----------------------------------------------------------------------------------------


@pytest.mark.learner
def test_auto_takes_the_learner_with_the_lower_error():
    found = conjoin.compare(bent(150, 0), bent(150, 1), target="y", learner="auto")
    assert (found.learner, found.asked) == ("boosting", "auto")
    assert found.learner_errors["boosting"] < found.learner_errors["linear"]
    words = comparison_facts(found)["sentence"]
    assert "The learner is boosting because its cross-validated RMSE is lower" in words


@pytest.mark.learner
@pytest.mark.parametrize("kind", ["number", "class"])
def test_auto_keeps_the_exact_verdict_where_lines_are_better(kind):
    rng, tables = np.random.default_rng(0), []
    for _ in range(2):
        X = rng.standard_normal((60, 3))
        y = X.sum(axis=1) + rng.standard_normal(60)
        frame = pd.DataFrame(X, columns=["u", "v", "w"])
        tables.append(frame.assign(y=np.where(y > 0, "yes", "no") if kind == "class" else y))
    found = conjoin.compare(*tables, target="y", learner="auto")
    plain = conjoin.compare(*tables, target="y")
    assert found.learner == "linear" and found.asked == "auto"
    assert (found.verdict, found.gain, found.interval) == (
        plain.verdict, plain.gain, plain.interval,
    )  # fmt: skip
    words = comparison_facts(found)["sentence"]
    assert "The learner is linear because its cross-validated" in words
    best = min(plain.error_joined, plain.error_separate)
    assert found.learner_errors["linear"] == pytest.approx(best, rel=0.15)


@pytest.mark.learner
def test_auto_with_few_rows_or_a_criterion_is_linear():
    a, b = bent(20, 0), bent(20, 1)
    found = conjoin.compare(a, b, target="y", learner="auto")
    assert found.learner == "linear" and not found.learner_errors
    assert conjoin.compare(a, b, target="y", learner="auto", method="gcv").method == "gcv"


# --- what cannot be asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"learner": "magic"}, "learner='magic' is unknown"),
        ({"learner": StandardScaler()}, "learner=StandardScaler has no method predict"),
        ({"learner": LogisticRegression()}, "is for classes, but the target is a number"),
        ({"learner": QUICK, "method": "gcv"}, "'boosting' does not go with method='gcv'"),
        ({"learner": QUICK, "intercept": False}, "does not go with intercept=False"),
    ],
)
def test_arguments_that_do_not_go_together(options, words):
    with pytest.raises(ArgumentError, match=words):
        conjoin.compare(bent(40, 0), bent(40, 1), target="y", **options)


def test_a_regressor_for_classes_is_refused():
    a, b = bent(40, 0, kind="class"), bent(40, 1, kind="class")
    with pytest.raises(ArgumentError, match="no predict_proba, but the target has classes"):
        conjoin.compare(a, b, target="y", learner=LinearRegression())


def test_datasets_that_no_model_can_be_trained_on():
    a, b = bent(40, 0, kind="class"), bent(40, 1, kind="class")
    a["y"] = "no"
    with pytest.raises(DataError, match=r"Dataset 'a' has 0 rows outside its largest class"):
        conjoin.compare(a, b, target="y", learner=LogisticRegression())
    with pytest.raises(DataError, match="Dataset 'b' has 8 rows, but cross-validation of"):
        conjoin.compare(bent(40, 0), bent(8, 1), target="y", learner=QUICK)
    zeros = bent(40, 1, kind="count").assign(y=0)
    with pytest.raises(DataError, match="Dataset 'b' has 0 rows above zero"):
        conjoin.compare(
            bent(40, 0, kind="count"), zeros, target="y", learner=QUICK, family="poisson"
        )


def test_a_learner_that_fails_is_quoted():
    class Broken(LinearRegression):
        def fit(self, X, y):
            raise ValueError("no luck today")

    with pytest.raises(
        DataError, match="Learner Broken failed to train on 32 rows of dataset .a.*no luck today"
    ):
        conjoin.compare(bent(40, 0), bent(40, 1), target="y", learner=Broken())


def test_the_command_line_takes_a_learner(tmp_path):
    for name, sign in (("a", 1.0), ("b", -1.0)):
        bent(60, 0, sign).to_csv(tmp_path / f"{name}.csv", index=False)
    files = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    asked = ["compare", *files, "-t", "y", "--learner", "boosting", "--json"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["learner"] == "boosting" and found["verdict"] == "apart"
    assert found["models"]["a"]["learner"] == "boosting"
