r"""Bounds of the paper's appendix "Classification": join where Psi <= Phi1 + Phi2.

==========  =======================================================================  ===========
symbol      meaning                                                                  where
==========  =======================================================================  ===========
C, B        number of classes; bound on |x|, the same for both datasets              Assumption 2
lam, delta  weight of the ridge term; each bound holds with probability 1 - 2 delta
eta         step sizes of the subgradient method, (K,)
radius      sqrt(2 log C / lam), the bound on |b_c|
norm3       |||beta||| = sum_c |beta_c|
omega       2CB sqrt(log C / lam) + 2B |||beta||| + (C+1) log C                      Prop. 1
R_n         Rademacher complexity of one dataset, bounded                            Prop. 3
R_n1_n2     the same of two datasets under one model                                 Prop. 6
G           2CB + C sqrt(2 lam log C), bound on subgradients of one dataset          Prop. 4
phi1        sqrt(2/n log(1/delta)) omega(beta)                                       Theorem 1
phi2        (a1 + a2 |||beta|||) / sqrt(n)                                           Theorem 1
phi3        (8 log C + G lam sum eta^2) / (2 lam sum eta)                            Theorem 1
psi1        sqrt(2 (omega1^2/n1 + omega2^2/n2) log(1/delta))                         Theorem 2
psi2        (1/sqrt(n1) + 1/sqrt(n2)) {b1 (|||beta1 - beta2||| + |||beta1 + beta2|||)
            + b2} + b3 (|||beta1|||/sqrt(n1) + |||beta2|||/sqrt(n2))                 Theorem 2
psi3        error of the subgradient method on both datasets                         Theorem 2
==========  =======================================================================  ===========

Propositions and theorems are counted inside that appendix. Readings of the step terms:

- "corrected" (default): psi3 = (8 log C + 2 G lam sum eta^2) / (2 lam sum eta), what the lemma of
  the paper gives with 2G in the place of G; the last theorem of the paper follows from it;
- "printed": psi3 without the 2 in its denominator;
- "squared": G^2 in phi3 and (2G)^2 in psi3, as the subgradient lemma reads with its square.

Everything depends on the two datasets only through n, B and norms of beta, and on the angle
between beta1 and beta2 only up to sign: these bounds cannot tell close datasets from distant ones
(docs/classification-bounds.md). They are kept as published, not recommended.
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
ROOT = float(np.sqrt(3 / np.pi))


@dataclass(frozen=True, eq=False)
class Setting:
    """What both bounds take besides sizes and parameters.

    Parameters
    ----------
    C : int
        Number of classes.
    B : float
        Bound on the norm of a row.
    lam : float
        Weight of the ridge term.
    delta : float
        Each bound holds with probability 1 - 2 delta.
    eta : ndarray (K,)
        Step sizes; 1/k for 1,000 steps by default.
    reading : {"corrected", "printed", "squared"}
        How phi3 and psi3 are read.
    """

    C: int
    B: float
    lam: float = 0.1
    delta: float = 0.1
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
                f"reading={self.reading!r} is not known; expected one of {', '.join(READINGS)}."
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
    """|||beta|||, the sum over classes of Euclidean norms."""
    return float(np.sum(np.linalg.norm(beta, axis=1)))


def omega(beta: FloatArray, setting: Setting) -> float:
    """omega(beta), said to bound the surrogate loss of any row (Proposition 1)."""
    C, B, log_C = setting.C, setting.B, np.log(setting.C)
    return float(2 * C * B * np.sqrt(log_C / setting.lam) + 2 * B * norm3(beta) + (C + 1) * log_C)


def R_n(n: int, beta: FloatArray, setting: Setting) -> float:
    """Bound on the Rademacher complexity of one dataset (Proposition 3).

    The last term has the factor C of the proof; the proposition as printed lacks it.
    """
    C, B, radius = setting.C, setting.B, setting.radius
    signs = ROOT / 2 * (B * (radius * C + norm3(beta)) + C * np.log(C))
    return float((signs + B * C * radius) / np.sqrt(n))


def R_n1_n2(n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting) -> float:
    """Bound on the Rademacher complexity of two datasets under one model (Proposition 6)."""
    C, B, radius = setting.C, setting.B, setting.radius
    both = norm3(beta1 - beta2) + norm3(beta1 + beta2)
    shared = ROOT / 8 * B * both + (1 + ROOT / 2) * radius * B * C + ROOT / 2 * C * np.log(C)
    own = norm3(beta1) / np.sqrt(n1) + norm3(beta2) / np.sqrt(n2)
    return float(shared * (1 / np.sqrt(n1) + 1 / np.sqrt(n2)) + ROOT / 4 * B * own)


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


def phi1(n: int, beta: FloatArray, setting: Setting) -> float:
    """Error from the randomness of one sample (Theorem 1)."""
    return float(np.sqrt(2 / n * setting.log_delta) * omega(beta, setting))


def phi2(n: int, beta: FloatArray, setting: Setting) -> float:
    """Error from the size of the hypothesis class (Theorem 1); 4 R_n."""
    return float((a1(setting) + a2(setting) * norm3(beta)) / np.sqrt(n))


def phi3(setting: Setting) -> float:
    """Error of the subgradient method on one dataset (Theorem 1)."""
    bound = G(setting) ** 2 if setting.reading == "squared" else G(setting)
    return _step_error(bound, setting)


def _step_error(bound: float, setting: Setting) -> float:
    """Right side of the subgradient lemma with |b[1] - b*|^2 <= 8 log C / lam."""
    lam, eta = setting.lam, setting.eta
    top = 8 * np.log(setting.C) + bound * lam * np.sum(eta**2)
    return float(top / (2 * lam * np.sum(eta)))


def Phi(n: int, beta: FloatArray, setting: Setting) -> float:
    """Bound on the excess risk of one dataset's own model (Theorem 1)."""
    return phi1(n, beta, setting) + phi2(n, beta, setting) + phi3(setting)


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
    """Error from the size of the hypothesis class on both datasets (Theorem 2); 4 R_n1_n2."""
    both = norm3(beta1 - beta2) + norm3(beta1 + beta2)
    shared = (1 / np.sqrt(n1) + 1 / np.sqrt(n2)) * (b1(setting) * both + b2(setting))
    own = norm3(beta1) / np.sqrt(n1) + norm3(beta2) / np.sqrt(n2)
    return float(shared + b3(setting) * own)


