import pickle

import numpy as np
import pytest

import conjoin
from conjoin.errors import ArgumentError
from tests.bent import QUICK, bent_tables


def test_bends_are_found_that_lines_cannot_see(learned):
    errors = {name: one.error for name, one in learned.errors.items()}
    assert learned.learner == "boosting"
    assert errors["auto"] < 0.45 * errors["linear"]
    assert errors["auto"] < 1.02 * min(errors.values())
    assert {"corrected", "residual", "learner named", "learner pooled"} <= set(errors)


def test_weights_are_shares_of_the_average(learned):
    assert sum(learned.weights.values()) == pytest.approx(1)
    assert min(learned.weights.values()) >= 0


def test_linear_strategies_are_those_of_the_linear_learner(bent, learned):
    lines = conjoin.partition(bent, target="y", learner="linear")
    assert learned.linear.clusters == lines.clusters
    assert lines.linear is lines
    for name in ("separate", "pooled", "partial", "mixture"):
        assert learned.errors[name].error == lines.errors[name].error
    assert learned.errors["linear"].error == lines.errors["auto"].error
    table = bent["d2"]
    expected = lines.using("partial").predict(table, "d2")
    assert np.allclose(learned.using("partial").predict(table, "d2"), expected, atol=1e-9)


def test_the_learner_alone_has_coefficient_one_in_its_column(learned, bent):
    named = learned.using("learner named")
    model = named.coefficients["d0"]
    assert model.coef["boosting"] == 1
    assert sum(map(abs, model.coef.values())) == 1
    rows, names = named.predictor.encode(bent["d0"], "d0")
    assert np.array_equal(named.predict(bent["d0"], "d0"), rows[:, 3])
    assert set(names) == {"d0"}


def test_errors_of_a_strategy_are_those_of_its_models(learned):
    for strategy in ("auto", "corrected", "learner named", "separate", "clusters"):
        result = learned.using(strategy)
        mean = np.mean([model.error for model in result.coefficients.values()])
        assert result.errors[strategy].error == pytest.approx(mean)


def test_the_model_for_all_is_the_one_of_unknown_datasets(learned):
    errors = learned.analysis.details.errors["all"]
    assert np.mean(errors) == pytest.approx(learned.pooled.error)
    assert learned.pooled.error == learned.errors["learner pooled"].error


def test_best_is_the_lowest_error_of_one_strategy(learned):
    chosen = learned.using("best").strategy
    fair = {n: e.error for n, e in learned.errors.items() if n in learned.weights}
    assert chosen in fair
    assert learned.errors[chosen].error <= min(fair.values())


def test_an_unknown_strategy_is_refused(learned):
    with pytest.raises(ArgumentError, match="'nonsense' is unknown here"):
        learned.using("nonsense")
    lines = conjoin.partition(bent_tables(datasets=2), target="y", learner="linear")
    with pytest.raises(ArgumentError, match="'corrected' is unknown here"):
        lines.using("corrected")


def test_references_are_the_better_of_lines_and_learner(learned):
    over = learned.improvements("auto").over
    errors = learned.errors
    better = min(errors["separate"].error, errors["learner separate"].error)
    assert over["separate"].change == pytest.approx(errors["auto"].error / better - 1)


def test_a_dataset_not_there_at_fitting_gets_a_model_without_names(learned, bent):
    with pytest.warns(conjoin.ConjoinWarning, match="not there at fitting"):
        found = learned.predict(bent["d1"], "new")
    assert np.isfinite(found).all()
    mse = np.mean((found - bent["d1"]["y"]) ** 2)
    assert mse < learned.errors["pooled"].error


def test_clusters_of_laws_are_found(laws):
    assert laws.clusters == [["d0", "d3"], ["d1", "d4"], ["d2", "d5"]]
    assert laws.errors["learner clusters"].error < laws.errors["learner named"].error
    assert laws.ledger()
    assert laws.explain("d0")[0].cluster == 0


def test_classes_have_probabilities_and_scores(classes, class_tables):
    assert classes.learner == "boosting"
    assert classes.errors["auto"].error < classes.errors["linear"].error
    table = {name: values for name, values in class_tables["d0"].items() if name != "y"}
    P = classes.predict_proba(table, "d0")
    assert np.allclose(P.sum(axis=1), 1)
    assert classes.scores["d0"].log_loss == pytest.approx(classes.coefficients["d0"].error)


def test_three_classes_and_counts():
    rng = np.random.default_rng(0)
    tables = bent_tables(n=100, datasets=3)
    three = {n: {**t, "y": np.digitize(t["y"], [-1, 1]).astype(str)} for n, t in tables.items()}
    result = conjoin.partition(three, target="y", learner=QUICK)
    assert result.predict_proba(three["d0"], "d0").shape == (100, 3)
    assert result.errors["auto"].error < result.errors["linear"].error
    counts = {n: {**t, "y": rng.poisson(np.exp(t["y"] / 2))} for n, t in tables.items()}
    result = conjoin.partition(counts, target="y", family="poisson", learner=QUICK)
    assert result.errors["auto"].error < result.errors["linear"].error
    assert np.all(result.predict(counts["d0"], "d0") > 0)


def test_noise_is_not_learned():
    rng = np.random.default_rng(0)
    tables = {
        f"d{k}": {"a": rng.normal(size=60), "b": rng.normal(size=60), "y": rng.normal(size=60)}
        for k in range(8)
    }
    result = conjoin.partition(tables, target="y", learner="boosting")
    variance = np.var(np.concatenate([t["y"] for t in tables.values()]))
    assert result.errors["auto"].error == pytest.approx(variance, rel=0.05)


def test_the_order_of_rows_and_datasets_changes_nothing():
    tables = bent_tables(n=60, datasets=4)
    order = np.random.default_rng(1).permutation(60)
    other = {
        name: {column: values[order] for column, values in tables[name].items()}
        for name in reversed(tables)
    }
    one, two = (conjoin.partition(t, target="y", learner=QUICK) for t in (tables, other))
    assert one.clusters == two.clusters
    new = bent_tables(seed=9, datasets=1)["d0"]
    named = [r.using("learner named").predict(new, "d1") for r in (one, two)]
    assert np.array_equal(*named)
    assert np.allclose(one.predict(new, "d1"), two.predict(new, "d1"), atol=1e-9)
    assert one.errors["auto"].error == pytest.approx(two.errors["auto"].error, rel=1e-9)


def test_a_pickled_result_holds_no_rows(learned, classes, bent, class_tables):
    for result, tables in ((learned, bent), (classes, class_tables)):
        text = pickle.dumps(result.analysis)
        assert np.asarray(tables["d1"]["a"])[:4].tobytes() not in text
        again = pickle.loads(text)
        assert again.errors == result.errors
        assert again.using("auto").clusters == result.clusters
    assert pickle.loads(pickle.dumps(classes)).scores["d0"] == classes.scores["d0"]
