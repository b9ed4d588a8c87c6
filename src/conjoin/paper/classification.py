r"""Bounds of the paper's appendix "Classification": join where Psi <= Phi1 + Phi2.

Two datasets with classes, or their sizes and parameters, enter; every term of both bounds leaves.

==========  =======================================================================  ===========
symbol      meaning                                                                  where
==========  =======================================================================  ===========
C, B        number of classes; bound on |x|, the same for both datasets              Assumption 2
lam, delta  weight of the ridge term; each bound holds with probability 1 - 2 delta
eta         step sizes of the subgradient method, (K,)
radius      sqrt(2 log C / lam), the bound on |b_c|
norm3       |||beta||| = sum_c |beta_c|
omega       2CB sqrt(log C / lam) + 2B |||beta||| + (C+1) log C                      Prop. 1
G           2CB + C sqrt(2 lam log C), bound on subgradients of one dataset          Prop. 4
phi1        sqrt(2/n log(1/delta)) omega(beta)                                       Theorem 1
phi2        (a1 + a2 |||beta|||) / sqrt(n)                                           Theorem 1
phi3        (8 log C + G lam sum eta^2) / (2 lam sum eta)                            Theorem 1
psi1        sqrt(2 (omega1^2/n1 + omega2^2/n2) log(1/delta))                         Theorem 2
psi2        (1/sqrt(n1) + 1/sqrt(n2)) {b1 (|||beta1 - beta2||| + |||beta1 + beta2|||)
            + b2} + b3 (|||beta1|||/sqrt(n1) + |||beta2|||/sqrt(n2))                 Theorem 2
psi3        error of the subgradient method on both datasets                         Theorem 2
==========  =======================================================================  ===========

Propositions and theorems are counted within that appendix. phi3 and psi3 have three readings:

- "corrected" (default): psi3 = (8 log C + 2 G lam sum eta^2) / (2 lam sum eta). This is what the
  paper's lemma gives with 2G instead of G, and the paper's last theorem follows from it;
- "printed": psi3 without the 2 in its denominator;
- "squared": G^2 in phi3 and (2G)^2 in psi3; the subgradient lemma is true only with the square.

The bounds depend on the two datasets only through n, B and norms of beta. The angle between beta1
and beta2 enters only up to sign. So the bounds cannot tell similar datasets from different ones
(docs/classification-bounds.md). They are kept as published; do not decide by them.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.checks import check_level
from conjoin.errors import ArgumentError, DataError
from conjoin.paper.surrogate import STEPS, Sign, plug_in, step_sizes

Reading: TypeAlias = Literal["corrected", "printed", "squared"]
READINGS: tuple[Reading, ...] = ("corrected", "printed", "squared")
# From the combinatorial lemma: half the mean absolute sum of n random signs is at most
# sqrt(3n/(4 pi)), which is ROOT sqrt(n)/2.
ROOT = float(np.sqrt(3 / np.pi))


@dataclass(frozen=True, eq=False)
class Setting:
    """What both bounds need besides sizes and parameters.

    Parameters
    ----------
    C : int
        Number of classes.
    B : float
        Bound on the norm of a row; `largest_norm` gives it for two datasets.
    lam : float, default 0.1
        Weight of the ridge term.
    delta : float, default 0.1
        Each bound holds with probability 1 - 2 delta.
    eta : array, shape (K,), optional
        Step sizes; 1/k for 1,000 steps by default.
    reading : {"corrected", "printed", "squared"}, default "corrected"
        Which reading of phi3 and psi3 to use.

    Raises
    ------
    ArgumentError
        If an argument is out of its range.

    Examples
    --------
    >>> round(Setting(C=2, B=1.0).radius, 3)
    3.723
    """

    C: int
    B: float
    lam: float = 0.1  # the paper gives no value; docs/classification-bounds.md shows others
    delta: float = 0.1  # as in the criteria for regression
    eta: FloatArray = field(default_factory=lambda: step_sizes(STEPS), repr=False)
    reading: Reading = "corrected"

    def __post_init__(self) -> None:
        check_level("delta", self.delta)
        if self.C < 2:
            raise ArgumentError(f"C={self.C!r} is not a number of classes; expected at least 2.")
        if not self.lam > 0:
            raise ArgumentError(f"lam={self.lam!r} is not a ridge weight; expected a number > 0.")
        if self.reading not in READINGS:
            raise ArgumentError(
                f"reading={self.reading!r} is unknown; expected one of {', '.join(READINGS)}."
            )

    @property
    def log_delta(self) -> float:
        """log(1/delta)."""
        return float(np.log(1 / self.delta))

    @property
    def radius(self) -> float:
        """Bound on |b_c|, sqrt(2 log C / lam)."""
        return float(np.sqrt(2 * np.log(self.C) / self.lam))


def norm3(beta: FloatArray) -> float:
    """Return |||beta|||, the sum over classes of Euclidean norms."""
    return float(np.sum(np.linalg.norm(beta, axis=1)))


def largest_norm(X1: FloatArray, X2: FloatArray) -> float:
    """Return the largest Euclidean norm of a row in either dataset: the smallest valid B."""
    return max(float(np.max(np.linalg.norm(X, axis=1))) for X in (X1, X2))


def omega(beta: FloatArray, setting: Setting) -> float:
    """Return omega(beta), stated to bound the surrogate loss of any row (Proposition 1)."""
    C, B, log_C = setting.C, setting.B, np.log(setting.C)
    return float(2 * C * B * np.sqrt(log_C / setting.lam) + 2 * B * norm3(beta) + (C + 1) * log_C)


def G(setting: Setting) -> float:
    """Bound on the norm of a subgradient of one dataset's surrogate loss (Proposition 4)."""
    C = setting.C
    return float(2 * C * setting.B + C * np.sqrt(2 * setting.lam * np.log(C)))


