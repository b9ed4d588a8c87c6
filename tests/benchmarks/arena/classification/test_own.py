import numpy as np

from benchmarks.arena.classification.measure import split_error, training_classes
from benchmarks.arena.classification.own import best_average, predict
from benchmarks.arena.classification.side import CLASSIFICATION
from benchmarks.arena.data import ArenaSet, splits, task_of
from benchmarks.arena.ours import fit


def test_probabilities_have_a_column_for_every_class(made_classes: ArenaSet) -> None:
    split = splits(made_classes, 0.5, 0)
    task = task_of(made_classes, split)
    result, _ = fit(CLASSIFICATION, task)
    p = predict(result, "auto", task)
    assert p.shape == CLASSIFICATION.shape(made_classes, split)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    answers = training_classes(made_classes, split)[p.argmax(axis=1)]
    assert np.mean(answers == made_classes.y[split.test]) > 0.5


def test_the_best_average_follows_the_better_strategy(made_classes: ArenaSet) -> None:
    split = splits(made_classes, 0.5, 0)
    classes = training_classes(made_classes, split)
    good = np.where(made_classes.y[split.test][:, None] == classes, 0.8, 0.1)
    bad = np.full_like(good, 1 / 3)
    average = best_average(made_classes, split, np.stack([bad, good]))
    error = split_error(made_classes, split, average)[0]
    np.testing.assert_allclose(error, -np.log(0.8), rtol=1e-2)
