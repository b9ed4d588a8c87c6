"""What a fitted estimator found, in the manner of scikit-learn: names that end in an underscore.

A fitted `Partition` is behind it; clusters, errors, verdicts and coefficients leave.
"""

from typing import Any

from sklearn.utils.validation import check_is_fitted

from conjoin.estimators.coefficients import coefficient_frame
from conjoin.result.partition import Partition
from conjoin.result.values import Estimate, Merge


class Found:
    """Attributes that both estimators have after fitting."""

    result_: Any

    @property
    def clusters_(self) -> list[list[str]]:
        """Dataset names by cluster."""
        return self._fitted.clusters

    @property
    def labels_(self) -> dict[str, int]:
        """Position of each dataset's cluster in `clusters_`."""
        return self._fitted.labels

    @property
    def strategy_(self) -> str:
        """The strategy behind the models."""
        return self._fitted.strategy

    @property
    def weights_(self) -> dict[str, float]:
        """Weights of the strategies in "auto"."""
        return self._fitted.weights

    @property
    def errors_(self) -> dict[str, Estimate]:
        """Error of every strategy on held-out rows."""
        return self._fitted.errors

    @property
    def ledger_(self) -> tuple[Merge, ...]:
        """Every join, and the best joins refused, with their verdicts."""
        return self._fitted.ledger()

    @property
    def coef_(self) -> Any:
        """Intercept and coefficients of each dataset, as a frame."""
        return coefficient_frame(self._fitted)

    @property
    def _fitted(self) -> Partition:
        check_is_fitted(self, "result_")
        result: Partition = self.result_
        return result
