"""Classes and counts of rows that stay with an engine: the answer of rows in memory."""

import pickle
import warnings
from importlib import import_module

import dask.dataframe as dd
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.api.request import Request
from conjoin.engine import remote, remote_rows
from conjoin.engine.remote_cells import EnginePasses, PartOfProbabilities
from conjoin.engine.remote_rows import Batch, RemoteRows
from conjoin.engine.settled_rows import settle_rows
from conjoin.models.glm_families import BERNOULLI
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import FARTHEST
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import Ask, answer
from conjoin.moments import Basis
from conjoin.tables.roles import Roles

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
ROLES = Roles.of("bought", "shop", None, None)
REQUEST = Request(target="bought", by="shop")
ASKED = {"by": "shop", "learner": "linear", "folds": 5}


@pytest.fixture(scope="module")
def table():
    """Six shops in two clusters: two classes, three classes, counts, weights and a gap."""
    rng = np.random.default_rng(3)
    n, shop = 600, np.repeat(np.arange(6), 100)
    X = rng.standard_normal((n, 3))
    slope = np.where(shop < 3, 1.2, -1.2)
    eta = 0.3 + slope * X[:, 0] + 0.5 * X[:, 1]
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["kind"] = rng.choice(["u", "v"], n)
    frame["shop"] = np.char.add("shop ", shop.astype(str))
    frame["bought"] = np.where(rng.random(n) < 1 / (1 + np.exp(-eta)), "yes", "no")
    scores = np.column_stack([eta, -eta, np.zeros(n)]) + rng.gumbel(size=(n, 3))
    frame["choice"] = np.array(["low", "mid", "top"])[scores.argmax(axis=1)]
    frame["visits"] = rng.poisson(np.exp(0.5 + eta / 3))
    frame["size"] = rng.integers(1, 4, n).astype(float)
    frame.loc[::19, "c"] = np.nan
    return frame.sample(frac=1, random_state=0, ignore_index=True)


TARGETS = {
    "two classes": ("bought", {}),
    "three classes": ("choice", {}),
    "counts with weights": ("visits", {"family": "poisson", "weights": "size"}),
}


def columns(table, target, options):
    extra = [options["weights"]] if "weights" in options else []
    return table[["shop", "a", "b", "c", "kind", target, *extra]]


@pytest.fixture(scope="module")
def here(table):
    """Results of rows in memory, each computed once."""
    known = {}

    def result(case):
        if case not in known:
            target, options = TARGETS[case]
            known[case] = conjoin.partition(
                columns(table, target, options), target=target, **ASKED, **options
            )
        return known[case]

    return result


@pytest.fixture
def rows_stay(monkeypatch):
    """Have even small frames stay where they are, and come by in several batches."""
    monkeypatch.setattr(remote, "MOST_VALUES", -1)
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 200)

    def refuse(frame):
        raise AssertionError("rows were fetched")

    monkeypatch.setattr(import_module("conjoin.tables.collect"), "in_memory", refuse)


def assert_same(found, expected):
    assert found.clusters == expected.clusters
    for name, model in expected.coefficients.items():
        own = found.coefficients[name]
        assert_allclose(numbers(own), numbers(model), rtol=1e-8, atol=1e-8, err_msg=name)
        assert own.rows == model.rows
    for name, one in expected.errors.items():
        assert_allclose(found.errors[name].error, one.error, rtol=1e-8, err_msg=name)
    assert_allclose(list(found.weights.values()), list(expected.weights.values()), atol=1e-8)
    for own, one in zip(found.ledger(), expected.ledger(), strict=True):
        assert (own.left, own.right, own.verdict) == (one.left, one.right, one.verdict)
        assert own.gain == pytest.approx(one.gain, rel=1e-8)
        assert own.p_value == pytest.approx(one.p_value, rel=1e-8, abs=1e-8)
    assert_same_scores(found, expected)


def assert_same_scores(found, expected):
    """Log loss, Brier score, area under the curve and calibration are those of rows in memory."""
    strategy = expected.strategy
    scored = found.analysis.scored(strategy), expected.analysis.scored(strategy)
    assert (scored[0] is None) == (scored[1] is None)
    if scored[1] is None:  # counts have none
        return
    assert scored[0].scores.keys() == scored[1].scores.keys()
    for name, one in scored[1].scores.items():
        own = scored[0].scores[name]
        assert_allclose(
            [own.log_loss, own.brier, own.auc], [one.log_loss, one.brier, one.auc], rtol=1e-8
        )
        assert own.rows == one.rows and own.shares == pytest.approx(one.shares)
    for own, one in zip(scored[0].calibration, scored[1].calibration, strict=True):
        assert own.rows == one.rows
        assert_allclose([own.predicted, own.observed], [one.predicted, one.observed], rtol=1e-8)


def numbers(model):
    """The numbers of a model; one of several classes has a line for each."""
    return [[one.intercept, *one.coef.values()] for one in getattr(model, "lines", [model])]


@pytest.mark.parametrize("case", TARGETS)
def test_duckdb(table, here, rows_stay, case):
    target, options = TARGETS[case]
    with duckdb.connect() as connection:
        relation = connection.from_df(columns(table, target, options))
        found = conjoin.partition(relation, target=target, **ASKED, **options)
    assert_same(found, here(case))  # verdicts are asked for when the connection is closed


