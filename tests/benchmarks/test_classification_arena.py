import numpy as np
import pytest

pd = pytest.importorskip("pandas")

from benchmarks.arena.data import Split, shared_data, splits, standardise  # noqa: E402
from benchmarks.arena.run import Outcome, Task, _error, compete  # noqa: E402
from benchmarks.arena.table import render, score  # noqa: E402
from benchmarks.classification.contestants import CONTESTANTS  # noqa: E402
from benchmarks.classification.data import (  # noqa: E402
    SMALLEST,
    ClassSet,
    classes_of,
    group_log_loss,
    load,
    log_losses,
    split_error,
)
from benchmarks.classification.rivals import (  # noqa: E402
    LogisticByValidation,
    PaperClusters,
    PooledLogistic,
    RidgeByGroup,
    SeparateLogistic,
    class_shares,
)
from benchmarks.classification.run import ARENA  # noqa: E402
from benchmarks.classification.sets import (  # noqa: E402
    SETS,
    Cuts,
    OneOf,
    Reached,
    Values,
)
from benchmarks.classification.table import PAGE  # noqa: E402

SMALL = ["contraception", "radon_action", "ppge_reached", "school_band"]
NEED_NO_RIVAL = [name for name in CONTESTANTS if not name.startswith(("sklego", "gpboost"))]


@pytest.fixture(params=SMALL)
def small(request: pytest.FixtureRequest) -> ClassSet:
    try:
        root = shared_data()
    except FileNotFoundError as error:
        pytest.skip(f"the arena's data are not here: {error}")
    return load(request.param, root)