def a1(setting: Setting) -> float:
    """Constant of phi2 (Theorem 1); equal to b2."""
    C, log_C = setting.C, np.log(setting.C)
    slope = (2 * np.sqrt(6 / np.pi) + 4 * np.sqrt(2)) * np.sqrt(log_C / setting.lam)
    return float(slope * setting.B * C + 2 * ROOT * C * log_C)


def a2(setting: Setting) -> float:
    """Constant of phi2 (Theorem 1); twice b3."""
    return 2 * ROOT * setting.B


def R_n(n: int, beta: FloatArray, setting: Setting) -> float:
    """Bound on the Rademacher complexity of one dataset (Proposition 3), a quarter of phi2.

    The statement prints log C in its last term; its proof, and phi2, have C log C, as here.
    """
    return phi2(n, beta, setting) / 4


def R_n1_n2(n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting) -> float:
    """Bound on the Rademacher complexity of both datasets (Proposition 6), a quarter of psi2."""
    return psi2(n1, n2, beta1, beta2, setting) / 4


def phi1(n: int, beta: FloatArray, setting: Setting) -> float:
    """Error from the randomness of one sample (Theorem 1)."""
    return float(np.sqrt(2 / n * setting.log_delta) * omega(beta, setting))


def phi2(n: int, beta: FloatArray, setting: Setting) -> float:
    """Error from the size of the hypothesis class (Theorem 1).

    It is four times the Rademacher complexity of Proposition 3.
    """
    return float((a1(setting) + a2(setting) * norm3(beta)) / np.sqrt(n))


def phi3(setting: Setting) -> float:
    """Error of the subgradient method on one dataset (Theorem 1)."""
    bound = G(setting) ** 2 if setting.reading == "squared" else G(setting)
    return _step_error(bound, setting)


def _step_error(bound: float, setting: Setting) -> float:
    """Return the right side of the subgradient lemma with |b[1] - b*|^2 <= 8 log C / lam."""
    lam, eta = setting.lam, setting.eta
    top = 8 * np.log(setting.C) + bound * lam * np.sum(eta**2)
    return float(top / (2 * lam * np.sum(eta)))


def b1(setting: Setting) -> float:
    """Constant of psi2 (Theorem 2)."""
    return ROOT / 2 * setting.B


def b2(setting: Setting) -> float:
    """Constant of psi2 (Theorem 2)."""
    C = setting.C
    return float((4 + 2 * ROOT) * setting.B * C * setting.radius + 2 * ROOT * C * np.log(C))


def b3(setting: Setting) -> float:
    """Constant of psi2 (Theorem 2)."""
    return ROOT * setting.B


def psi1(n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting) -> float:
    """Error from the randomness of both samples (Theorem 2)."""
    A = omega(beta1, setting) ** 2 / n1 + omega(beta2, setting) ** 2 / n2
    return float(np.sqrt(2 * A * setting.log_delta))


def psi2(n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting) -> float:
    """Error from the size of the hypothesis class on both datasets (Theorem 2).

    It is four times the Rademacher complexity of Proposition 6.
    """
    both = norm3(beta1 - beta2) + norm3(beta1 + beta2)
    shared = (1 / np.sqrt(n1) + 1 / np.sqrt(n2)) * (b1(setting) * both + b2(setting))
    own = norm3(beta1) / np.sqrt(n1) + norm3(beta2) / np.sqrt(n2)
    return float(shared + b3(setting) * own)


def psi3(setting: Setting) -> float:
    """Error of the subgradient method on both datasets (Proposition 7, Theorem 2)."""
    if setting.reading == "squared":
        return _step_error((2 * G(setting)) ** 2, setting)
    corrected = _step_error(2 * G(setting), setting)
    return 2 * corrected if setting.reading == "printed" else corrected


