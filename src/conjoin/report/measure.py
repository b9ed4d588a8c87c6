"""How errors are called and shown: squared errors, log loss of classes, deviance of counts."""

import math
from dataclasses import dataclass

from conjoin.result.fits import Fit, LogisticFit


@dataclass(frozen=True)
class Measure:
    """Words for the error of a family of targets.

    Parameters
    ----------
    name : str
        What joining lowers, in a sentence.
    mean : str
        The same in full.
    gain : str
        The unit of gains.
    head : str
        Of a column of errors.
    short : str
        Before a number.
    errors : str
        What tables show.
    own_fit : str
        A model of one dataset.
    root : bool
        Whether the roots of errors are shown.
    """

    name: str
    mean: str
    gain: str
    head: str
    short: str
    errors: str
    own_fit: str
    root: bool = False

    def shown(self, error: float | None) -> float | None:
        """Return an error as it is shown; None if it is not known."""
        if error is None or not math.isfinite(error) or error < 0:
            return None
        return math.sqrt(error) if self.root else float(error)

    def text(self, error: float | None, digits: int = 5) -> str:
        """Return an error as text.

        >>> measure_of("gaussian").text(4.0), measure_of("logistic").text(0.25)
        ('2', '0.25')
        """
        value = self.shown(error)
        return "unknown" if value is None else f"{value:.{digits}g}"


SQUARED = Measure(
    name="squared error",
    mean="mean squared error",
    gain="squared error",
    head="error (RMSE)",
    short="RMSE",
    errors="root mean squared errors",
    own_fit="least squares",
    root=True,
)
LOG_LOSS = Measure(
    name="log loss",
    mean="log loss",
    gain="log loss",
    head="log loss",
    short="log loss",
    errors="log losses",
    own_fit="logistic regression",
)
DEVIANCE = Measure(
    name="deviance",
    mean="mean deviance",
    gain="half deviance",
    head="half deviance",
    short="half deviance",
    errors="half the mean deviance",
    own_fit="log-linear model",
)


def measure_of(family: str) -> Measure:
    """Return the words for a family of targets."""
    return {"gaussian": SQUARED, "logistic": LOG_LOSS, "poisson": DEVIANCE}[family]


def measure_of_fit(fit: Fit) -> Measure:
    """Return the words for the error of a model."""
    return LOG_LOSS if isinstance(fit, LogisticFit) else measure_of(fit.family)
