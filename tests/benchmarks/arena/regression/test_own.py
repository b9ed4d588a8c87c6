import numpy as np

from benchmarks.arena.data import ArenaSet, splits, task_of
from benchmarks.arena.ours import fit
from benchmarks.arena.regression.own import METHODS, best_average, predict
from benchmarks.arena.regression.side import REGRESSION


def test_predictions_are_those_of_the_groups_models() -> None:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 2))
    groups = np.array(["a", "b", "c"] * 20, dtype=object)
    data = ArenaSet("made", X, X @ [1.0, -1.0] + generator.normal(size=60), groups, ("x0", "x1"))
    task = task_of(data, splits(data, 0.5, 0))
    result, seconds = fit(REGRESSION, task)
    model = result.using("separate").coefficients["b"]
    rows = task.groups_test == "b"
    expected = model.intercept + task.X_test[rows] @ np.array(list(model.coef.values()))
    np.testing.assert_allclose(predict(result, "separate", task)[rows], expected)
    assert seconds > 0


def test_every_method_finds_a_partition(made: ArenaSet) -> None:
    task = task_of(made, splits(made, 0.5, 0))
    for contestant in ("chow", "bic", "kmeans", "mallows"):
        result, _ = fit(REGRESSION, task, {**METHODS[contestant], "strategy": "clusters"})
        names = [name for cluster in result.clusters for name in cluster]
        assert sorted(names) == ["one", "three", "two"]


def test_the_best_average_weighs_opposite_errors_equally(made: ArenaSet) -> None:
    split = splits(made, 0.5, 0)
    y = made.y[split.test]
    average = best_average(made, split, np.stack([y + 1, y - 1]))
    np.testing.assert_allclose(average, y, atol=1e-2)
