"""Every fault that the campaign of random hostile cases found, by name, as its smallest case.

`test_random.py` tries random cases, `make campaign` many more. What they find becomes a named case
here, made small by `tests.campaign.shrink`.
"""

from dataclasses import replace

import pytest

from tests.campaign.cases import LONG_STEPS, STEPS, Case, draw
from tests.campaign.promise import Outcome, try_case
from tests.campaign.shrink import shrink

EVERY_STEP = tuple(dict.fromkeys((*STEPS, *LONG_STEPS)))


def _old(**fields) -> Case:
    """Return a case of the first campaign: three folds, and every step."""
    return Case(**{"folds": 3, "steps": EVERY_STEP, **fields})


# Every fault that was found, as its smallest case. The first ones ask for everything.
FOUND = {
    "target so small that residuals times infinity are not a number": _old(
        face="regressor", rows=1, ragged=True, target_power=-100, method="bic", strategy="full"
    ),
    "spread over a residual of zero": _old(
        seed=7, face="regressor", rows=8, columns=("normal", "normal"), quirk="wild", folds=2
    ),
    "gain without bound where a dataset has hardly more rows than columns": _old(
        seed=111, face="compare", rows=3, columns=("normal", "normal")
    ),
    "exact fits leave no noise for Chow's test": _old(
        seed=11, datasets=3, rows=8, columns=("wild pair",), quirk="exact", method="chow"
    ),
    "gains beyond the numbers of four bytes": _old(
        seed=98, datasets=3, rows=5, quirk="mixed scales", folds=5
    ),
    "subnormal column beside classes": _old(
        seed=44, datasets=3, rows=5, columns=("subnormal", "normal"), target="boolean"
    ),
    "weights from 1e-300 to 1e300": _old(seed=38, rows=5, target="classes", weights="extreme"),
    "weights that are missing, in an estimator": _old(
        seed=31, face="classifier", rows=5, target="classes", weights="missing"
    ),
    "infinite target, in an estimator": _old(seed=27, face="regressor", quirk="infinite"),
    "fourth powers of residuals of 1e140": _old(
        seed=138, ragged=True, columns=("normal",) * 4, quirk="wild", folds=2, robust=True
    ),
    "counts up to 2^53": _old(seed=8, face="compare", rows=12, target="count", quirk="wild"),
    "new rows so far away that rounding makes a matrix singular": Case(
        seed=11, datasets=3, rows=12, columns=("wild pair",), steps=("assign",)
    ),
    "new rows farther away than squares can hold": Case(
        seed=1125,
        datasets=3,
        columns=("normal", "wild"),
        quirk="exact",
        robust=True,
        steps=("assign",),
    ),
    "sizes of a verdict's law that cannot be squared": Case(
        seed=7013,
        face="compare",
        quirk="rare",
        method="direct",
        verdict="gaussian",
        intercept=False,
    ),
    "one fold in time": Case(
        seed=1064, face="classifier", rows=2, ragged=True, target="boolean", time=True
    ),
    "no held-out rows in time, for the method validated": Case(
        seed=1030, rows=2, ragged=True, columns=("flag",), method="validated", time=True
    ),
    "no held-out rows in time, for the method risk": Case(
        seed=1256, rows=1, columns=("square", "normal"), quirk="wild", method="risk", time=True
    ),
    "a cluster of k-means that is empty": Case(
        seed=409,
        datasets=5,
        rows=8,
        columns=("alternating", "missing"),
        column_powers=(2, 20),
        quirk="wild",
        target_power=-12,
        method="kmeans",
        intercept=False,
    ),
    "eigenvalues of an interval that cannot be squared": Case(
        seed=428,
        face="regressor",
        ragged=True,
        columns=("normal", "normal"),
        column_powers=(-5, -4),
        quirk="mixed scales",
        weights="lognormal",
        verdict="gaussian",
        weigh_by="rows",
        intercept=False,
    ),
    "an intercept of a slope of 1e140 and an offset of 1e15, in a file": Case(
        seed=535,
        datasets=3,
        rows=5,
        columns=("normal", "offset"),
        quirk="wild",
        time=True,
        steps=("load",),
    ),
    "no held-out rows in time, for joins, frames and the page": Case(
        seed=1424,
        datasets=3,
        rows=3,
        ragged=True,
        target="boolean",
        weights="lognormal",
        time=True,
        steps=("frames", "ledger", "report"),
    ),
    "no rows outside a fold, for k-means": Case(seed=952, rows=2, method="kmeans", folds=5),
    "half a character in the name of a column": Case(seed=2195, rows=1, column_names=("\ud800",)),
    "a column named NUL of a lazy frame of Polars": Case(
        seed=5077, face="compare", container="lazy", rows=6, column_names=("\0",)
    ),
    "neighbours in time that move against each other": Case(
        seed=5876,
        rows=3,
        columns=("normal", "normal"),
        target="boolean",
        quirk="wild",
        weights="lognormal",
        strategy="full",
        weigh_by="rows",
        time=True,
        steps=("predict", "assign", "ledger"),
    ),
    "a mean of counts that is zero": Case(
        seed=775,
        rows=2,
        columns=("lognormal",),
        target="count",
        quirk="rare",
        intercept=False,
    ),
    "a learner and two folds: no row is outside both": Case(
        seed=130, datasets=3, target="count", learner="tree"
    ),
    "means of datasets beyond single precision, for trees of scikit-learn": Case(
        seed=870, datasets=3, rows=30, columns=("nearly copy",), quirk="wild", learner="tree"
    ),
    "a class with fewer rows than the folds of an encoder": Case(
        seed=1800, rows=30, columns=("one dataset only",), target="boolean", learner="tree"
    ),
    "rows of classes so certain that the inverse of their information is no double": Case(
        seed=635,
        rows=1,
        columns=("normal", "normal", "normal"),
        target="classes",
        weights="one heavy",
        intercept=False,
    ),
    "rows of classes so certain that k-means has no coefficients": Case(
        seed=2264,
        rows=1,
        target="classes",
        quirk="rare",
        weights="one heavy",
        method="kmeans",
        intercept=False,
        time=True,
    ),
    "squares of a column, which cannot be squared again": Case(
        seed=1077, datasets=3, rows=1, columns=("wild pair",), features="squares"
    ),
    "a variance of zero times a factor without bound": Case(
        seed=3609,
        datasets=3,
        rows=1,
        columns=("wild pair",),
        method="kmeans",
        verdict="gaussian",
        intercept=False,
    ),
    "a date of another type, beside a column that new rows lack": Case(
        seed=6598, container="csv", datasets=3, rows=8, columns=("zero",), time=True
    ),
    "losses of a ridge on a column of 1e140, which have no squares": Case(
        seed=22700,
        datasets=5,
        rows=12,
        columns=("wild",),
        weights="lognormal",
        learner="ridge",
        weigh_by="rows",
        steps=("predict",),
    ),
    "two of four classes in the training rows of a tree": Case(
        seed=22750, datasets=5, rows=12, target="classes", learner="tree"
    ),
    "a mean of values near the largest double": Case(
        seed=1392, rows=1, columns=("mixed scales",), column_powers=(224,)
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_found_faults_are_mended(name):
    outcome = try_case(FOUND[name])
    assert outcome.kept, outcome


def test_a_case_is_the_same_whenever_it_is_drawn():
    assert draw(17) == draw(17) != draw(18)
    assert str(Case(rows=3, target="count")) == "Case(rows=3, target='count')"


def test_shrinking_keeps_what_fails():
    wide = replace(draw(3), datasets=6, rows=40, columns=("flag", "wild"), target="count")
    small = shrink(wide, lambda case: "wild" in case.columns and case.target == "count")
    assert small == Case(
        seed=wide.seed, datasets=2, rows=1, columns=("wild",), target="count",
        column_powers=small.column_powers,
    )  # fmt: skip


def test_faults_are_told_apart_by_kind_and_place():
    assert Outcome("refused").kept and Outcome("result").kept
    assert not Outcome("LinAlgError", "linalg.py:1").kept
    assert Outcome("hang", "x", "1").signature == Outcome("hang", "x", "2").signature
