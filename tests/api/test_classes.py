"""Classes and counts through the whole pipeline: labels of any kind, awkward data, messages."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import conjoin
from conjoin.datasets import make_class_clusters, make_class_pair, make_count_clusters
from conjoin.errors import ArgumentError, ConjoinError, ConjoinWarning, DataError

FEATURES = ["x1", "x2", "x3"]


def frame_of(outcomes, **columns):
    parts = [pd.DataFrame(t).assign(store=name) for name, t in outcomes.tables().items()]
    return pd.concat(parts, ignore_index=True).assign(**columns)


def fit(frame, **options):
    return conjoin.partition(frame, target="y", by="store", **options)


def lines_of(model):
    slopes = np.array([list(line.coef.values()) for line in model.lines])
    return slopes, np.array([line.intercept for line in model.lines])


def excess(outcomes, models):
    """Mean log loss of models (by dataset) above that of the truth, on new rows."""
    total = 0.0
    for name in outcomes.names:
        truth = outcomes.slopes[name], outcomes.intercept[name]
        total += outcomes.population_error(name, *lines_of(models[name]))
        total -= outcomes.population_error(name, *truth)
    return total / len(outcomes.names)


@pytest.fixture(scope="module")
def shops():
    return make_class_clusters(sizes=(3, 3), n=150, p=3, distance=3.0)


@pytest.fixture(scope="module")
def result(shops):
    return fit(frame_of(shops))


@pytest.fixture(scope="module")
def three():
    return make_class_clusters(sizes=(2, 2), n=120, p=3, distance=4.0, classes=3)


@pytest.fixture(scope="module")
def of_three(three):
    return fit(frame_of(three))


@pytest.fixture(scope="module")
def small():
    return frame_of(make_class_clusters(sizes=(2, 1), n=50, p=3, distance=3.0))


@pytest.fixture(params=["result", "of_three"])
def fitted(request):
    """Result, frame and truth, for two and for three classes."""
    outcomes = request.getfixturevalue({"result": "shops", "of_three": "three"}[request.param])
    return request.getfixturevalue(request.param), frame_of(outcomes), outcomes


# --- the truth ------------------------------------------------------------------------------------


def test_planted_clusters_are_found_and_predict(fitted):
    result, _, outcomes = fitted
    assert result.family == "logistic"
    assert result.labels == dict(outcomes.labels)
    clusters = {name: result.models[result.labels[name]] for name in outcomes.names}
    separate = excess(outcomes, result.using("separate").coefficients)
    pooled = excess(outcomes, dict.fromkeys(outcomes.names, result.pooled))
    assert excess(outcomes, clusters) < 0.7 * min(separate, pooled)
    assert excess(outcomes, result.coefficients) < 0.8 * min(separate, pooled)
    assert result.errors["clusters"].error < result.errors["pooled"].error


def test_validated_errors_are_those_of_new_rows(fitted):
    result, _, outcomes = fitted
    for strategy in ("auto", "pooled", "clusters"):
        models = result.using(strategy).coefficients
        new = np.mean([outcomes.population_error(n, *lines_of(models[n])) for n in models])
        assert result.errors[strategy].error == pytest.approx(new, rel=0.1)


def test_probabilities_sum_to_one_and_predict_is_the_most_likely_class(fitted):
    result, frame, _ = fitted
    P = result.predict_proba(frame)
    assert P.shape == (len(frame), len(result.classes))
    assert_allclose(P.sum(axis=1), 1.0)
    assert P.min() >= 0
    assert (result.predict(frame) == np.array(result.classes)[P.argmax(axis=1)]).all()
    assert np.mean(result.predict(frame) == frame["y"]) > 0.6
    model = result.coefficients["d1"]
    own = frame[frame["store"] == "d1"]
    assert_allclose(model.predict_proba(own), P[frame["store"] == "d1"])
    assert (model.predict(own) == result.predict(own)).all()


def test_order_of_rows_and_datasets_does_not_matter(fitted):
    result, frame, outcomes = fitted
    shuffled = frame.sample(frac=1.0, random_state=3)
    again = fit(shuffled)
    assert_allclose(again.predict_proba(frame), result.predict_proba(frame), atol=1e-6)
    assert again.clusters == result.clusters
    tables = dict(reversed(outcomes.tables().items()))
    turned = conjoin.partition(tables, target="y")
    assert {frozenset(c) for c in turned.clusters} == {frozenset(c) for c in result.clusters}
    P = turned.predict_proba(frame, frame["store"])
    assert_allclose(P, result.predict_proba(frame), atol=1e-6)


# --- labels ---------------------------------------------------------------------------------------


def as_text(y):
    return y.map({"c1": "no", "c2": "yes"})


def as_category(y):
    return as_text(y).astype("category")


def as_bool(y):
    return y == "c2"


def as_int(y):
    return (y == "c2").astype(int) + 4


def as_whole_float(y):
    return (y == "c2") * 2.0


KINDS = [
    (as_text, "auto", ("no", "yes")),
    (as_category, "auto", ("no", "yes")),
    (as_bool, "auto", (False, True)),
    (as_int, "logistic", (4, 5)),
    (as_whole_float, "logistic", (0, 2)),
]


@pytest.mark.parametrize("turn, family, classes", KINDS, ids=lambda x: getattr(x, "__name__", ""))
def test_labels_of_any_kind(small, turn, family, classes, tmp_path):
    plain = small.assign(y=as_text(small["y"]))
    wanted = fit(plain).predict_proba(plain)
    frame = small.assign(y=turn(small["y"]))
    result = fit(frame, family=family)
    assert result.classes == classes
    assert [type(label) for label in result.classes] == [type(label) for label in classes]
    assert_allclose(result.predict_proba(frame), wanted, atol=1e-8)
    predicted = result.predict(frame)
    assert set(predicted.tolist()) <= set(classes)
    assert np.mean(predicted == frame["y"].to_numpy()) > 0.6
    new = frame[frame["store"] == "d1"]
    assert result.assign(new[FEATURES], new["y"]).cluster == 0
    result.save(tmp_path / "model.json")
    loaded = conjoin.load(tmp_path / "model.json")
    assert loaded.classes == classes
    assert (loaded.predict(frame) == predicted).all()
    assert loaded.predict(frame).dtype == predicted.dtype


def test_numbers_stay_numbers_unless_asked(small):
    frame = small.assign(y=as_int(small["y"]))
    assert fit(frame).family == "gaussian"
    with pytest.raises(ArgumentError, match="no classes"):
        fit(frame).predict_proba(frame)


def test_two_labels_and_three_lines(result, of_three):
    assert len(result.models[0].lines) == 1
    assert isinstance(result.models[0].intercept, float)
    lines = of_three.models[0].lines
    assert len(lines) == 3
    assert_allclose(np.sum([list(line.coef.values()) for line in lines], axis=0), 0, atol=1e-9)
    assert sum(line.intercept for line in lines) == pytest.approx(0, abs=1e-9)
    assert set(of_three.models[0].intercept) == {"c1", "c2", "c3"}


# --- awkward data ---------------------------------------------------------------------------------


def finite(result, frame):
    P = result.predict_proba(frame)
    assert np.isfinite(P).all()
    assert_allclose(P.sum(axis=1), 1.0)
    for estimate in result.errors.values():
        assert np.isfinite(estimate.error)
    for name in result.labels:
        assert np.isfinite(lines_of(result.coefficients[name])[0]).all()
    assert len(result.verdicts) == len(result.labels) - 1
    return P


@pytest.mark.parametrize("strategy", ["auto", "partial", "clusters", "separate"])
def test_a_dataset_of_one_class_lies_between_its_own_rows_and_the_others(shops, strategy):
    frame = frame_of(shops)
    alone = frame["store"] == "d2"
    frame.loc[alone, "y"] = "c2"
    result = fit(frame, strategy=strategy)
    P = finite(result, frame)[alone, 1]
    others = result.pooled.predict_proba(frame[alone])[:, 1]
    assert others.mean() < P.mean() < 1.0
    assert P.max() < 1.0


def test_every_dataset_of_one_class(small):
    frame = small.assign(y=np.where(small["store"] == "d1", "no", "yes"))
    result = fit(frame)
    P = finite(result, frame)
    assert P[frame["store"] == "d1", 0].min() > 0.5
    assert P[frame["store"] != "d1", 1].min() > 0.5


def test_a_class_absent_from_some_datasets(three):
    frame = frame_of(three)
    frame = frame[(frame["y"] != "c3") | (frame["store"] == "d4")]
    result = fit(frame)
    assert result.classes == ("c1", "c2", "c3")
    P = finite(result, frame)
    absent = P[frame["store"] == "d1", 2].mean()
    assert 0 < absent < result.pooled.predict_proba(frame[frame["store"] == "d1"])[:, 2].mean()


def test_separable_data(small):
    frame = small.assign(y=np.where(small["x1"] > 0, "right", "left"))
    result = fit(frame)
    finite(result, frame)
    assert np.mean(result.predict(frame) == frame["y"]) > 0.97
    assert abs(result.coefficients["d1"].coef["x1"]) < 1e3


def test_a_class_of_one_percent():
    rare = make_class_clusters(sizes=(2, 2), n=1200, p=3, distance=1.0, classes=(0.99, 0.01))
    frame = frame_of(rare)
    result = fit(frame)
    P = finite(result, frame)[:, 1]
    for name in rare.names:
        own = frame["store"] == name
        assert P[own].mean() == pytest.approx(np.mean(frame["y"][own] == "c2"), abs=0.005)
    share = np.mean(frame["y"] == "c2")
    constant = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert result.errors["auto"].error < 1.02 * constant


@pytest.mark.parametrize("n", [(1, 1, 1, 1, 1, 1), (1, 2, 3, 40, 60, 5)], ids=str)
def test_tiny_datasets(n):
    frame = frame_of(make_class_clusters(sizes=(3, 3), n=n, p=3, random_state=4))
    result = fit(frame)
    finite(result, frame)
    assert {v.verdict for v in result.verdicts} == {"undecided"} or max(n) > 30


def test_a_constant_feature_and_a_rare_flag(small):
    frame = small.assign(flag=np.arange(len(small)) == 3, same=1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConjoinWarning)
        finite(fit(frame), frame)


def test_row_weights(small):
    doubled = pd.concat([small, small[small["store"] == "d1"]])
    weighted = small.assign(weight=np.where(small["store"] == "d1", 2.0, 1.0))
    result = fit(weighted, weights="weight", strategy="pooled")
    wanted = fit(doubled, strategy="pooled")
    assert_allclose(result.predict_proba(small), wanted.predict_proba(small), atol=0.02)


# --- datasets that were not there -----------------------------------------------------------------


def test_unseen_datasets(fitted):
    result, frame, _ = fitted
    new = frame.head(20)[FEATURES]
    with pytest.warns(ConjoinWarning, match="not there at fitting"):
        P = result.predict_proba(new, "nowhere")
    assert_allclose(P, result.pooled.predict_proba(new))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_allclose(result.predict_proba(new, [None] * 20), P)
        nearest = result.predict_proba(new, "nowhere", on_unseen="nearest")
    models = [model.predict_proba(new) for model in result.models]
    assert any(np.allclose(nearest, each) for each in models)
    with pytest.raises(DataError, match="was not there at fitting"):
        result.predict(new, "nowhere", on_unseen="raise")
    with pytest.raises(ArgumentError, match="on_unseen='guess' is unknown"):
        result.predict_proba(new, "nowhere", on_unseen="guess")


@pytest.mark.parametrize("classes, sizes", [(2, (3, 3)), (3, (2, 2))])
@pytest.mark.parametrize("cluster", [0, 1])
def test_assign_finds_the_cluster(request, classes, sizes, cluster):
    result = request.getfixturevalue("result" if classes == 2 else "of_three")
    distance = 3.0 if classes == 2 else 4.0
    bigger = (9,) if cluster == 0 else (sizes[0], 9 - sizes[0])
    new = make_class_clusters(sizes=bigger, n=200, p=3, distance=distance, classes=classes)
    assert new.labels["d9"] == cluster
    placed = result.assign(pd.DataFrame(new.X["d9"], columns=FEATURES), new.y["d9"])
    assert placed.cluster == cluster
    assert placed.probability > 0.6
    assert sum(placed.probabilities) + placed.probability_new == pytest.approx(1.0)
    truth = new.population_error("d9", new.slopes["d9"], new.intercept["d9"])
    assert new.population_error("d9", *lines_of(placed.model)) < truth + 0.03


def test_assign_few_rows_and_one_class(fitted):
    result, frame, _ = fitted
    for rows, label in ((1, "c1"), (5, "c2"), (300, "c1")):
        some = frame.sample(rows, random_state=0)[FEATURES]
        placed = result.assign(some, [label] * rows)
        assert np.isfinite(placed.model.predict_proba(some)).all()
        assert sum(placed.probabilities) + placed.probability_new == pytest.approx(1.0)


def test_assign_refuses_unknown_labels(result, shops):
    X = shops.X["d1"][:3]
    with pytest.raises(DataError, match="label 'c9', which is not in the training data.*'c1', 'c2'"):
        result.assign(X, ["c1", "c9", "c2"])
    with pytest.raises(DataError, match="label None"):
        result.assign(X, ["c1", None, "c2"])
    with pytest.raises(DataError, match="one label for each of the 3 rows"):
        result.assign(X, ["c1", "c2"])


def test_save_load_and_pickle(fitted, tmp_path):
    result, frame, outcomes = fitted
    P = result.predict_proba(frame)
    result.save(tmp_path / "model.json")
    X, y = outcomes.X["d4"], outcomes.y["d4"]
    placed = result.assign(X, y)
    for again in (conjoin.load(tmp_path / "model.json"), pickle.loads(pickle.dumps(result))):
        assert again.family == "logistic"
        assert again.classes == result.classes
        assert again.clusters == result.clusters
        assert_allclose(again.predict_proba(frame), P, atol=1e-12)
        assert (again.predict(frame) == result.predict(frame)).all()
        assert_allclose(again.assign(X, y).probabilities, placed.probabilities, atol=1e-9)
        assert again.errors["auto"].error == pytest.approx(result.errors["auto"].error)
        assert [v.verdict for v in again.verdicts] == [v.verdict for v in result.verdicts]


# --- messages: one clear sentence each ------------------------------------------------------------


def one_class(frame):
    return frame.assign(y="same")


def as_many_as_rows(frame):
    return frame.assign(y=[f"label {i}" for i in range(len(frame))])


def continuous(frame):
    return frame.assign(y=frame["x1"])


def all_missing_text(frame):
    return frame.assign(y=pd.Series([None] * len(frame), dtype=object))


def all_missing_number(frame):
    return frame.assign(y=np.nan)


def blank(frame):
    return frame.assign(y="  ")


def negative(frame):
    return frame.assign(y=np.where(frame["x1"] > 0, 2, -1))


def infinite(frame):
    return frame.assign(y=np.where(frame.index == 3, np.inf, 1.0))


def no_counts(frame):
    return frame.assign(y=0)


def words(frame):
    return frame


MISTAKES = [
    (one_class, {}, "'y' has one class in all rows, 'same'"),
    (as_many_as_rows, {}, "'y' has 150 classes in 150 rows"),
    (continuous, {"family": "logistic"}, "'y' is continuous"),
    (all_missing_text, {"family": "logistic"}, "'y'.* is missing"),
    (all_missing_number, {"family": "logistic"}, "'y'.* is missing"),
    (all_missing_number, {"family": "poisson"}, "'y'.* is missing"),
    (blank, {}, "'y'.* is missing"),
    (negative, {"family": "poisson"}, "counts, which cannot be negative"),
    (infinite, {"family": "poisson"}, "'y' is infinite"),
    (infinite, {"family": "logistic"}, "'y' is infinite"),
    (no_counts, {"family": "poisson"}, "'y' is 0 in every row"),
    (words, {"family": "poisson"}, "'y' is not numeric"),
    (words, {"family": "gaussian"}, "'y' is not numeric"),
    (words, {"family": "binomial"}, "family='binomial' is unknown; expected one of auto"),
    (words, {"method": "tuned"}, "method='tuned' is for numbers"),
    (words, {"method": "validated"}, "method='validated' is for numbers"),
]


def ids(value):
    return value.__name__ if callable(value) else None


@pytest.mark.parametrize("change, options, message", MISTAKES, ids=ids)
def test_messages(small, change, options, message):
    with pytest.raises(ConjoinError, match=message) as caught:
        fit(change(small), **options)
    assert str(caught.value).rstrip().endswith(".")


@pytest.mark.parametrize("change, options, message", MISTAKES[:-1], ids=ids)
def test_messages_on_pairs(small, change, options, message):
    frame = change(small)
    tables = [frame[frame["store"] == name][[*FEATURES, "y"]] for name in ("d1", "d3")]
    message = message.replace("150", "100")
    with pytest.raises(ConjoinError, match=message):
        conjoin.compare(*tables, target="y", **options)


@pytest.mark.parametrize("nothing", [None, np.nan, " "], ids=repr)
def test_rows_without_a_label_are_left_out(small, nothing):
    labels = small["y"].astype(object).to_numpy().copy()
    labels[::10] = nothing
    frame = small.assign(y=labels)
    with pytest.warns(ConjoinWarning, match="15 of 150 rows are left out"):
        result = fit(frame)
    known = fit(small.iloc[[i for i in range(len(small)) if i % 10]])
    assert result.classes == ("c1", "c2")
    assert_allclose(result.predict_proba(small), known.predict_proba(small), atol=1e-8)


def test_number_labels_with_missing_ones(small):
    numbers = pd.Series(as_int(small["y"]), dtype="float")
    numbers[::10] = np.nan
    with pytest.warns(ConjoinWarning, match="15 of 150 rows are left out"):
        result = fit(small.assign(y=numbers), family="logistic")
    assert result.classes == (4, 5)


# --- pairs ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_compare_two_datasets(classes):
    near = make_class_pair(p=3, n=400, distance=0.0, classes=classes)
    far = make_class_pair(p=3, n=400, distance=4.0, classes=classes)
    same = conjoin.compare(*near.tables().values(), target="y")
    apart = conjoin.compare(*far.tables().values(), target="y")
    assert same.join and same.verdict in ("join", "undecided")
    assert same.gain > 0 > apart.gain
    assert not apart.join and apart.verdict == "apart"
    for found in (same, apart):
        low, high = found.interval
        assert low <= high
        assert found.fit_a.classes == near.response.classes
        assert np.isfinite([found.error_separate, found.error_joined]).all()
    assert apart.interval[1] <= 0
    assert apart.error_separate < apart.error_joined
    other = conjoin.compare(*reversed(far.tables().values()), target="y")
    assert other.verdict == apart.verdict
    assert other.gain == pytest.approx(apart.gain, rel=1e-3)


def test_compare_says_how_many_rows_would_settle_it():
    few = make_class_pair(p=4, n=20, distance=1.0)
    found = conjoin.compare(*few.tables().values(), target="y")
    assert found.verdict == "undecided"
    assert found.interval == (-np.inf, np.inf)
    assert found.rows_to_settle is None or found.rows_to_settle > 1.0


# --- counts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dispersion", [1.0, 4.0])
def test_clusters_of_counts(dispersion, tmp_path):
    calls = make_count_clusters(sizes=(3, 2), n=150, p=3, distance=1.0, dispersion=dispersion)
    frame = frame_of(calls)
    result = fit(frame, family="poisson")
    assert result.family == "poisson"
    assert result.labels == dict(calls.labels)
    predicted = result.predict(frame)
    assert (predicted > 0).all()
    assert predicted.mean() == pytest.approx(frame["y"].mean(), rel=0.05)
    pooled = excess(calls, dict.fromkeys(calls.names, result.pooled))
    assert excess(calls, result.coefficients) < 0.3 * pooled
    assert excess(calls, result.using("partial").coefficients) < 0.3 * pooled
    assert result.verdicts[-1].verdict == "apart"
    result.save(tmp_path / "counts.json")
    assert_allclose(conjoin.load(tmp_path / "counts.json").predict(frame), predicted)
    placed = result.assign(calls.X["d5"], calls.y["d5"])
    assert placed.cluster == 1
    assert (placed.model.predict(calls.X["d5"]) > 0).all()
    with pytest.raises(ArgumentError, match="no classes"):
        result.predict_proba(frame)


@pytest.mark.parametrize("dispersion", [1.0, 5.0])
def test_scatter_of_counts_is_not_taken_for_difference(dispersion):
    """Pairs drawn from one truth are hardly ever kept apart, however much counts scatter."""
    verdicts = []
    for seed in range(20):
        calls = make_count_clusters((2,), 100, 3, dispersion=dispersion, random_state=seed)
        tables = calls.tables().values()
        verdicts.append(conjoin.compare(*tables, target="y", family="poisson").verdict)
    assert verdicts.count("apart") <= 3
    assert verdicts.count("join") >= 3


def test_datasets_of_zeros_and_counts_of_any_size():
    calls = make_count_clusters((2, 1), 60, 3, distance=0.5)
    frame = frame_of(calls)
    frame.loc[frame["store"] == "d1", "y"] = 0
    frame.loc[frame["store"] == "d3", "y"] *= 10_000
    result = fit(frame, family="poisson")
    predicted = result.predict(frame)
    assert np.isfinite(predicted).all() and (predicted > 0).all()
    means = [predicted[frame["store"] == name].mean() for name in ("d1", "d2", "d3")]
    assert means == sorted(means)


@pytest.mark.parametrize("family", ["auto", "gaussian", "logistic"])
def test_zero_and_one_are_numbers_unless_said_otherwise_and_one_is_told(family):
    rng = np.random.default_rng(0)
    tables = {
        name: {"x": rng.standard_normal(80), "won": rng.integers(2, size=80)} for name in "ab"
    }
    for run in (
        lambda: conjoin.partition(tables, target="won", family=family),
        lambda: conjoin.compare(tables["a"], tables["b"], target="won", family=family),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            run()
        told = [
            str(w.message) for w in caught if "'won' has only the values 0 and 1" in str(w.message)
        ]
        assert len(told) == (family == "auto")
        assert all("family='logistic'" in text for text in told)


@pytest.mark.parametrize("labels", [("c", "d"), ("b", "c")])
def test_datasets_without_the_same_classes_are_never_said_to_join(labels):
    rng = np.random.default_rng(0)
    tables = {}
    for name, classes, slope in (("one", ("a", "b"), 2.0), ("two", labels, -2.0)):
        x = rng.standard_normal(300)
        first = rng.random(300) < 1 / (1 + np.exp(-slope * x))
        tables[name] = {"x": x, "y": np.where(first, *classes)}
    compared = conjoin.compare(tables["one"], tables["two"], target="y")
    assert (compared.verdict, compared.join) == ("undecided", False)
    assert compared.gain < -0.1
    assert compared.rows_to_settle is None
    result = conjoin.partition(tables, target="y")
    assert len(result.clusters) == 2
    assert [line.verdict for line in result.verdicts] == ["undecided"]


@pytest.mark.parametrize(("datasets", "asked", "used"), [(301, 10, 5), (301, 3, 3), (20, 10, 10)])
def test_very_many_datasets_of_classes_are_validated_on_fewer_folds(datasets, asked, used):
    rng = np.random.default_rng(0)
    n = 12 * datasets
    table = {
        "x": rng.standard_normal(n),
        "y": rng.random(n) < 0.5,
        "by": np.repeat(np.arange(datasets), 12),
    }
    result = conjoin.partition(table, target="y", by="by", folds=asked)
    assert result.analysis.study.folds.shape == (datasets, used)


@pytest.mark.parametrize("rows", [40, 400])
def test_the_ledger_of_two_datasets_has_the_gain_of_their_comparison(rows):
    rng, tables = np.random.default_rng(0), {}
    for name, slope in (("a", 2.0), ("b", -2.0)):
        X = rng.standard_normal((rows, 8))
        yes = rng.random(rows) < 1 / (1 + np.exp(-slope * X[:, 0]))
        tables[name] = {f"x{j}": x for j, x in enumerate(X.T)} | {"y": np.where(yes, "yes", "no")}
    answer = conjoin.compare(tables["a"], tables["b"], target="y")
    [line] = conjoin.partition(tables, target="y").verdicts
    assert line.gain == pytest.approx(answer.gain, rel=1e-9)
    assert answer.gain == pytest.approx(answer.error_separate - answer.error_joined, rel=0.2)
    assert line.verdict == ("apart" if rows == 400 else "undecided")
