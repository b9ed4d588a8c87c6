import numpy as np

from conjoin.families import Response
from conjoin.learners.rows import LearnerRows, centred, group_count, lines_of, position_of

NUMBERS = Response()


def rows_of(n, response=NUMBERS):
    X = np.arange(2.0 * n).reshape(n, 2)
    return LearnerRows(
        X, np.arange(n), np.ones(n), np.arange(n) % 3, 3, ("a", "b"), (), response, named=False
    )


def test_rows_are_taken_by_number_and_by_mask():
    rows = rows_of(6)
    for own in ([1, 4], np.isin(np.arange(6), [1, 4])):
        part = rows.take(own)
        assert len(part) == 2
        assert part.X.tolist() == [[2, 3], [8, 9]]
        assert part.y.tolist() == [1, 4] and part.dataset.tolist() == [1, 1]
        assert (part.datasets, part.names, part.named) == (3, ("a", "b"), False)


def test_lines_are_one_or_one_for_each_class():
    for classes, lines in (((), 1), (("a", "b"), 1), (("a", "b", "c"), 3)):
        response = Response("logistic" if classes else "gaussian", classes)
        assert lines_of(response) == rows_of(2, response).lines == lines


def test_groups_are_counted_from_zero():
    assert group_count(np.array([0, 2, 1])) == 3
    assert group_count(np.array([], dtype=int)) == 0


def test_scores_of_classes_sum_to_zero():
    scores = np.array([[1.0, 2.0, 6.0]])
    assert centred(scores).tolist() == [[-2, -1, 3]]
    assert centred(scores[:, :1]).tolist() == [[1]]


def test_the_same_object_has_one_position():
    objects, one, other = [], [1], [1]
    assert [position_of(thing, objects) for thing in (one, other, one)] == [0, 1, 0]
    assert objects[0] is one and objects[1] is other
