"""What lies behind a partition: strategies, their errors, the ledger; found when first asked for.

Fitting and validating a strategy or judging every join takes time that not every caller wants to
spend, so each piece is formed on first use and kept. For least squares only moments are kept, no
rows; a likelihood needs its rows until then. A saved file has none either way.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from conjoin import linalg
from conjoin._typing import FloatArray, IntArray
from conjoin.criterion import PairScore
from conjoin.engine.methods import PARTITIONS
from conjoin.engine.study import Study
from conjoin.errors import ArgumentError
from conjoin.grouping import Merge
from conjoin.grouping.ledger import ledger
from conjoin.grouping.objective import sum_by
from conjoin.models.likelihood import Likelihood
from conjoin.models.partial import coefficients, posterior
from conjoin.moments import Basis
from conjoin.result import details as figures
from conjoin.result.details import Details, Map
from conjoin.result.fits import Fit
from conjoin.result.partition import (
    Alternative,
    Estimate,
    MergeVerdict,
    Partition,
    model_of,
)
from conjoin.result.placement import Placement
from conjoin.result.scores import Scored, score
from conjoin.strategies import core as strategies
from conjoin.tables.schema import Schema

NO_INTERVAL = (float("nan"), float("nan"))
FEWEST_ROWS = 5  # of a cluster whose mean features are told
MOST_ALTERNATIVES = 3  # clusters beside its own with which a dataset is compared
FEW_DATASETS = 60  # up to which every dataset is compared with several other clusters
MOST_INTERVALS = 200  # merges up to which the ledger has intervals for the gain


@dataclass(frozen=True)
class DatasetFacts:
    """What is known of the datasets besides their moments.

    Parameters
    ----------
    names : tuple of str
        Datasets.
    sizes : tuple of int
        Their rows.
    schema : Schema
        Columns and what becomes of them.
    limits : mapping of feature to (float, float)
        How far from the rows a model is followed.
    """

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    schema: Schema
    limits: Mapping[str, tuple[float, float]]

    def model(self, basis: Basis, beta: FloatArray, rows: int, error: float) -> Fit:
        """Bring a model and its error back into the units of the data."""
        schema, units = self.schema, basis.target_scale**2
        return model_of(
            beta, basis, schema.response, schema.features, rows, error * units, self.limits
        )


@dataclass(frozen=True, eq=False)
class Analysis:
    """A collection, its partition and all that can be said of it.

    Parameters
    ----------
    described : DatasetFacts
    study : Study
    labels : array (K,)
        The partition.
    method, grouping : str
        What found it.
    delta : float
        Level of the verdicts.
    merges : tuple of Merge, optional
        The steps that led to the partition, where the method went step by step.
    settings : mapping of str to plain values
        What the partition was asked for with.
    """

    described: DatasetFacts
    study: Study
    labels: IntArray
    method: str
    grouping: str
    delta: float
    merges: tuple[Merge, ...] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def using(self, strategy: str) -> Partition:
        """Return the result with the models of a strategy."""
        names, sizes = self.described.names, self.described.sizes
        chosen, coef, cells = self._choose(strategy)
        errors = cells.sum(axis=0) / self.study.moments.w
        return Partition(
            clusters=[[names[k] for k in cluster] for cluster in self._members],
            labels={name: int(label) for name, label in zip(names, self.labels)},
            models=self.models,
            strategy=chosen,
            coefficients={
                name: self.described.model(self.study.basis, coef[k], size, float(errors[k]))
                for k, (name, size) in enumerate(zip(names, sizes))
            },
            pooled=self.pooled,
            method=self.method,
            grouping=self.grouping,
            features=self.described.schema.features,
            schema=self.described.schema,
            analysis=self,
        )

    @cached_property
    def _members(self) -> list[IntArray]:
        return [np.nonzero(self.labels == c)[0] for c in range(int(self.labels.max()) + 1)]

    @cached_property
    def _hard(self) -> FloatArray:
        """Squared errors (F, K) of the clusters as they are."""
        return self.study.cluster_fit(self.labels)[1]

    @cached_property
    def _honest(self) -> FloatArray:
        """Squared errors (F, K) of clusters found anew outside folds, if the method can."""
        method = PARTITIONS.get(self.method) if self.grouping == "agglomerative" else None
        if method is None or method.again is None:
            return self._hard
        w = self.study
        return strategies.validate_partition(method.again, w.problem, w.hyper)

    @cached_property
    def models(self) -> list[Fit]:
        """One model a cluster, with its validated error averaged over its datasets."""
        coef = self._cluster_coef
        errors = self._hard.sum(axis=0) / self.study.moments.w
        rows = np.asarray(self.described.sizes)
        return [
            self.described.model(
                self.study.basis, coef[k[0]], int(rows[k].sum()), float(errors[k].mean())
            )
            for k in self._members
        ]

    @cached_property
    def pooled(self) -> Fit:
        """One model for all datasets, which serves one that is not known."""
        w = self.study
        error = float(np.mean(self._joined.sum(axis=0) / w.moments.w))
        rows = int(np.sum(self.described.sizes))
        beta = w.cluster_fit(self._everything)[0][0]
        return self.described.model(w.basis, beta, rows, error)

    @cached_property
    def _joined(self) -> FloatArray:
        """Squared errors (F, K) of one model for all."""
        return self.study.cluster_fit(self._everything)[1]

    @property
    def _everything(self) -> IntArray:
        return np.zeros_like(self.labels)

    @property
    def _cluster_coef(self) -> FloatArray:
        """Coefficients (K, p) of the clusters as they are."""
        return self.study.cluster_fit(self.labels)[0]

    def _choose(self, strategy: str) -> tuple[str, FloatArray, FloatArray]:
        """Return the strategy's name, its coefficients (K, p) and squared errors (F, K)."""
        w = self.study
        if strategy not in ("clusters", "best"):
            names = w.outcome.names
            if strategy not in names:
                known = [*names, "clusters", "best"]
                raise ArgumentError(
                    f"strategy={strategy!r} is unknown here; expected one of {known}."
                )
            s = names.index(strategy)
            return strategy, w.outcome.coef[s], w.outcome.cells[s]
        if strategy == "best":
            contenders = np.concatenate([w.outcome.cells[:-1], self._honest[None]])
            errors = strategies.summarise(contenders, w.moments.w, w.weights)[0]
            best = (*w.outcome.names[:-1], "clusters")[int(np.argmin(errors))]
            if best != "clusters":
                return self._choose(best)
        return "clusters", self._cluster_coef, self._hard

    @cached_property
    def weights(self) -> dict[str, float]:
        """Shares of the strategies in "auto"."""
        outcome = self.study.outcome
        return dict(zip(outcome.names, map(float, outcome.weights)))

    @cached_property
    def errors(self) -> dict[str, Estimate]:
        """Validated error of every strategy."""
        w = self.study
        cells = np.concatenate([w.outcome.cells, self._honest[None]])
        error, behind, spread = strategies.summarise(cells, w.moments.w, w.weights)
        scale = w.basis.target_scale**2
        return {
            name: Estimate(*(float(x) * scale for x in values))
            for name, *values in zip((*w.outcome.names, "clusters"), error, behind, spread)
        }

    @cached_property
    def history(self) -> tuple[Merge, ...]:
        """The steps to the clusters: joins, and the best joins that were refused."""
        if self.merges is not None:
            return self.merges
        names, search = self.described.names, self.study.outcome.search
        return tuple(
            Merge(
                tuple(names[k] for k in step.left),
                tuple(names[k] for k in step.right),
                PairScore(step.saved, step.joined),
            )
            for step in ledger(search.objective, self.labels, search.near)
        )

    @cached_property
    def verdicts(self) -> tuple[MergeVerdict, ...]:
        """The ledger: a verdict on every step of the history."""
        return self.ledger(None)

    def ledger(self, most: int | None) -> tuple[MergeVerdict, ...]:
        """Return verdicts on the first steps of the history."""
        few = len(self.history) <= MOST_INTERVALS
        return self._judge(self.history[:most], interval=few)

    def _judge(self, merges: Sequence[Merge], *, interval: bool) -> tuple[MergeVerdict, ...]:
        pairs = [(self._numbers(merge.left), self._numbers(merge.right)) for merge in merges]
        scale = self.study.gain_scale
        answers, ends = self.study.judge.verdicts(pairs, delta=self.delta, interval=interval)
        gains = self.study.judge.gains(pairs) * scale
        return tuple(
            MergeVerdict(
                merge.left,
                merge.right,
                merge.joined,
                answer,
                float(gain),
                (float(low * scale), float(high * scale)) if interval else NO_INTERVAL,
            )
            for merge, answer, gain, (low, high) in zip(merges, answers, gains, ends)
        )

    def _numbers(self, names: Sequence[str]) -> list[int]:
        return [self._position[name] for name in names]

    @cached_property
    def _position(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.described.names)}

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining one dataset with its own cluster and the nearest others.

        Nearest by the distance of partially pooled coefficients, in working coordinates. With very
        many datasets only the nearest other cluster is looked at, without intervals.
        """
        few = len(self.labels) <= MOST_INTERVALS
        return self._alternatives([name], MOST_ALTERNATIVES if few else 1)[name]

    @cached_property
    def all_alternatives(self) -> dict[str, tuple[Alternative, ...]]:
        """The same for every dataset; where these are many, with the nearest other cluster only."""
        few = len(self.labels) <= FEW_DATASETS
        return self._alternatives(self.described.names, MOST_ALTERNATIVES if few else 1)

    def _alternatives(self, names: Sequence[str], most: int) -> dict[str, tuple[Alternative, ...]]:
        few = len(self.labels) <= MOST_INTERVALS // 2
        merges, cluster = [], []
        for name in names:
            own = int(self.labels[self._position[name]])
            for c in [own, *self._nearest(name)[:most]]:
                members = tuple(n for n in self._names_in(c) if n != name)
                if members:
                    merges.append(Merge((name,), members, PairScore(float("nan"), c == own)))
                    cluster.append(c)
        found: dict[str, list[Alternative]] = {name: [] for name in names}
        for c, line in zip(cluster, self._judge(merges, interval=few)):
            found[line.left[0]].append(Alternative(c, line.verdict, line.gain, line.interval))
        return {name: self._best_first(name, lines) for name, lines in found.items()}

    def _best_first(self, name: str, lines: Sequence[Alternative]) -> tuple[Alternative, ...]:
        """Return the own cluster, if others are in it, then other clusters by what they gain."""
        own = int(self.labels[self._position[name]])

        def rank(line: Alternative) -> tuple[bool, float]:
            return line.cluster != own, np.inf if np.isnan(line.gain) else -line.gain

        return tuple(sorted(lines, key=rank))

    def _nearest(self, name: str) -> list[int]:
        """Return the other clusters, nearest first."""
        k = self._position[name]
        near, centres = self._near
        distance = np.sum((centres - near[k]) ** 2, axis=1)
        order = np.argsort(distance, kind="stable")
        return [int(c) for c in order if c != self.labels[k]]

    @cached_property
    def _near(self) -> tuple[FloatArray, FloatArray]:
        """Partially pooled coefficients (K, p) and their means over clusters (C, p)."""
        near = coefficients(self.study.moments, self.study.hyper)
        return near, np.stack([near[members].mean(axis=0) for members in self._members])

    def _names_in(self, cluster: int) -> list[str]:
        return [self.described.names[k] for k in self._members[cluster]]

    @cached_property
    def details(self) -> Details:
        """Figures that a report shows beyond the result itself."""
        w, scale = self.study, self.study.basis.target_scale**2
        separate = w.outcome.cells[w.outcome.names.index("separate")]
        cells = {"own": separate, "cluster": self._hard, "pooled": self._joined}
        errors = {name: c.sum(axis=0) / w.moments.w * scale for name, c in cells.items()}
        errors["others"] = self._error_of_others() * scale
        own, spread, noise = figures.own_fits(w.judge.moments, w.basis)
        return Details(
            errors=errors,
            own=own,
            own_spread=spread,
            degrees=self.study.judge.df,
            cluster_spread=figures.cluster_spreads(w.moments, self.labels, w.basis),
            noise=noise,
            dependent=figures.dependent_columns(w.moments),
            far=figures.far_values(w.moments, w.basis),
            upper=self._upper,
            map=self._map,
        )

    def _error_of_others(self) -> FloatArray:
        """Error (K,) on each dataset of one model of all the others."""
        problem = self.study.problem
        beta = figures.others(problem.moments)
        if beta is None:
            return np.full(len(self.labels), np.nan)
        losses = problem.loss(np.broadcast_to(beta, (problem.folds.shape[1], *beta.shape)))
        return losses.sum(axis=0) / problem.moments.w

    def scored(self, strategy: str) -> Scored | None:
        """Return how good the probabilities of a strategy are; None where there are no classes."""
        given, response = self.study.given, self.study.response
        if not response.classes or not isinstance(given, Likelihood):
            return None
        if strategy not in self._scored:
            held_out = given.rows.held_out(self._outside(strategy))
            self._scored[strategy] = score(held_out, self.described.names, response.classes)
        return self._scored[strategy]

    @cached_property
    def _scored(self) -> dict[str, Scored]:
        return {}

    def _outside(self, strategy: str) -> FloatArray:
        """Return a strategy's coefficients (F, K, p) fitted outside each fold."""
        problem = self.study.problem
        if strategy == "clusters":
            refit = strategies.clusters(self.labels, self.study.hyper)
            return strategies.fit_outside(refit, strategies.fit(refit, problem)[1])
        return self.study.outcome.outside(strategy, problem)

    @cached_property
    def _upper(self) -> tuple[MergeVerdict, ...]:
        """The merges above the clusters, none of which was made."""
        names, search = self.described.names, self.study.outcome.search
        merges = [
            Merge(
                tuple(names[k] for k in left),
                tuple(names[k] for k in right),
                PairScore(float("nan"), False),
            )
            for left, right in figures.upper_merges(search.objective, self.labels, search.near)
        ]
        return self._judge(merges, interval=len(merges) <= MOST_INTERVALS)

    @cached_property
    def _map(self) -> Map:
        names = self.described.names
        root = figures.whole_tree(names, [*(v for v in self.verdicts if v.joined), *self._upper])
        groups: list[tuple[int, ...]]
        groups = [(int(k),) for k in np.argsort(self.labels, kind="stable")]
        if root is not None:
            few = len(names) <= figures.MOST_ON_MAP
            most = len(names) if few else figures.GROUPS_ON_MAP
            groups = [node.members for node in figures.cut(root, most)]
        elif len(names) > figures.MOST_ON_MAP:
            groups = [tuple(map(int, members)) for members in self._members]
        scale = self.study.gain_scale
        return figures.map_of(self.study.judge, groups, self.labels, self.delta, scale)

    @cached_property
    def placement(self) -> Placement:
        """What is needed to place a new dataset: each cluster's coefficients as a distribution."""
        w = self.study
        C = len(self._members)
        m = w.moments
        noise = (w.hyper.noise * w.hyper.relative)[:, None]
        G, h = sum_by((m.G / noise[..., None], m.h / noise), self.labels, C)
        mu = posterior(m, w.hyper).mu
        spread = np.diagonal(w.hyper.L) ** 2
        covariance = linalg.inverse(linalg.symmetrise(np.diag(1 / spread) + G))
        centre = mu + linalg.matvec(covariance, h - linalg.matvec(G, mu))
        return Placement(
            basis=w.basis,
            noise=float(w.hyper.noise) * w.dispersion,
            centre=np.concatenate([centre, mu[None]]),
            covariance=np.concatenate([covariance, np.diag(spread)[None]]),
            datasets=np.array([*(len(k) for k in self._members), 1.0]),
            means=self._means(),
        )

    def _means(self) -> FloatArray:
        """Mean features of each cluster (C, features) in working coordinates.

        Unknown (nan) without an intercept, and for clusters of so few rows that a mean would
        tell them. Rows of a likelihood count by their information.
        """
        m, C = self.study.moments, len(self._members)
        features = m.p // m.outputs - int(self.study.basis.intercept)
        if not self.study.basis.intercept:
            return np.full((C, features), np.nan)
        G, n = sum_by((m.G[:, 0, :: m.outputs], m.n), self.labels, C)
        means: FloatArray = np.where(
            n[:, None] >= FEWEST_ROWS * m.outputs, G[:, 1:] / np.maximum(G[:, :1], 1e-300), np.nan
        )
        return means

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be formed again."""
        return {name: self.__dict__[name] for name in self.__dataclass_fields__}