def psi3(setting: Setting) -> float:
    """Error of the subgradient method on both datasets (Proposition 7, Theorem 2), by reading."""
    if setting.reading == "squared":
        return _step_error((2 * G(setting)) ** 2, setting)
    corrected = _step_error(2 * G(setting), setting)
    return 2 * corrected if setting.reading == "printed" else corrected


def Psi(n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting) -> float:
    """Bound on the summed excess risk of the joint model (Theorem 2)."""
    pair = (n1, n2, beta1, beta2, setting)
    return psi1(*pair) + psi2(*pair) + psi3(setting)


def theorem3(
    n1: int, n2: int, beta1: FloatArray, beta2: FloatArray, setting: Setting
) -> tuple[float, float]:
    """Both sides of the last theorem, "an equivalent condition": join where left <= right.

    It is equivalent to `Psi <= Phi1 + Phi2` for the corrected reading only.
    """
    weights = np.sqrt([1 / n1, 1 / n2])
    norms = np.array([norm3(beta1), norm3(beta2)])
    errors = weights * np.array([omega(beta1, setting), omega(beta2, setting)])
    level = np.sqrt(2 * setting.log_delta)
    both = (norm3(beta1 - beta2) + norm3(beta1 + beta2)) / 2
    left = level * np.linalg.norm(errors) + ROOT * setting.B * np.sum(weights) * both
    right = level * np.sum(errors) + ROOT * setting.B * np.sum(weights * norms)
    steps = 4 * np.log(setting.C) / (setting.lam * np.sum(setting.eta))
    return float(left), float(right + steps)


@dataclass(frozen=True)
class ClassificationBounds:
    """Both bounds of a pair, every part named after the paper; phi1, phi2 and Phi by dataset.

    `sampling`, `distance` and `steps` are what joining gains in each part of the bounds,
    `sum(phi) - psi`; they add up to `margin`.
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
        """phi1 of both less psi1; never negative."""
        return sum(self.phi1) - self.psi1

    @property
    def distance(self) -> float:
        """phi2 of both less psi2: the only part that sees beta1 against beta2."""
        return sum(self.phi2) - self.psi2

    @property
    def steps(self) -> float:
        """phi3 twice less psi3: the same for all datasets of the same B and C."""
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
    C: int,
    *,
    B: float | None = None,
    lam: float = 0.1,
    delta: float = 0.1,
    eta: FloatArray | None = None,
    reading: Reading = "corrected",
    sign: Sign = "flipped",
) -> ClassificationBounds:
    """Evaluate both bounds on two datasets, ridge fits in the place of the true parameters.

    Parameters
    ----------
    X1, X2 : ndarray (n, p)
        Features as they are; the paper has no intercept, a column of ones is the caller's choice.
    y1, y2 : ndarray (n,)
        Classes, whole numbers 0 .. C-1.
    C : int
        Number of classes.
    B : float, optional
        Bound on the norm of a row; the largest norm in either dataset by default.
    lam, delta, eta, reading
        As in `Setting`.
    sign : {"flipped", "literal"}
        Sign of the plug-in. The bounds take norms only, so it cannot change the decision.

    Returns
    -------
    ClassificationBounds
        Its `join` is the decision.

    Examples
    --------
    >>> X = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.3], [-0.9, 0.0]])
    >>> y = np.array([0, 0, 1, 1])
    >>> compare_classes(X, y, X, 1 - y, C=2).join  # the same rows with opposite labels
    True
    >>> compare_classes(X, y, X, y + 1, C=2)
    Traceback (most recent call last):
    ...
    conjoin.errors.DataError: y2 has classes 1 to 2; expected whole numbers 0 to 1.
    """
    if X1.shape[1] != X2.shape[1]:
        raise DataError(
            f"X1 has {X1.shape[1]} columns and X2 has {X2.shape[1]}; expected the same columns."
        )
    for name, y in (("y1", y1), ("y2", y2)):
        if y.min() < 0 or y.max() >= C:
            raise DataError(
                f"{name} has classes {y.min()} to {y.max()}; expected whole numbers 0 to {C - 1}."
            )
    largest = max(float(np.max(np.linalg.norm(X, axis=1))) for X in (X1, X2))
    setting = Setting(
        C=C,
        B=largest if B is None else B,
        lam=lam,
        delta=delta,
        eta=step_sizes() if eta is None else eta,
        reading=reading,
    )
    beta1, beta2 = plug_in(X1, y1, C, lam, sign), plug_in(X2, y2, C, lam, sign)
    return bounds(len(y1), len(y2), beta1, beta2, setting)
