"""Level and power of verdicts on classes, over many simulated pairs of datasets.

The gain is that of maximum likelihood: the expected log loss on new rows of each dataset's own fit,
minus that of the joint fit. It has no formula. So the distance between coefficients at which it is
zero was found once by simulation; `python -m tests.statistical.test_classification_levels` finds it
again. The gains of pairs just below and above that distance are simulated here. All pairs of a
setting are judged together, as the datasets of one collection.
"""

from dataclasses import dataclass

import numpy as np
import pytest

import conjoin
from conjoin.criterion.judge import Judge
from conjoin.models.backing import FEWEST_ROWS
from conjoin.models.glm import fit_many
from conjoin.models.glm_families import BERNOULLI, multinomial, probabilities
from conjoin.models.likelihood import Likelihood
from conjoin.models.padded_rows import SortedRows

DELTA = 0.1
PAIRS = 800  # of each setting: the standard error of a rate near 0.1 is then 0.011
NEW_ROWS = 2000  # on which the log loss of a fit is averaged
RIDGE = 1e-3  # so small that it matters only for separable data, whose fits would be infinite
# Share of the distance without gain by which pairs are nearer or farther: small, so that the test
# is hard, and large enough for the simulated gains to have the right sign, which the tests check.
BESIDE = 0.04


