import numpy as np

from benchmarks.arena.classification.logistic import LogisticByValidation, class_shares


def test_one_class_only_gives_smoothed_frequencies() -> None:
    model = LogisticByValidation({"a": 0.25, "b": 0.75}).fit(
        np.zeros((3, 1)), np.array(["a", "a", "a"], dtype=object)
    )
    np.testing.assert_allclose(model.predict_proba(np.zeros((1, 1))), [[3.25 / 4, 0.75 / 4]])


def test_choice_of_C_with_rare_classes() -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(43, 2))
    y = np.array(["a", "b"] * 20 + ["c"] * 3, dtype=object)
    by_two = LogisticByValidation(class_shares(y[:40])).fit(X[:40], y[:40])
    by_three = LogisticByValidation(class_shares(y)).fit(X, y)
    assert by_two.C_ == by_three.C_  # "c" has too few rows to enter the choice
    pair = np.array(["a", "b"], dtype=object)
    assert LogisticByValidation(class_shares(pair)).fit(X[:2], pair).C_ == 1.0