@pytest.fixture
def made() -> ClassSet:
    """Three groups, three classes; the class "c" is missing in the group "two"."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(240, 2))
    groups = np.array(["one", "two", "three"] * 80, dtype=object)
    scores = X @ np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]]) + generator.gumbel(size=(240, 3))
    scores[groups == "two", 2] = -np.inf
    y = np.array(["a", "b", "c"], dtype=object)[scores.argmax(axis=1)]
    return ClassSet("made", X, y, groups, ("x0", "x1"))


def task_of(data: ClassSet, split: Split) -> Task:
    X_train, X_test, _ = standardise(data, split)
    groups = data.groups
    return Task(X_train, data.y[split.train], groups[split.train], X_test, groups[split.test])


def test_loaded_sets_are_finite_numbers_and_classes(small: ClassSet) -> None:
    assert small.X.shape == (len(small.y), len(small.columns))
    assert np.isfinite(small.X).all() and (np.ptp(small.X, axis=0) > 0).all()
    assert all(isinstance(name, str) for name in small.y)
    spec = SETS[small.name].table
    assert not {spec.target, *spec.by, *spec.left_out} & set(small.columns)
    assert len(set(small.y)) == (3 if small.name == "school_band" else 2)


def test_loading_twice_gives_the_same(small: ClassSet) -> None:
    again = load(small.name)
    np.testing.assert_array_equal(again.X, small.X)
    np.testing.assert_array_equal(again.y, small.y)


def test_splits_train_every_group(small: ClassSet) -> None:
    train, test = splits(small, 0.1, 0)
    assert sorted([*train, *test]) == list(range(len(small.y)))
    for group in set(small.groups):
        size = int(np.sum(small.groups == group))
        trained = int(np.sum(small.groups[train] == group))
        assert trained == max(1, int(np.floor(0.1 * size + 0.5)))


def test_pooled_beats_the_frequencies_of_the_classes(small: ClassSet) -> None:
    split = splits(small, 0.5, 0)
    task = task_of(small, split)
    pooled = split_error(small, split, PooledLogistic().fit_predict(*task))[0]
    shares = list(class_shares(task.y_train).values())
    chance = split_error(small, split, np.tile(shares, (len(split.test), 1)))[0]
    assert pooled < chance


def test_rules_of_classes() -> None:
    table = pd.DataFrame({"t": [1.0, 2.0, 3.0], "goal": [1.0, 3.0, None], "u": [1, 0, 1]})
    known, y = classes_of(table, "t", Cuts((2.0, 3.0), ("low", "middle", "high")))
    assert known.all() and y.tolist() == ["low", "middle", "high"]
    known, y = classes_of(table, "t", Reached("goal"))
    assert known.tolist() == [True, True, False] and y[:2].tolist() == ["yes", "no"]
    both = table.assign(v=[0, 0, 1])
    known, y = classes_of(both, "u", OneOf(("u", "v"), ("first", "second")))
    assert known.tolist() == [True, False, False] and y[0] == "first"
    assert classes_of(table, "u", Values())[1].tolist() == ["1", "0", "1"]


def test_log_loss_is_that_of_scikit_learn() -> None:
    from sklearn.metrics import log_loss

    generator = np.random.default_rng(1)
    p = generator.dirichlet(np.ones(3), size=50)
    classes = np.array(["a", "b", "c"], dtype=object)
    y = classes[generator.integers(0, 3, 50)]
    ours = log_losses(y, p, classes)
    np.testing.assert_allclose(ours.mean(), log_loss(y, p, labels=classes.tolist()))


def test_a_certain_mistake_costs_the_clip() -> None:
    classes = np.array(["a", "b"], dtype=object)
    loss = log_losses(np.array(["b"], dtype=object), np.array([[1.0, 0.0]]), classes)
    np.testing.assert_allclose(loss, -np.log(SMALLEST), rtol=1e-6)


def test_error_counts_groups_the_same_and_leaves_unseen_classes_out() -> None:
    groups = np.array(["one"] * 4 + ["two"] * 2, dtype=object)
    y = np.array(["a", "b", "a", "new", "b", "b"], dtype=object)
    data = ClassSet("made", np.zeros((6, 1)), y, groups, ("x0",))
    split = Split(np.array([0, 1]), np.array([2, 3, 4, 5]))
    p = np.array([[0.5, 0.5], [0.1, 0.9], [0.75, 0.25], [0.75, 0.25]])
    error, remark = split_error(data, split, p)
    np.testing.assert_allclose(error, (np.log(2) + np.log(4)) / 2)
    assert remark == "1 test rows of classes unseen in training left out"
    assert group_log_loss(np.array([1.0, np.nan]), np.array(["a", "b"])) == 1.0


@pytest.mark.parametrize("name", NEED_NO_RIVAL)
def test_contestants_give_probabilities(made: ClassSet, name: str) -> None:
    split = splits(made, 0.5, 0)
    outcome = compete(CONTESTANTS[name](), task_of(made, split))
    assert outcome.predictions is not None, outcome.note
    assert outcome.predictions.shape == ARENA.shape(made, split) == (len(split.test), 3)
    np.testing.assert_allclose(outcome.predictions.sum(axis=1), 1.0)
    assert (outcome.predictions > 0).all()
    error, note = _error(ARENA, made, split, outcome)
    assert 0 < float(error) < np.log(3)


def test_wrong_shape_is_a_failure(made: ClassSet) -> None:
    split = splits(made, 0.5, 0)
    outcome = Outcome(np.ones((len(split.test), 2)) / 2, 0.0, "")
    error, note = _error(ARENA, made, split, outcome)
    assert error == "" and "shape" in note


def test_a_class_that_a_group_lacks_has_the_weight_of_one_row(made: ClassSet) -> None:
    task = task_of(made, splits(made, 0.5, 0))
    contestant = SeparateLogistic()
    p = contestant.fit_predict(*task)
    two = task.groups_test == "two"
    n = np.sum(task.groups_train == "two")
    np.testing.assert_allclose(p[two, 2], np.mean(task.y_train == "c") / (n + 1))
    assert contestant.note == "1 groups lack a class"


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


def test_the_paper_joins_opposite_groups_as_one_cluster_equal_to_pooled() -> None:
    generator = np.random.default_rng(3)
    X = generator.normal(size=(200, 2))
    groups = np.array(["one", "two"] * 100, dtype=object)
    sign = np.where(groups == "one", 1, -1)
    y = np.where(sign * X[:, 0] + generator.logistic(size=200) > 0, "yes", "no").astype(object)
    task = Task(X[:100], y[:100], groups[:100], X[100:], groups[100:])
    paper = PaperClusters("corrected")
    np.testing.assert_array_equal(paper.fit_predict(*task), PooledLogistic().fit_predict(*task))
    assert paper.note == "1 clusters of 2 groups"


def test_ridge_with_slopes_tells_opposite_groups_apart() -> None:
    generator = np.random.default_rng(4)
    X = generator.normal(size=(400, 1))
    groups = np.array(["one", "two"] * 200, dtype=object)
    sign = np.where(groups == "one", 1, -1)
    y = np.where(sign * X[:, 0] > 0, "yes", "no").astype(object)
    p = RidgeByGroup(slopes=True).fit_predict(X[:200], y[:200], groups[:200], X[200:], groups[200:])
    assert np.mean((p[:, 1] > 0.5) == (y[200:] == "yes")) > 0.95


def test_the_page_tells_failures_from_sets_that_are_not_run() -> None:
    head = {"set": "made", "share": 0.5, "seed": 0, "seconds": 1.0}
    rows = [
        {**head, "contestant": "separate", "error": 0.5, "note": None},
        {**head, "contestant": "pooled", "error": 0.4, "note": None},
        {**head, "contestant": "binary", "error": None, "note": "NotImplementedError: two classes"},
        {**head, "contestant": "broken", "error": None, "note": "ValueError: no"},
    ]
    page = render(score(pd.DataFrame(rows)), page=PAGE)
    assert "| made | 0.5 | pooled | **1.000** | 1.250 |  | failed |" in page
    assert "`broken` on made" in page and "`binary` on made" not in page
    assert "log loss" in page and "MSE" not in page


def test_unknown_set_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="landmine"):
        load("nonsense")
