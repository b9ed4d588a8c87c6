"""Units, names and the order of columns change no decision and no error; copies leak nothing."""

import numpy as np
import pandas as pd
import pytest

import conjoin
from benchmarks.arena.data import shared_data

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")

# Folder and file, target, column of datasets; at most so many rows are taken.
REAL = {
    "radon": ("radon-minnesota/radon_minnesota.csv", "log.radon", "county.name"),
    "sleepstudy": ("sleepstudy/sleepstudy.csv", "Reaction", "Subject"),
    "wine": ("wine-quality/wine_quality.csv.gz", "quality", "color"),
    "diamonds": ("diamonds/diamonds.csv.gz", "price", "cut"),
    "school": ("school-ilea/school_ilea.csv.gz", "exam_score", "school"),
}
MOST_ROWS = 1500
# What the issue allows, relative to the error.
CLOSE = 1e-6


def synthetic(kind, seed=0):
    rng = np.random.default_rng(seed)
    K, n = 6, 60
    X = rng.standard_normal((K * n, 4))
    if kind == "skewed":
        X = np.exp(X)
    if kind == "flags":
        X = (rng.random(X.shape) < [0.5, 0.4, 0.2, 0.1]).astype(float)
    g = np.repeat(np.arange(K), n)
    slopes = rng.standard_normal((2, 4))[g % 2]
    y = (X * slopes).sum(axis=1) + rng.standard_normal(K * n)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    return frame.assign(y=y, g=[f"set {k}" for k in g]), "y", "g"


def real(name):
    path, target, by = REAL[name]
    try:
        file = shared_data() / "bench" / path
    except FileNotFoundError as error:
        pytest.skip(str(error))
    if not file.exists():
        pytest.skip(f"{file} is not there")
    frame = pd.read_csv(file)
    if name == "radon":
        frame = frame.drop(columns="county")  # a number for each dataset
    if name == "school":
        frame = frame[frame["school"] <= 15]  # of 139, which take long
    if len(frame) > MOST_ROWS:
        frame = frame.sample(MOST_ROWS, random_state=0)
    return frame.assign(**{by: frame[by].astype(str)}), target, by


def figures(frame, target, by):
    """Clusters, verdicts and errors of a partition."""
    found = conjoin.partition(frame, target=target, by=by)
    lines = [(line.left, line.right, line.verdict) for line in found.ledger()]
    return found.clusters, lines, {name: e.error for name, e in found.errors.items()}


def assert_same(found, expected):
    assert found[0] == expected[0]
    assert found[1] == expected[1]
    for name, error in expected[2].items():
        assert found[2][name] == pytest.approx(error, rel=CLOSE), name


def assert_invariant(frame, target, by):
    expected = figures(frame, target, by)
    rng = np.random.default_rng(0)
    numbers = [c for c in frame.select_dtypes("number").columns if c not in (target, by)]
    shifted = frame.astype(dict.fromkeys(numbers, float))
    scaled = shifted.copy()
    # A shift of 1,000 spreads costs three of sixteen digits, whatever the unit of the column.
    shifted[numbers] += 1000 * frame[numbers].std()
    scaled[numbers] *= rng.uniform(0.01, 100, len(numbers))
    assert_same(figures(shifted, target, by), expected)
    assert_same(figures(scaled, target, by), expected)
    features = [c for c in frame.columns if c not in (target, by)]
    names = {c: f"column {len(features) - j}" for j, c in enumerate(features)}
    renamed = frame.rename(columns={**names, target: "the target", by: "the datasets"})
    assert_same(figures(renamed, "the target", "the datasets"), expected)
    assert_same(figures(frame[[by, *rng.permutation(features), target]], target, by), expected)
    assert_same(figures(frame.sample(frac=1, random_state=1), target, by), expected)


@pytest.mark.parametrize("kind", ["normal", "skewed", "flags"])
def test_synthetic_tables(kind):
    assert_invariant(*synthetic(kind))


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tables(name):
    assert_invariant(*real(name))


def test_a_constant_of_a_million_on_every_column():
    frame, target, by = synthetic("normal")
    shifted = frame.copy()
    shifted[["a", "b", "c", "d"]] += 2.0**20
    assert_same(figures(shifted, target, by), figures(frame, target, by))


def draw(slopes, rows, rng):
    """Draw rows of datasets with given slopes (K, 5)."""
    g = np.repeat(np.arange(len(slopes)), rows)
    X = rng.standard_normal((len(g), 5))
    y = (X * slopes[g]).sum(axis=1) + rng.standard_normal(len(g))
    return pd.DataFrame(X, columns=list("abcde")).assign(y=y, g=[f"set {k}" for k in g])


@pytest.mark.slow
def test_rows_given_five_times_have_the_error_of_later_rows():
    claimed, realised = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        slopes = rng.standard_normal((4, 5))
        known, new = draw(slopes, 20, rng), draw(slopes, 500, rng)
        found = conjoin.partition(pd.concat([known] * 5), target="y", by="g")
        assert found.analysis.copies == 4 * len(known)
        claimed.append(found.errors["auto"].error)
        realised.append(np.mean((new["y"] - found.predict(new)) ** 2))
    assert np.mean(claimed) == pytest.approx(np.mean(realised), rel=0.1)
