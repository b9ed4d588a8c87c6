import numpy as np

from conjoin.sites.marks import find_marks
from tests.sites.rows import flag


def test_values_of_columns_with_up_to_three_are_groups():
    values = np.column_stack([flag(30, 12), np.arange(30) % 3, np.arange(30) % 4])
    marks = find_marks(values.T, ["smoker", "stage", "vessels"], ["smoker", "stage", "vessels"])
    assert marks.labels == ("smoker = 0", "smoker = 1", "stage = 0", "stage = 1", "stage = 2")
    counts = marks.counts(np.arange(30))
    assert np.diag(counts).tolist() == [18, 12, 10, 10, 10]
    assert counts[1, 2] == np.sum((values[:, 0] == 1) & (values[:, 1] == 0))


def test_the_unusual_values_of_a_mostly_constant_column_are_a_group():
    income = np.zeros(40)
    income[:9] = 1 + np.arange(9)
    marks = find_marks([income], ["income"], ["income"])
    assert marks.labels == ("income other than 0",)
    assert marks.rows.sum() == 9


def test_a_rare_value_in_a_long_column_is_found():
    column = np.zeros(200_000)
    column[123_457] = 5.0  # not among the rows that are glanced at
    assert find_marks([column], ["x"], ["x"]).rows.sum(axis=0).tolist() == [199_999, 1]


def test_columns_with_many_values_are_no_groups():
    rng = np.random.default_rng(0)
    assert find_marks(rng.normal(size=(2, 5000)), ["a", "b"], ["a", "b"]).labels == ()


def test_levels_and_their_reference_exclude_each_other_but_two_flags_cross():
    levels = np.column_stack([flag(40, 12), flag(40, 13, 12)])
    values = np.column_stack([levels, flag(40, 20, 5)])
    marks = find_marks(values.T, ["ward=B", "ward=C", "smoker"], ["ward", "ward", "smoker"])
    few = marks.too_few(marks.counts(np.arange(40)), 11, zeros=False)
    named = {(marks.labels[a], marks.labels[b]) for a, b in zip(*np.nonzero(few))}
    assert ("ward=B", "ward=C") not in named
    assert ("ward=B", "smoker = 1") in named
    assert ("smoker = 1", "ward = reference category") in named


def test_zero_is_too_few_only_where_both_groups_have_rows():
    values = np.column_stack([flag(40, 20), flag(40, 20, 20), np.zeros(40)])
    marks = find_marks(values.T, ["a", "b", "c"], ["a", "b", "c"])
    counts = marks.counts(np.arange(40))
    assert not marks.too_few(counts, 11, zeros=True).any()
    assert marks.too_few(counts, 11, zeros=False).sum() == 4  # a=0 with b=0, a=1 with b=1, twice
