"""Direct comparison: join where the training loss does not rise.

The baseline of the paper. Separate least squares always fits its own rows at least as well as the
joint fit, so on regression this criterion can never prefer to join.
"""

from dataclasses import dataclass

import numpy as np

from conjoin.checks import check_rows
from conjoin.criterion.base import PairScore, Unit
from conjoin.models.ols import fit_ols


@dataclass(frozen=True)
class Direct:
    """Compare training losses.

    Parameters
    ----------
    overparametrised : bool
        Allow datasets with fewer rows than columns, fitted by the Moore-Penrose estimator.
    """

    overparametrised: bool = False

    @property
    def threshold(self) -> float:
        """Join where the loss of the joint fit is lower."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> Unit:
        """Nothing to prepare but the check that the unit can be fitted."""
        p = unit.Z.shape[1]
        allow = self.overparametrised
        check_rows(unit.label, len(unit.t), p, "in all", overparametrised=allow)
        return unit

    def compare(self, a: Unit, b: Unit) -> PairScore:
        """Return the sum over both units of own minus joint mean training loss, over the noise."""
        joint = fit_ols(a.moments + b.moments)
        own = [fit_ols(unit.moments) for unit in (a, b)]
        separate = sum(float(m.mse(fit.beta)) for m, fit in zip((a.moments, b.moments), own))
        joined = sum(float(m.mse(joint.beta)) for m in (a.moments, b.moments))
        noise = float(np.nan_to_num(joint.noise)) or 1.0
        # Rounding must not turn "never lower" into a join.
        score = min((separate - joined) / noise, 0.0)
        return PairScore(score, score > self.threshold)
