import numpy as np

from conjoin.criterion import PairScore
from conjoin.paper.greedy import greedy
from tests.helpers import raw_unit


class ByValue:
    """Joins units whose first rows are within one of each other; the closer the better."""

    threshold = 0.0

    def __init__(self):
        self.prepared = []

    def prepare(self, unit, seed):
        self.prepared.append(unit.names)
        return float(unit.t.mean())

    def compare(self, a, b):
        score = 1 - abs(a - b)
        return PairScore(score, score > 0)


def units(values):
    return [raw_unit(name, np.ones((2, 1)), np.full(2, float(v))) for name, v in values.items()]


def test_grows_a_cluster_from_the_first_free_unit():
    found = greedy(ByValue(), units({"a": 0, "b": 5, "c": 0.5, "d": 5.2, "e": 9}), 0)
    assert found.clusters == (("a", "c"), ("b", "d"), ("e",))
    assert [(m.left, m.right, m.joined) for m in found.steps] == [
        (("a",), ("c",), True),
        (("a", "c"), ("b",), False),
        (("b",), ("d",), True),
        (("b", "d"), ("e",), False),
    ]


def test_ties_go_to_the_earlier_unit_and_unions_are_prepared_again():
    criterion = ByValue()
    found = greedy(criterion, units({"a": 0, "b": 0.5, "c": -0.5}), 0)
    assert found.steps[0].right == ("b",)
    assert found.clusters == (("a", "b", "c"),)
    assert ("a", "b") in criterion.prepared


def test_progress_reaches_the_end():
    seen = []
    greedy(ByValue(), units({"a": 0, "b": 5, "c": 0.2}), 0, lambda *step: seen.append(step))
    assert seen[-1] == (3, 3)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_union_does_not_depend_on_the_order_of_the_two():
    a, b = units({"a": 0, "b": 1})
    assert a.union(b).names == b.union(a).names == ("a", "b")
    assert (a.union(b).t == b.union(a).t).all()