@dataclass(frozen=True)
class ClassificationBounds:
    """Both bounds of a pair; every part has its name in the paper.

    phi1, phi2 and Phi have a value for each dataset. `sampling`, `distance` and `steps` are what
    joining gains in each part of the bounds, `sum(phi) - psi`. They add up to `margin`.

    Parameters
    ----------
    phi1, phi2 : (float, float)
        The first two parts of the bound of each separate model: sampling and distance.
    phi3 : float
        The third part, which both share: steps of the subgradient method.
    psi1, psi2, psi3 : float
        The same parts of the bound of the joint model.
    """

    phi1: tuple[float, float]
    phi2: tuple[float, float]
    phi3: float
    psi1: float
    psi2: float
    psi3: float

    @property
    def Phi(self) -> tuple[float, float]:
        """Bounds of the two separate models."""
        one, two = (f1 + f2 + self.phi3 for f1, f2 in zip(self.phi1, self.phi2))
        return one, two

    @property
    def Psi(self) -> float:
        """Bound of the joint model."""
        return self.psi1 + self.psi2 + self.psi3

    @property
    def sampling(self) -> float:
        """phi1 of both minus psi1; never negative."""
        return sum(self.phi1) - self.psi1

    @property
    def distance(self) -> float:
        """phi2 of both minus psi2: the only part that compares beta1 with beta2."""
        return sum(self.phi2) - self.psi2

    @property
    def steps(self) -> float:
        """phi3 twice minus psi3: the same for all datasets with the same B and C."""
        return 2 * self.phi3 - self.psi3

    @property
    def margin(self) -> float:
        """Phi1 + Phi2 - Psi."""
        return self.sampling + self.distance + self.steps

    @property
    def join(self) -> bool:
        """Whether Psi <= Phi1 + Phi2."""
        return self.Psi <= sum(self.Phi)


def bounds(
    n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting
) -> ClassificationBounds:
    """Evaluate both bounds at given parameters (C, p) of the two datasets.

    Examples
    --------
    >>> beta = np.array([[1.0, 0.0], [-1.0, 0.0]])
    >>> bounds(100, 100, beta, beta, Setting(C=2, B=1.0)).join
    True
    >>> bounds(100, 100, beta, -beta, Setting(C=2, B=1.0)).join
    True
    """
    pair = (n1, n2, beta1, beta2, setting)
    return ClassificationBounds(
        phi1=(phi1(n1, beta1, setting), phi1(n2, beta2, setting)),
        phi2=(phi2(n1, beta1, setting), phi2(n2, beta2, setting)),
        phi3=phi3(setting),
        psi1=psi1(*pair),
        psi2=psi2(*pair),
        psi3=psi3(setting),
    )


def compare_classes(
    X1: FloatArray,
    y1: IntArray,
    X2: FloatArray,
    y2: IntArray,
    setting: Setting,
    *,
    sign: Sign = "flipped",
) -> ClassificationBounds:
    """Evaluate both bounds on two datasets, with ridge fits instead of the true parameters.

    Parameters
    ----------
    X1, X2 : arrays, shape (n, p)
        Features as they are. The paper has no intercept: add a column of ones if you want one.
    y1, y2 : arrays, shape (n,)
        Classes, whole numbers 0 .. C-1.
    setting : Setting
        Number of classes, bound on the norm of a row, ridge weight, level, step sizes, reading.
    sign : {"flipped", "literal"}, default "flipped"
        Sign of the plug-in. The bounds contain only norms, so it cannot change the decision.

    Returns
    -------
    ClassificationBounds
        Its `join` is the decision.

    Raises
    ------
    DataError
        If the columns of the two datasets or the classes do not fit.

    Examples
    --------
    The bounds cannot tell similar datasets from different ones: they join opposite classes.

    >>> X = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.3], [-0.9, 0.0]])
    >>> y = np.array([0, 0, 1, 1])
    >>> setting = Setting(C=2, B=largest_norm(X, X))
    >>> compare_classes(X, y, X, 1 - y, setting).join
    True
    >>> compare_classes(X, y, X, y + 1, setting)
    Traceback (most recent call last):
    ...
    conjoin.errors.DataError: y2 has classes 1 to 2; expected whole numbers 0 to 1.
    """
    if X1.shape[1] != X2.shape[1]:
        raise DataError(
            f"X1 has {X1.shape[1]} columns and X2 has {X2.shape[1]}; expected the same columns."
        )
    C, lam = setting.C, setting.lam
    for name, y in (("y1", y1), ("y2", y2)):
        if y.min() < 0 or y.max() >= C:
            raise DataError(
                f"{name} has classes {y.min()} to {y.max()}; expected whole numbers 0 to {C - 1}."
            )
    beta1, beta2 = plug_in(X1, y1, C, lam, sign), plug_in(X2, y2, C, lam, sign)
    return bounds(len(y1), len(y2), beta1, beta2, setting)