@dataclass(frozen=True)
class Setting:
    """Two datasets of n rows with p coefficients for each class contrast, the intercept included.

    `rate` is the share of the last class, `strength` the length of the slopes. Coefficients differ
    along `way`: in "any" direction, "along" the slopes, or in the "level", the intercept. At the
    distance `root` joining gains nothing.
    """

    p: int
    n: tuple[int, int]
    rate: float = 0.5
    strength: float = 1.0
    way: str = "any"
    classes: int = 2
    root: float = 0.0

    def __str__(self):
        parts = [f"p={self.p}", f"n={self.n[0]}/{self.n[1]}", f"rate={self.rate}"]
        return " ".join([*parts, f"strength={self.strength}", self.way, f"C={self.classes}"])

    @property
    def family(self):
        return BERNOULLI if self.classes == 2 else multinomial(self.classes)

    def truths(self, distance):
        """Coefficients (P,) of both datasets."""
        rng, m = np.random.default_rng(self.p), self.family.m
        slopes = rng.standard_normal((self.p - 1, m))
        slopes *= self.strength / np.linalg.norm(slopes)
        # Slopes of length s pull rates towards one half, as if the intercept were divided by about
        # sqrt(1 + s^2 / 3); the intercept is multiplied by as much.
        odds = np.log(self.rate / (1 - self.rate)) if m == 1 else np.log(self.rate * self.classes)
        level = np.zeros(m)
        level[-1] = odds * np.sqrt(1 + self.strength**2 / 3)
        middle = np.vstack([level, slopes])
        if self.way == "any":
            way = rng.standard_normal((self.p, m))
        elif self.way == "along":
            way = np.vstack([np.zeros(m), slopes])
        else:
            way = np.vstack([np.ones(m), np.zeros_like(slopes)])
        way *= distance / 2 / np.linalg.norm(way)
        return [(middle + sign * way).ravel() for sign in (1, -1)]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Pairs drawn from a setting: design (pairs, n, p) and target (pairs, n) of each side."""

    setting: Setting
    truths: list
    X: list
    y: list

    @classmethod
    def of(cls, setting, distance, pairs=PAIRS, seed=0):
        rng, truths, X, y = np.random.default_rng(seed), setting.truths(distance), [], []
        for n, beta in zip(setting.n, truths):
            x = rng.standard_normal((pairs, n, setting.p))
            x[..., 0] = 1.0
            X.append(x)
            upto = np.cumsum(true_probabilities(setting.family, x, beta), axis=-1)[..., :-1]
            y.append((rng.random((pairs, n, 1)) > upto).sum(axis=-1).astype(float))
        return cls(setting, truths, X, y)

    def gains(self):
        """Gain (pairs,) of the joint fit of each pair on new rows."""
        joint = self._fit(np.concatenate(self.X, axis=1), np.concatenate(self.y, axis=1))
        T = np.random.default_rng(1).standard_normal((NEW_ROWS, self.setting.p))
        T[:, 0] = 1.0
        total = np.zeros(len(joint))
        for x, y, truth in zip(self.X, self.y, self.truths):
            chance = true_probabilities(self.setting.family, T, truth)
            total += loss(self.setting.family, T, self._fit(x, y), chance)
            total -= loss(self.setting.family, T, joint, chance)
        return total / 2

    def _fit(self, X, y):
        pairs, n, p = X.shape
        family, starts = self.setting.family, np.arange(pairs + 1) * n
        ridge = np.full(p * family.m, RIDGE)
        rows = X.reshape(-1, p), y.ravel(), np.ones(y.size)
        return fit_many(SortedRows(*rows, starts), family, ridge).beta

    def judge(self):
        """A judge of all datasets as one collection; pair i is datasets 2i and 2i + 1."""
        pairs, p = len(self.X[0]), self.setting.p
        Z = np.concatenate([x[i] for i in range(pairs) for x in self.X])
        y = np.concatenate([y[i] for i in range(pairs) for y in self.y])
        starts = np.concatenate([[0], np.cumsum(self.setting.n * pairs)])
        fold = np.zeros(len(y), dtype=int)
        rows = SortedRows(Z, y, np.ones(len(y)), starts)
        given = Likelihood.of(rows, fold, 1, self.setting.family)
        assert given.moments.p == p * self.setting.family.m
        return Judge.of(*given.own()[:2])

    def verdicts(self, delta=DELTA):
        pairs = [((2 * i,), (2 * i + 1,)) for i in range(len(self.X[0]))]
        return np.array(self.judge().verdicts(pairs, delta=delta, interval=False)[0])


def true_probabilities(family, X, beta):
    """Probabilities (..., C) of each class at rows X (..., p)."""
    eta = X @ beta.reshape(*beta.shape[:-1], -1, family.m)
    return probabilities(family, eta[..., 0] if family.m == 1 else eta)


def loss(family, T, beta, chance):
    """Log loss (pairs,) of coefficients (pairs, P), given true probabilities `chance` (rows, C)."""
    if family.m == 1:
        eta = T @ beta.T
        return np.mean(np.logaddexp(0.0, eta) - chance[:, 1:] * eta, axis=0)
    parts = [
        -np.mean(np.sum(chance * np.log(true_probabilities(family, T, some)), axis=2), axis=1)
        for some in np.array_split(beta, 8)
    ]
    return np.concatenate(parts)


SETTINGS = [
    Setting(3, (30, 30), root=1.616),
    Setting(3, (60, 60), 0.3, 2.0, root=1.137),
    Setting(3, (30, 300), way="level", root=0.958),
    Setting(5, (50, 50), root=1.412),
    Setting(5, (50, 500), root=0.951),
    Setting(5, (100, 100), 0.3, way="level", root=0.873),
    Setting(5, (200, 200), 0.1, root=0.717),
    Setting(5, (400, 400), 0.05, root=0.646),
    Setting(10, (100, 100), root=1.368),
    Setting(10, (100, 100), way="along", root=1.531),
    Setting(10, (100, 100), 0.5, 3.0, root=2.487),
    Setting(10, (100, 1000), 0.3, root=1.000),
    Setting(10, (300, 300), 0.1, way="along", root=0.925),
    Setting(10, (600, 600), 0.05, root=0.960),
    Setting(20, (200, 200), root=1.293),
    Setting(20, (200, 600), 0.3, root=1.069),
    Setting(20, (500, 500), 0.1, root=1.109),
    Setting(4, (40, 40), 1 / 3, classes=3, root=2.130),
    Setting(4, (100, 300), 0.1, classes=3, root=0.830),
]
# Seven rows of the rare class on the smaller side, and ten times as many rows on the other. The
# estimated difference then depends on how many rows of the rare class there are by chance.
SKEWED = Setting(3, (150, 1500), 0.05, root=0.796)
every_setting = pytest.mark.parametrize("setting", SETTINGS, ids=str)


def check(name, setting, wrong, gains):
    rate, error = float(np.mean(wrong)), np.sqrt(DELTA * (1 - DELTA) / len(wrong))
    mean, spread = float(np.mean(gains)), float(np.std(gains) / np.sqrt(len(gains)))
    print(f"{name}: {setting}: {rate:.3f} (at most {DELTA} + 2 x {error:.3f}), gain {mean:+.4f}")
    assert rate <= DELTA + 2 * error
    return mean, spread


@pytest.mark.slow
@every_setting
def test_false_joins(setting):
    """Just beyond the distance without gain, joining loses a little."""
    drawn = Drawn.of(setting, (1 + BESIDE) * setting.root, seed=1)
    mean, spread = check("false joins", setting, drawn.verdicts() == "join", drawn.gains())
    assert mean < 2 * spread


@pytest.mark.slow
@every_setting
def test_false_aparts(setting):
    """Just below the distance without gain, joining gains a little."""
    drawn = Drawn.of(setting, (1 - BESIDE) * setting.root, seed=2)
    mean, spread = check("false aparts", setting, drawn.verdicts() == "apart", drawn.gains())
    assert mean > -2 * spread


@pytest.mark.slow
def test_false_joins_with_few_rows_of_a_class():
    test_false_joins(SKEWED)


@pytest.mark.slow
def test_false_aparts_with_few_rows_of_a_class():
    test_false_aparts(SKEWED)


CLEAR = [
    Setting(3, (60, 60), 0.3, 2.0),
    Setting(5, (200, 200)),
    Setting(5, (100, 800), 0.4, way="level"),
    Setting(10, (300, 300), 0.3),
    Setting(4, (100, 300), 0.2, classes=3),
]


@pytest.mark.slow
@pytest.mark.parametrize("setting", CLEAR, ids=str)
def test_verdicts_are_given(setting):
    """Power: verdicts are given where the answer is clear, not only "undecided"."""
    same = Drawn.of(setting, 0.0, 200).verdicts()
    far = Drawn.of(setting, 2.5, 200).verdicts()
    print(f"{setting}: join {np.mean(same == 'join'):.2f}, apart {np.mean(far == 'apart'):.2f}")
    assert np.mean(same == "join") > 0.2
    assert np.mean(same == "apart") < 0.05
    assert np.mean(far == "apart") > 0.5
    assert not np.any(far == "join")


FEW = [
    Setting(5, (49, 500)),
    Setting(10, (99, 99), 0.3),
    Setting(20, (199, 400)),
    Setting(3, (29, 29), way="level"),
    Setting(4, (39, 100), 1 / 3, classes=3),
]


@pytest.mark.parametrize("setting", FEW, ids=str)
@pytest.mark.parametrize("distance", [0.0, 2.0, 10.0])
def test_fewer_than_ten_rows_for_each_coefficient_are_undecided(setting, distance):
    assert min(setting.n) < FEWEST_ROWS * setting.p
    assert set(Drawn.of(setting, distance, 100).verdicts()) == {"undecided"}


@pytest.mark.parametrize("setting", [SETTINGS[i] for i in (3, 6, 17)], ids=str)
def test_pairs_together_get_the_verdicts_they_get_alone(setting):
    """The verdicts simulated here are those of `compare`."""
    for distance in (0.0, 2.5 * setting.root):
        drawn = Drawn.of(setting, distance, 6, seed=3)
        together = drawn.verdicts()
        for i, verdict in enumerate(together):
            one, two = (
                {f"x{j}": x[i, :, j] for j in range(1, setting.p)} | {"y": y[i].astype(int)}
                for x, y in zip(drawn.X, drawn.y)
            )
            alone = conjoin.compare(one, two, target="y", family="logistic")
            assert alone.verdict == verdict


def find_root(setting, pairs=4000):
    """Return the distance at which joining gains nothing."""

    def gain(distance, pairs):
        return np.mean(
            [Drawn.of(setting, distance, 500, seed).gains().mean() for seed in range(pairs // 500)]
        )

    low, high = 0.0, 2.0
    while gain(high, 1000) > 0:
        low, high = high, 1.6 * high
    for _ in range(6):
        middle = (low + high) / 2
        low, high = (middle, high) if gain(middle, 1000) > 0 else (low, middle)
    around = np.array([0.92, 1.0, 1.08]) * (low + high) / 2
    slope, level = np.polyfit(around**2, [gain(distance, pairs) for distance in around], 1)
    return float(np.sqrt(-level / slope))


if __name__ == "__main__":
    for each in SETTINGS:
        print(f"{each}: {find_root(each):.3f}", flush=True)
