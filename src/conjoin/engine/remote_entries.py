"""Strategies with a learner where rows are not in memory: all from moments.

Fits of the engine with and without the learner's prediction enter, and moments of columns and
predictions (`engine.wide`). The same entries leave as from rows in memory (`engine.entries`), with
their losses and the weights of their average.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.analysed import Analysed
from conjoin.engine.entries import (
    AVERAGED,
    KINDS,
    Entry,
    Layout,
    engine_average,
    entry_of_engine,
)
from conjoin.engine.study import Study
from conjoin.engine.wide import Wide
from conjoin.strategies.average import FEWEST_DATASETS, summarise
from conjoin.strategies.stacking import stacked_weights


@dataclass(frozen=True, eq=False)
class Lines:
    """Strategies as lines in columns and predictions.

    Parameters
    ----------
    wide : Wide
        Moments of columns and predictions.
    layout : Layout
        Where the predictions stand.
    study : Study
        The linear study, for the weights of datasets.
    group : array (F,)
        Group of every fold.
    """

    wide: Wide
    layout: Layout
    study: Study
    group: IntArray

    def of_engine(self, found: Analysed, *, corrected: bool) -> FloatArray:
        """Return v (F, K, q) of the average of the engine's strategies."""
        average = engine_average(found.fits, found.analysis.strategies.weights)
        used = self.layout.corrected_columns() if corrected else np.zeros(0, dtype=np.int64)
        return self.wide.padded(average.fold_coef, used)

    def of_learner(self, kind: str) -> FloatArray:
        """Return v (F, K, q) of a prediction."""
        return self.wide.own(int(self.layout.positions[kind][0]), centred=kind != "residual")

    def entries(
        self, linear: Analysed, corrected: Analysed
    ) -> tuple[dict[str, Entry], dict[str, FloatArray]]:
        """Return all strategies but the average of all, and v of those that it averages."""
        flat, bent, layout = linear.analysis, corrected.analysis, self.layout
        found = {
            name: entry_of_engine(one, flat.study, layout, None, corrected=False)
            for name, one in flat.strategies.validated.items()
            if name != "auto"
        }
        lines = {
            "linear": self.of_engine(linear, corrected=False),
            "corrected": self.of_engine(corrected, corrected=True),
        }
        for name, one, curved in (("linear", flat, False), ("corrected", bent, True)):
            auto = one.strategies.validated["auto"]
            found[name] = entry_of_engine(auto, one.study, layout, None, corrected=curved)
        if "residual" in layout.positions:
            lines["residual"] = lines["linear"] + self.of_learner("residual")
            slopes = found["linear"].slopes.copy()
            slopes[:, 0, layout.positions["residual"]] = 1.0
            losses = self.wide.losses(lines["residual"])
            found["residual"] = Entry(found["linear"].intercept, slopes, losses)
        K = len(self.study.weights)
        for kind, name in KINDS.items():
            if kind in layout.positions:
                lines[name] = self.of_learner(kind)
                losses = self.wide.losses(lines[name])
                found[name] = Entry(np.zeros((K, 1)), layout.unit(kind, K), losses)
        return found, lines

    def average(
        self, entries: Mapping[str, Entry], lines: Mapping[str, FloatArray], seed: int
    ) -> tuple[Entry, dict[str, float]]:
        """Return the average of entries, and its weights; see `engine.entries`."""
        names = [name for name in AVERAGED if name in lines]
        w = self.wide.folds.w.sum(axis=1)
        counted = (self.study.weights / w)[:, None, None]
        H = self.wide.products([lines[name] for name in names]) * counted
        weights = self._weights(H, np.ones(len(H), dtype=bool), seed)
        judged = np.zeros_like(lines[names[0]])
        for g in np.unique(self.group):
            own = self.group == g
            found = self._weights(H, ~own, seed)
            judged[own] = sum(one * lines[name][own] for one, name in zip(found, names))
        entry = Entry(
            np.asarray(sum(a * entries[n].intercept for a, n in zip(weights, names))),
            np.asarray(sum(a * entries[n].slopes for a, n in zip(weights, names))),
            self.wide.losses(judged),
        )
        return entry, dict(zip(names, map(float, weights)))

    def _weights(self, H: FloatArray, kept: FloatArray, seed: int) -> FloatArray:
        """Return the weights from some folds; units are datasets, with few their folds."""
        if H.shape[1] >= FEWEST_DATASETS:
            return stacked_weights(H[kept].sum(axis=0), seed)
        units = np.where(kept[:, None, None, None], H, 0.0).swapaxes(0, 1)
        last = int(np.flatnonzero(kept)[-1]) + (H.shape[1] - 1) * len(H) + 1
        return stacked_weights(units.reshape(-1, *H.shape[2:])[:last], seed)

    def is_better(self, losses: FloatArray, lowest: FloatArray, sure: float) -> bool:
        """Say whether losses (F, K) are lower by more than `sure` standard errors."""
        w = self.wide.folds.w.sum(axis=1)
        both = np.stack([losses, lowest])
        mean, difference, error = summarise(both, w, self.study.weights)
        return bool(mean[0] < mean[1] and difference[1] > sure * error[1])

    def mean_loss(self, losses: FloatArray) -> float:
        """Return the mean loss over datasets, by their weight, of losses (F, K)."""
        w = self.wide.folds.w.sum(axis=1)
        return float(np.sum(losses.sum(axis=0) / w * self.study.weights))
