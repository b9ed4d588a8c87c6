"""Datasets that their clusters harm leave them."""

import numpy as np

from conjoin.criterion.paired import PairedVerdict
from conjoin.engine.learner_sound import _Among, _is_harmed, _suspects
from conjoin.grouping.refine import refine

GOOD = PairedVerdict("join", 1.0, (0.5, 1.5), 50.0, 0.2)
ROWS, NEAR = np.full(6, 80.0), np.arange(6.0)[:, None]
HARM = PairedVerdict("apart", -1.0, (-1.5, -0.5), 50.0, 0.2)


class Told:
    """A judge that knows the law of each dataset, and nothing of dataset 5."""

    laws = (0, 0, 1, 1, 2, 2)

    def on_pairs(self, pairs):
        def one(left, right):
            if 5 in (*left, *right):
                return None
            return GOOD if len({self.laws[k] for k in (*left, *right)}) == 1 else HARM

        return [one(left, right) for left, right in pairs]


def test_a_dataset_is_suspected_if_its_own_model_is_better_beyond_chance():
    rng = np.random.default_rng(0)
    dataset = np.repeat(np.arange(4), 100)
    falls = rng.normal(np.array([0.5, -0.5, 0.5, -0.5])[dataset], 1.0)
    each = [(k,) for k in range(4)]
    assert _suspects(falls, dataset, np.array([0, 0, 0, 1]), each) == [(1,)]  # 3 is alone
    assert _suspects(falls * 1e200, dataset, np.zeros(4, dtype=int), each) == [(1,), (3,)]


def test_a_group_is_suspected_where_none_of_its_datasets_is():
    """Each is better alone by 0.8 standard errors, four together by 1.6."""
    dataset = np.repeat(np.arange(8), 100)
    noise = np.tile(np.repeat([-1.0, 1.0], 50), 8)
    falls = noise + np.where(dataset < 4, -0.08, 0.08)
    labels, each = np.zeros(8, dtype=int), [(k,) for k in range(8)]
    group = (0, 1, 2, 3)
    assert _suspects(falls, dataset, labels, each) == []
    assert _suspects(falls, dataset, labels, [*each, group, (4, 5, 6, 7)]) == [group]
    assert _suspects(falls, dataset, np.repeat([0, 1], 4), [group]) == []  # a whole cluster


def test_where_cross_validation_takes_too_long_models_in_use_say_what_does_harm():
    class Busy:
        def on_pairs(self, pairs):
            return [None]

        def in_use(self, one, rest):
            return HARM if (one, rest) == ((0, 1), (2, 3)) else GOOD

    labels = np.array([0, 0, 0, 0, 1])
    assert _is_harmed((0, 1), labels, Busy())
    assert not _is_harmed((0,), labels, Busy())


def test_datasets_that_left_are_joined_where_that_is_sound():
    tree = [((0,), (2,)), ((1,), (3,)), ((0, 2), (1, 3)), ((4,), (5,)), ((0, 1, 2, 3), (4, 5))]
    labels = np.array([0, 0, 0, 0, 1, 1])
    ask = _Among(Told(), frozenset(range(4)))
    found = refine(labels, ROWS, tree, NEAR, ask.changes, ask.apart)
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2]  # joins of others stay as they are
    assert found.joins == (((0,), (1,)), ((2,), (3,)), ((4,), (5,)))


def test_joins_that_cannot_be_judged_are_not_made():
    ask = _Among(Told(), frozenset(range(6)))
    tree = [((0,), (1,)), ((0, 1), (5,))]
    found = refine(np.array([0, 0, 1, 2, 3, 0]), ROWS, tree, NEAR, ask.changes, ask.apart)
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 3]  # 5 has the law of 4, which nobody knows
