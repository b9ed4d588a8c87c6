"""Direct comparison, the baseline of the paper: join where the training loss falls.

Two units enter; the difference of their training losses leaves. On its own rows, a separate
least-squares fit is never worse than the joint fit. So this criterion never joins in regression.
"""

from dataclasses import dataclass

import numpy as np

from conjoin.checks import check_rows
from conjoin.criterion.base import PairScore, Unit
from conjoin.models.ols import fit_ols


@dataclass(frozen=True)
class Direct:
    """Compare the training losses of separate models and of one joint model.

    Parameters
    ----------
    overparametrised : bool, default False
        Allow datasets with fewer rows than columns, fitted by the Moore-Penrose estimator.

    Raises
    ------
    DataError
        In `prepare`, if a dataset has fewer rows than columns and `overparametrised` is False.

    Examples
    --------
    >>> import conjoin
    >>> rows = {"x": [1.0, 2.0, 3.0, 4.0], "y": [1.1, 1.9, 3.2, 3.9]}
    >>> conjoin.compare(rows, rows, target="y", method=Direct()).join
    False
    """

    overparametrised: bool = False

    @property
    def threshold(self) -> float:
        """Join where the joint fit has the lower loss."""
        return 0.0

    def prepare(self, unit: Unit, seed: int) -> Unit:
        """Check that the unit can be fitted; nothing else to prepare."""
        p = unit.Z.shape[1]
        allow = self.overparametrised
        check_rows(unit.label, len(unit.t), p, "in all", overparametrised=allow)
        return unit

    def compare(self, a: Unit, b: Unit) -> PairScore:
        """Return own minus joint mean training loss, summed over both units, over the noise."""
        joint = fit_ols(a.moments + b.moments)
        own = [fit_ols(unit.moments) for unit in (a, b)]
        separate = sum(float(m.mse(fit.beta)) for m, fit in zip((a.moments, b.moments), own))
        joined = sum(float(m.mse(joint.beta)) for m in (a.moments, b.moments))
        noise = float(np.nan_to_num(joint.noise)) or 1.0
        # The exact value is never positive; rounding must not make it so.
        score = min((separate - joined) / noise, 0.0)
        return PairScore(score, score > self.threshold)