def test_polars(table, here, rows_stay):
    lazy = pl.from_pandas(columns(table, "bought", {})).lazy()
    assert_same(conjoin.partition(lazy, target="bought", **ASKED), here("two classes"))


@pytest.mark.parametrize("case", TARGETS)
def test_dask(table, here, rows_stay, case):
    target, options = TARGETS[case]
    frame = dd.from_pandas(columns(table, target, options), npartitions=3)
    assert_same(conjoin.partition(frame, target=target, **ASKED, **options), here(case))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["two classes", "counts with weights"])
def test_spark(table, here, rows_stay, spark, case):
    target, options = TARGETS[case]
    frame = spark.createDataFrame(columns(table, target, options))
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Spark's workers")
        assert_same(conjoin.partition(frame, target=target, **ASKED, **options), here(case))


def test_of_very_many_rows_a_part_is_scored_that_depends_on_values_alone():
    rng = np.random.default_rng(0)
    X, dataset, fold = rng.normal(size=(3000, 2)), np.arange(3000) % 2, np.arange(3000) % 5
    batch = Batch(X, (X[:, 0] > 0) * 1.0, np.ones(3000), dataset, fold, np.arange(3000))
    basis = Basis.from_summary([-4.0] * 3, [4.0] * 3, np.zeros(3), np.ones(3), intercept=True)
    beta = rng.normal(size=(5, 2, 3))
    whole, third = (PartOfProbabilities(basis, BERNOULLI, beta, period) for period in (1, 3))
    eta = basis.design(X) * beta[fold, dataset]
    assert_allclose(whole(batch)[0][:, 1], 1 / (1 + np.exp(-eta.sum(axis=1))))
    some, others = third(batch), third(batch.take(np.arange(2999, -1, -1)))
    assert 850 < len(some[1]) < 1150
    for one, other in zip(some, others, strict=True):
        assert_allclose(one, other[::-1])


def numbered(n=240):
    """Rows of two datasets as an engine has them after dealing, and questions about them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 2)), columns=["x0", "x1"])
    frame["x2"] = (rng.random(n) < 1 / (1 + np.exp(-frame["x0"]))).astype(float)
    frame["g0"], frame["w"] = np.where(np.arange(n) < n // 3, "a", "b"), rng.uniform(1, 3, n)
    frame["rank"], frame["first"] = np.arange(n), 0
    frame["fold"] = frame["rank"] % 3
    b, change = np.array([0.1, 0.5, -0.2]), np.array([0.3, 4.0, -3.0])
    far = 100 * change
    asked = [
        Ask("sums", "a", True, (b,)),
        Ask("sums", "b", False, (b,)),
        Ask("step", "a", False, (b, change)),
        Ask("step", "b", False, (b, far)),
        Ask("loss", "b", True, (np.stack([b, change, -b]),)),
        Ask("total", "a", False, (b,)),
        Ask("mass", "b", False, (b,)),
        Ask("scores", "b", False, (b, np.eye(3))),
    ]
    return frame, asked


def assert_answers(frame, native, asked):
    """Compare the answers of passes over an engine's rows with those of rows in memory."""
    basis = Basis.from_rows(frame[["x0", "x1"]].to_numpy(), frame["x2"].to_numpy())
    rows = RemoteRows(nw.from_native(native).lazy(), ("g0",), 2, {"a": 0, "b": 1}, 3, 2.0)
    passes = EnginePasses(settle_rows(rows, (80, 160)), basis, BERNOULLI, 3)
    passes.position = rows.position
    found = passes(asked)
    assert passes.passes == 2  # the long step of b needs sums at its end
    assert found[3][0][0] < 1
    for one, parts in zip(asked, found, strict=True):
        own = frame[frame["g0"] == one.dataset]
        Z = basis.design(own[["x0", "x1"]].to_numpy())
        here = SortedRows.one_dataset(Z, own["x2"].to_numpy(), own["w"].to_numpy() / 2.0)
        cells = GlmRows.of(here, own["fold"].to_numpy(), 3, BERNOULLI)
        for part, expected in zip(parts, answer(cells, one, FARTHEST), strict=True):
            assert_allclose(part, expected, rtol=1e-9, atol=1e-9, err_msg=one.kind)


def test_a_pass_answers_all_questions(monkeypatch):
    monkeypatch.setattr(remote_rows, "BATCH_ROWS", 50)
    frame, asked = numbered()
    assert_answers(frame, pl.from_pandas(frame.sample(frac=1, random_state=0)), asked)


@pytest.mark.slow
def test_spark_answers_where_the_rows_are(spark):
    frame, asked = numbered()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "Spark's workers")
        assert_answers(frame, spark.createDataFrame(frame), asked)


def test_a_pickle_has_no_rows(table, rows_stay):
    lazy = pl.from_pandas(columns(table, "bought", {})[["shop", "a", "b", "bought"]]).lazy()
    found = conjoin.partition(lazy, target="bought", **ASKED)
    again = pickle.loads(pickle.dumps(found))
    assert again.clusters == found.clusters and again.analysis.scored("separate") is None
    with pytest.raises(conjoin.ConjoinError, match="rows of this result stayed with an engine"):
        again.ledger()
