"""GPBoost's mixed model as a contestant, for both sides.

A task enters; the mean prediction of the test rows leaves. Fixed effects are those of all columns,
random effects those of the groups. The sides add the likelihood and how the target becomes numbers.
"""

from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.arena.contest import independent_columns, with_intercept
from benchmarks.arena.data import FloatArray, Task


class MixedModel:
    """A mixed model with a random intercept for every group and, if wanted, random slopes.

    Random slopes are independent of each other, with one variance for each column. Two settings
    differ from GPBoost's defaults, for all sets alike. Fixed effects are reduced to independent
    columns, because GPBoost warns of dependent ones and fits them badly. Covariances are factorised
    instead of solved iteratively, which is 10 to 100 times faster with random slopes here.

    Parameters
    ----------
    slopes : bool
        Whether every column has a random slope beside the random intercept.
    """

    likelihood = "gaussian"
    fit_options: dict[str, Any] = {}
    predict_options: dict[str, Any] = {}

    def __init__(self, slopes: bool) -> None:
        import gpboost

        self._gpboost: ModuleType = gpboost
        self.slopes = slopes
        self.name = "gpboost-slopes" if slopes else "gpboost-intercept"
        self.note = ""

    def fit_mean(self, task: Task, y: FloatArray) -> FloatArray:
        """Fit the numeric target `y` (training rows,) and return the mean of the test rows."""
        fixed_train, fixed_test = with_intercept(task.X_train), with_intercept(task.X_test)
        kept = independent_columns(fixed_train)
        dependent = fixed_train.shape[1] - len(kept)
        self.note = f"{dependent} dependent fixed effects left out" if dependent else ""
        slopes_train = {
            "group_rand_coef_data": task.X_train,
            "ind_effect_group_rand_coef": [1] * task.X_train.shape[1],
        }
        model = self._gpboost.GPModel(
            group_data=task.groups_train.astype(str),
            likelihood=self.likelihood,
            matrix_inversion_method="cholesky",
            num_parallel_threads=1,
            **(slopes_train if self.slopes else {}),
        )
        model.fit(y=y, X=fixed_train[:, kept], **self.fit_options)
        answer = model.predict(
            group_data_pred=task.groups_test.astype(str),
            X_pred=fixed_test[:, kept],
            predict_var=False,
            **self.predict_options,
            **({"group_rand_coef_data_pred": task.X_test} if self.slopes else {}),
        )
        return np.asarray(answer["mu"], dtype=np.float64)
