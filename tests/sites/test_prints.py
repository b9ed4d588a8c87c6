from dataclasses import replace

import numpy as np
import pytest

from conjoin.sites.prints import buckets_for, differing, hash_rows, take_column_prints, take_prints
from tests.sites.rows import flag, leaving

SECRET = bytes(range(32))
RNG = np.random.default_rng(0)
ROWS = leaving({"x": RNG.normal(size=300), "flag": flag(300, 120)}, RNG.normal(size=300), folds=2)


def prints(rows, secret=SECRET):
    return take_prints(rows, hash_rows((*rows.X.T, rows.y), secret, 128), secret)


def test_all_sets_that_leave_have_a_print():
    names = [one.name for one in prints(ROWS)]
    assert names == [
        f"{where}{label}"
        for where in ("all rows", "fold 1 of dataset 'ward 1'", "fold 2 of dataset 'ward 1'")
        for label in ("", " with flag = 0", " with flag = 1")
    ]


def test_the_order_of_rows_does_not_matter_but_the_secret_does():
    shuffled = ROWS.chosen(RNG.permutation(300))
    assert np.all(np.diag(differing(prints(ROWS), prints(shuffled))) == 0)
    other = differing(prints(ROWS), prints(ROWS, bytes(32)))
    assert other.min() > 120


@pytest.mark.parametrize("rows", [1, 5, 10])
def test_sets_never_seem_to_differ_in_more_rows_than_they_do(rows):
    for seed in range(10):
        gone = np.random.default_rng(seed).choice(300, rows, replace=False)
        fewer = ROWS.chosen(np.setdiff1d(np.arange(300), gone))
        count = int(differing(prints(ROWS)[:1], prints(fewer)[:1])[0, 0])
        assert 0 < count <= rows


def test_sets_that_differ_in_somewhat_more_rows_are_seen_to():
    enough = 0
    for seed in range(100):
        gone = np.random.default_rng(seed).choice(300, 13, replace=False)
        fewer = ROWS.chosen(np.setdiff1d(np.arange(300), gone))
        enough += differing(prints(ROWS)[:1], prints(fewer)[:1])[0, 0] >= 11
    assert enough >= 90


def test_copies_of_a_row_count():
    twice = ROWS.chosen(np.append(np.arange(300), 7))
    assert differing(prints(ROWS)[:1], prints(twice)[:1])[0, 0] == 1


def test_prints_look_like_random_numbers_without_the_secret():
    few = leaving({"x": np.zeros(3)}, np.zeros(3))  # three equal rows: one bucket is in use
    hashed = hash_rows((*few.X.T, few.y), SECRET, buckets_for(100))
    digests = take_prints(few, hashed, SECRET)[0].digests
    assert len(np.unique(digests)) == len(digests) == 1024
    bits = np.unpackbits(digests.view(np.uint8))
    assert abs(bits.mean() - 0.5) < 4 * 0.5 / np.sqrt(len(bits))


@pytest.mark.parametrize("changed", [0, 1, 4])
def test_columns_differ_in_the_rows_whose_values_do_whatever_their_names(changed):
    hashed = hash_rows((*ROWS.X.T, ROWS.y), SECRET, 128)
    other = replace(ROWS, names=("z", "flag"), X=ROWS.X.copy())
    other.X[:changed, 0] += 1.0
    old, new = (take_column_prints(rows, hashed, SECRET) for rows in (ROWS, other))
    assert [one.label for one in old[::3]] == ["x", "flag", "cost"]  # all rows and two folds each
    count = np.diag(differing(new, old))
    assert (count[0] > 0) == (changed > 0) and count[0] <= changed
    assert count[0] <= count[1] + count[2] <= changed  # the folds
    assert not count[3:].any()
    assert differing(new[:1], old)[0, 3:].min() > 50  # other columns
