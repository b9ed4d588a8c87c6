"""The paper's Algorithm 3 with its bounds for classification, as a contestant.

A task enters; probabilities of the test rows leave, from one logistic regression for each cluster.
"""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from benchmarks.arena.classification.logistic import LogisticByValidation, class_shares
from benchmarks.arena.contest import MOST_GROUPS_OF_THE_PAPER, with_intercept
from benchmarks.arena.data import FloatArray, Task, TextArray, rows_by_group
from conjoin.criterion.base import PairScore, Unit
from conjoin.paper.classification import Reading, Setting, bounds
from conjoin.paper.greedy import greedy
from conjoin.paper.surrogate import plug_in


class PaperClusters:
    """The paper's Algorithm 3, then one logistic regression for each cluster.

    Psi and Phi are evaluated at ridge fits of the predictors and a column of ones, with the
    library's defaults. B is the largest norm of a row in the two units. The score of a pair is
    ``Phi1 + Phi2 - Psi``; units are joined if it is not negative.

    Parameters
    ----------
    reading : {"corrected", "printed"}
        How the step terms are read, see `conjoin.paper.classification`.
    """

    threshold = 0.0

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.name = f"paper-{reading}"
        self.note = ""

    def fit_predict(self, task: Task) -> FloatArray:
        """Fit and predict; see `Contestant.fit_predict`."""
        shares = class_shares(task.y_train)
        train, test = rows_by_group(task.groups_train), rows_by_group(task.groups_test)
        if len(train) > MOST_GROUPS_OF_THE_PAPER:
            raise NotImplementedError(f"more than {MOST_GROUPS_OF_THE_PAPER} groups")
        X, codes = with_intercept(task.X_train), _codes(task.y_train, shares)
        units = [_Rows((name,), X[rows], codes[rows], len(shares)) for name, rows in train.items()]
        clusters = greedy(self, cast(list[Unit], units), seed=0).clusters
        self.note = f"{len(clusters)} clusters of {len(units)} groups"
        answer = np.empty((len(task.X_test), len(shares)))
        for names in clusters:
            # Rows in the order of the table: a single cluster then equals `pooled`, folds included.
            own = np.sort(np.concatenate([train[name] for name in names]))
            rows = np.concatenate([test.get(name, np.empty(0, dtype=np.intp)) for name in names])
            if len(rows):
                model = LogisticByValidation(shares).fit(task.X_train[own], task.y_train[own])
                answer[rows] = model.predict_proba(task.X_test[rows])
        return answer

    def prepare(self, unit: Any, seed: int) -> "_Prepared":
        """Fit what the bounds need of a unit."""
        largest = float(np.max(np.linalg.norm(unit.X, axis=1)))
        beta = plug_in(unit.X, unit.codes, unit.C, Setting(unit.C, largest).lam)
        return _Prepared(len(unit.codes), unit.C, largest, beta)

    def compare(self, a: "_Prepared", b: "_Prepared") -> PairScore:
        """Evaluate both bounds of a pair."""
        setting = Setting(a.C, max(a.largest, b.largest), reading=self.reading)
        both = bounds(a.n, b.n, a.beta, b.beta, setting)
        return PairScore(both.margin, both.join, phi=sum(both.Phi), psi=both.Psi)


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a group, or of groups already joined."""

    names: tuple[str, ...]
    X: FloatArray
    codes: np.ndarray
    C: int

    def union(self, other: "_Rows") -> "_Rows":
        return _Rows(
            tuple(sorted([*self.names, *other.names])),
            np.concatenate([self.X, other.X]),
            np.concatenate([self.codes, other.codes]),
            self.C,
        )


@dataclass(frozen=True, eq=False)
class _Prepared:
    n: int
    C: int
    largest: float
    beta: FloatArray


def _codes(y: TextArray, shares: dict[str, float]) -> np.ndarray:
    return np.searchsorted(np.array(list(shares)), y.astype(str))
