import numpy as np

from conjoin.learners.boosting import Boosting
from conjoin.learners.moves import cluster_losses, moved_labels
from conjoin.learners.rows import LearnerRows

LEARNER = Boosting(rounds=40, leaves=8, shape="small")
SETTINGS = LEARNER._settings("small", 40)


def two_laws(n=100, datasets=6):
    rng = np.random.default_rng(0)
    dataset = np.repeat(np.arange(datasets), n)
    X = rng.uniform(-2, 2, size=(n * datasets, 2))
    y = np.where(dataset % 2, np.sin(3 * X[:, 0]), np.abs(X[:, 1]))
    y = y + rng.normal(0, 0.2, len(y))
    return LearnerRows(X, y, np.ones(len(y)), dataset, datasets, ("a", "b"), ())


def test_a_dataset_in_the_wrong_cluster_moves():
    rows = two_laws()
    group = np.arange(len(rows)) % 5
    wrong = np.array([0, 1, 0, 1, 0, 0])
    assert moved_labels(LEARNER, rows, group, wrong, SETTINGS)[0].tolist() == [0, 1, 0, 1, 0, 1]


def test_a_right_partition_stays():
    rows = two_laws()
    group = np.arange(len(rows)) % 5
    right = np.array([0, 1, 0, 1, 0, 1])
    assert moved_labels(LEARNER, rows, group, right, SETTINGS)[0].tolist() == right.tolist()


def test_nobody_moves_into_a_cluster_without_enough_rows():
    rows = two_laws(n=30)
    group = np.arange(len(rows)) % 5
    losses = cluster_losses(LEARNER, rows, group, np.array([0, 1, 0, 0, 0, 0]), SETTINGS)
    assert np.isinf(losses[rows.dataset != 1, 1]).all()
    assert np.all(losses[rows.dataset == 1, 1] == 0)
