import numpy as np

from conjoin.sites.check import check
from conjoin.sites.mending import mend
from conjoin.sites.rules import Rules
from tests.sites.rows import flag, leaving

RNG = np.random.default_rng(1)


def test_nothing_is_done_where_nothing_is_found():
    rows = leaving({"x": RNG.normal(size=500)}, RNG.normal(size=500), folds=10)
    done = mend(rows, Rules())
    assert done.steps == () and done.findings == () and done.folds == (10,)
    assert np.array_equal(done.leaving.X, rows.X)
    assert np.array_equal(done.leaving.fold, rows.fold)


def test_rare_levels_join_the_other_ones():
    n = 400
    levels = {
        "ward=B": flag(n, 100),
        "ward=C": flag(n, 7, 100),
        "ward=D": flag(n, 6, 107),
        "ward=(other)": flag(n, 5, 113),
    }
    done = mend(leaving(levels, RNG.normal(size=n)), Rules())
    assert done.findings == ()
    other = done.leaving.X[:, 3]
    assert other.sum() == 5 + 6 + 7
    assert done.leaving.X.sum() == sum(v.sum() for v in levels.values())
    assert done.steps == ("Dataset 'ward 1': merged ward=D, ward=C into ward=(other).",)


def test_an_other_level_that_stays_rare_joins_the_reference():
    n = 100
    levels = {"ward=B": flag(n, 40), "ward=(other)": flag(n, 5, 40)}
    done = mend(leaving(levels, RNG.normal(size=n)), Rules())
    assert done.findings == ()
    assert done.merged == (("ward 1", ("ward=(other)",)),)
    assert done.leaving.X.sum(axis=0).tolist() == [40, 0]


def test_a_rare_reference_takes_in_a_level():
    n = 100
    levels = {"ward=B": flag(n, 60), "ward=C": flag(n, 35, 60)}
    done = mend(leaving(levels, RNG.normal(size=n)), Rules())
    assert done.findings == ()
    assert done.leaving.X.sum(axis=0).tolist() == [60, 0]


def test_flags_are_not_merged():
    done = mend(leaving({"smoker": flag(100, 3)}, RNG.normal(size=100)), Rules())
    assert [f.rule for f in done.findings] == ["level"]
    assert not done.findings[0].merge
    assert done.steps == ()


def test_folds_go_down_to_five_to_two_and_to_none():
    for rows, folds in [(1200, 10), (560, 5), (250, 2), (200, 1)]:
        # A tenth of the rows smoke, dealt evenly to folds.
        smoker = (np.arange(rows) // 10 % 10 == 0).astype(float)
        done = mend(leaving({"smoker": smoker}, RNG.normal(size=rows), folds=10), Rules())
        assert done.findings == ()
        assert done.folds == (folds,), (rows, done.folds)
        assert len(np.unique(done.leaving.fold)) == folds


def test_datasets_are_mended_one_by_one():
    n = 440
    dataset = (np.arange(n) >= 400).astype(int)
    rows = leaving({"x": RNG.normal(size=n)}, RNG.normal(size=n), folds=10, dataset=dataset)
    done = mend(rows, Rules())
    assert done.folds == (10, 2)
    assert done.findings == check(done.leaving, Rules()) == ()


def test_of_two_levels_that_cross_in_few_rows_the_rarer_is_merged():
    n = 400
    male = (np.arange(n) % 2 == 0).astype(float)
    levels = {
        "ward=C": flag(n, 16),  # 8 rows cross with each sex
        "ward=(other)": np.zeros(n),
        "sex=m": male,
        "sex=(other)": np.zeros(n),
    }
    done = mend(leaving(levels, RNG.normal(size=n)), Rules())
    assert done.findings == ()
    assert np.array_equal(done.leaving.X[:, 2], male)
    step = "merged ward=(other), ward=C into the reference category."
    assert done.steps == (f"Dataset 'ward 1': {step}",)
