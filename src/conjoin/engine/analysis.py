"""All that was found of a collection, and what can be asked of it afterwards.

The frozen values of the steps enter; `using` returns a `Partition` with the models of a strategy.
Everything that was fitted is here already. Verdicts, the figures of the report, scores of
probabilities and the validation of the search take time that not every caller wants to spend: they
are computed when first asked for, and once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.engine.details import make_details, others
from conjoin.engine.errors import (
    estimate_errors,
    find_improvements,
    held_out_losses,
    mean_error,
)
from conjoin.engine.placing import learned_priors, make_placement
from conjoin.engine.spreads import course_of_fit, spread_of
from conjoin.engine.stability import Contest, find_stability
from conjoin.engine.verdicts import Verdicts, make_verdicts
from conjoin.errors import ArgumentError
from conjoin.grouping.merge import Step, find_steps
from conjoin.models.likelihood import Likelihood
from conjoin.result.findings import Findings
from conjoin.result.partition import Partition
from conjoin.result.scores import Scored, score
from conjoin.result.values import Alternative, Estimate, Merge
from conjoin.strategies import SEARCHED

if TYPE_CHECKING:
    from conjoin.criterion.judge import Judge
    from conjoin.engine.methods import Chosen
    from conjoin.engine.strategies import Strategies
    from conjoin.engine.study import DatasetFacts, Study
    from conjoin.grouping.search import Search
    from conjoin.models.spread import Spread
    from conjoin.moments.kept import KeptMoments
    from conjoin.result.course import Course
    from conjoin.result.details import Details
    from conjoin.result.fits import Fit
    from conjoin.result.improvement import Improvements
    from conjoin.result.placement import Placement
    from conjoin.result.stability import Stability
    from conjoin.result.update import Move
    from conjoin.strategies.improvement import HeldOut
    from conjoin.strategies.plan import Start
    from conjoin.strategies.refits import Refit
    from conjoin.strategies.validation import Validated
    from conjoin.tables import DatasetCollection

Value = TypeVar("Value")


@dataclass(frozen=True)
class Origin:
    """How a partition came about.

    Parameters
    ----------
    method, grouping : str
        What found it.
    delta : float
        Level of the verdicts.
    settings : mapping of str to plain values
        What was asked for.
    steps : tuple of Step, optional
        The steps of a method that goes step by step.
    """

    method: str
    grouping: str
    delta: float
    settings: Mapping[str, Any]
    steps: tuple[Step[str], ...] | None = None


@dataclass(frozen=True, eq=False)
class Analysis:
    """A collection, its partition, its strategies, and all that can be said of them.

    Parameters
    ----------
    facts : DatasetFacts
    study : Study
    start : Start
    search : Search, optional
        None for a single dataset.
    strategies : Strategies
    chosen : Chosen
        The partition with the fits of its clusters.
    judge : Judge, optional
        None where datasets are too small for verdicts (`engine.row_steps`).
    origin : Origin
    refits : mapping of strategy to Refit
        Their variances are the prior of new datasets; empty for a single dataset.
    findings : Findings
        Gross errors and suspicious names and columns, found before the steps.
    table : DatasetCollection, optional
        The rows, for intervals of predictions; None where they are elsewhere.
    kept : KeptMoments, optional
        Moments that rows can be added to; None unless they were asked for.
    moves : tuple of Move
        After an update: the changes of clusters that were weighed.
    """

    facts: "DatasetFacts"
    study: "Study"
    start: "Start"
    search: "Search | None"
    strategies: "Strategies"
    chosen: "Chosen"
    judge: "Judge | None"
    origin: Origin
    refits: "Mapping[str, Refit]" = field(default_factory=dict)
    findings: Findings = Findings()
    table: "DatasetCollection | None" = None
    kept: "KeptMoments | None" = None
    moves: "tuple[Move, ...]" = ()
    _found: dict[str, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return what a pickle holds: all that was found, and no rows."""
        for name in (*self.strategies.validated, "clusters", "plain"):
            _ = self.spread(name), self.course(name)
        return {**vars(self), "table": None}

    def _once(self, name: str, compute: "Callable[[], Value]") -> "Value":
        """Compute something when it is first asked for, and keep it."""
        if name not in self._found:
            self._found[name] = compute()
        found: Value = self._found[name]
        return found

    def knows(self, name: str) -> bool:
        """Say whether "details" or "stability" was asked for before."""
        return name in self._found

    # --- results ---------------------------------------------------------------------------------

    def using(self, strategy: str) -> Partition:
        """Return the result with the models of a strategy."""
        names, sizes = self.facts.names, self.facts.sizes
        name, fit = self._choose(strategy)
        errors = self._errors_by_dataset(fit.losses)
        return Partition(
            clusters=[[names[k] for k in cluster] for cluster in self._members],
            labels={name: int(label) for name, label in zip(names, self._labels)},
            models=self._cluster_models,
            strategy=name,
            coefficients={
                dataset: self._model(fit.coef[k], size, float(errors[k]))
                for k, (dataset, size) in enumerate(zip(names, sizes))
            },
            pooled=self._pooled_model,
            method=self.origin.method,
            grouping=self.origin.grouping,
            features=self.facts.schema.features,
            schema=self.facts.schema,
            analysis=self,
        )

    @property
    def copies(self) -> int:
        """Number of rows that are exact copies of another row of their dataset."""
        return int(np.sum(self.study.copies))

    def _choose(self, strategy: str) -> "tuple[str, Validated]":
        """Return the name and the fits of a strategy."""
        known = self.strategies.validated
        if strategy == "best":
            best = min(known.keys() - {"auto"} | {"clusters"}, key=self._rank)
            return self._choose(best)
        if strategy == "clusters":
            return strategy, self.chosen.clusters
        if strategy == "plain":
            return strategy, self.chosen.plain
        if not isinstance(strategy, str) or strategy not in known:
            names = [*known, "clusters", "plain", "best"]
            raise ArgumentError(f"strategy={strategy!r} is unknown here; expected one of {names}.")
        return strategy, known[strategy]

    def _rank(self, name: str) -> tuple[float, int]:
        """Return what strategies are sorted by: their error, then their order."""
        order = [*self.strategies.validated, "clusters"]
        fair = SEARCHED if name == "clusters" and SEARCHED in self.errors else name
        return self.errors[fair].error, order.index(name)

    @cached_property
    def _cluster_models(self) -> "list[Fit]":
        """One model for each cluster; its error is averaged over its datasets."""
        coef, errors = (
            self.chosen.clusters.coef,
            self._errors_by_dataset(self.chosen.clusters.losses),
        )
        rows, weights = np.asarray(self.facts.sizes), self.study.weights
        return [
            self._model(coef[k[0]], int(rows[k].sum()), mean_error(errors[k], weights[k]))
            for k in self._members
        ]

    @cached_property
    def _pooled_model(self) -> "Fit":
        """One model for all datasets, which serves those not there at fitting."""
        errors = self._errors_by_dataset(self.chosen.pooled.losses)
        error = mean_error(errors, self.study.weights)
        return self._model(self.chosen.pooled.coef[0], int(np.sum(self.facts.sizes)), error)

    def _model(self, beta: FloatArray, rows: int, error: float) -> "Fit":
        return self.facts.model(self.study.basis, beta, rows, error)

    def _errors_by_dataset(self, losses: FloatArray) -> FloatArray:
        """Return mean losses (K,) from losses (F, K), in working units."""
        problem = self.start.problem
        return np.where(problem.tested, losses.sum(axis=0) / problem.moments.w, np.nan)

    @property
    def _labels(self) -> IntArray:
        return self.chosen.labels

    @cached_property
    def _members(self) -> list[IntArray]:
        order = np.argsort(self._labels, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self._labels[order])) + 1)

    # --- errors ----------------------------------------------------------------------------------

    @property
    def weights(self) -> dict[str, float]:
        """Weights of the strategies in "auto"."""
        return dict(self.strategies.weights)

    @property
    def errors(self) -> dict[str, Estimate]:
        """Error of every strategy, and of the clusters with the partition searched again."""
        return self._once("errors", self._estimate_errors)

    def _estimate_errors(self) -> dict[str, Estimate]:
        scale = self.study.basis.target_scale**2
        w = self.start.problem.moments.w
        weights, noise = self.study.weights, self.study.noise_shares
        return estimate_errors(self.held_out, w, weights, scale, noise)

    @property
    def held_out(self) -> "dict[str, HeldOut]":
        """Losses on held-out rows of every strategy, and of the clusters searched for again."""
        method = self._search_method
        return self._once(
            "held out",
            lambda: held_out_losses(self.strategies, self.chosen, method, self.start),
        )

    def improvements(self, strategy: str) -> "Improvements":
        """Compare a strategy with separate models and with one model for all."""
        held, w = self.held_out, self.start.problem.moments.w
        weights, names = self.study.weights, self.facts.names
        return self._once(
            f"improvements of {strategy}",
            lambda: find_improvements(held[strategy], held, w, weights, names),
        )

    @property
    def _search_method(self) -> str:
        """The method whose search can be repeated; none where a criterion found the clusters."""
        return self.origin.method if self.origin.grouping == "agglomerative" else ""

    @property
    def stability(self) -> "Stability | None":
        """How often datasets are together when the search sees random halves of the rows."""
        return self.stability_of(self._search_method, self._contest)

    @property
    def _contest(self) -> Contest | None:
        """The comparison of the clusters with one model for all, where there was one."""
        searched = self.chosen.searched_losses
        if searched is None:
            return None
        return Contest.of_search(searched, self.chosen.pooled.losses, self.study.weights)

    def stability_of(self, method: str, contest: Contest | None) -> "Stability | None":
        """Return the stability of a method's clusters that won or lost a contest; found once."""
        seed = int(self.origin.settings.get("random_state", 0))
        return self._once(
            "stability",
            lambda: find_stability(
                method, self.chosen, self.search, self.start, self.facts.names, seed, contest
            ),
        )

    # --- verdicts --------------------------------------------------------------------------------

    @property
    def steps(self) -> tuple[Step[str], ...]:
        """The steps to the clusters: joins, and the best joins that were refused."""
        return self._once("steps", self._find_steps)

    def _find_steps(self) -> tuple[Step[str], ...]:
        if self.origin.steps is not None or self.search is None:
            return self.origin.steps or ()
        names = self.facts.names
        return tuple(
            Step(tuple(names[k] for k in one.left), tuple(names[k] for k in one.right), one.score)
            for one in find_steps(
                self.search.objective, self._labels, self.search.near, self.chosen.joins
            )
        )

    def ledger(self, most: int | None, progress: Progress | None = None) -> tuple[Merge, ...]:
        """Return the first steps with their verdicts."""
        return self._verdicts.ledger(self.steps, most)

    def ledger_of(self, steps: tuple[Step[str], ...], most: int | None) -> tuple[Merge, ...]:
        """Return the first of other steps to the same clusters, with their verdicts."""
        if steps == self.steps:
            return self.ledger(most)
        fresh = self._once("fresh verdicts", lambda: replace(self._verdicts, _known={}))
        return fresh.ledger(steps, most)

    @property
    def _verdicts(self) -> Verdicts:
        return self._once("verdicts", self._make_verdicts)

    def _make_verdicts(self) -> Verdicts:
        assert self.judge is not None
        names, delta = self.facts.names, self.origin.delta
        return make_verdicts(self.study, self.start, self.judge, names, self._labels, delta)

    def join_change(self, left: Sequence[str], right: Sequence[str]) -> tuple[float, float]:
        """Return what joining two groups does to their held-out error, and its standard error."""
        position = self._once("positions", lambda: {n: k for k, n in enumerate(self.facts.names)})
        pair = tuple(position[name] for name in left), tuple(position[name] for name in right)
        change, spread = self._once(f"change {pair}", lambda: self._verdicts.joins.changes([pair]))
        scale = self.study.gain_scale
        return float(change[0]) * scale, float(spread[0]) * scale

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining a dataset with its own cluster and with others."""
        return self._verdicts.alternatives_of(name, self.steps)

    @property
    def all_alternatives(self) -> dict[str, tuple[Alternative, ...]]:
        """The same for every dataset."""
        return self._once("alternatives", lambda: self._verdicts.all_alternatives(self.steps))

    # --- the report ------------------------------------------------------------------------------

    @property
    def common_model(self) -> None:
        """None: lines have coefficients instead."""
        return None

    @property
    def details(self) -> "Details | None":
        """The figures of the report."""
        return self._once("details", self._make_details)

    def _make_details(self) -> "Details":
        chosen = self.chosen
        errors = {"own": chosen.own, "cluster": chosen.clusters, "all": chosen.pooled}
        losses = {name: one.losses for name, one in errors.items()}
        losses["separate"] = self.held_out["separate"].losses
        by_dataset = {name: self._errors_by_dataset(one) for name, one in losses.items()}
        # Clusters of a likelihood share a centre, on which the model of one dataset depends a
        # little. A dataset that is alone in its cluster has one model and one error.
        alone = np.bincount(self._labels)[self._labels] == 1
        by_dataset["own"] = np.where(alone, by_dataset["cluster"], by_dataset["own"])
        return make_details(
            self.study, self.start, by_dataset, self._verdicts, self.search, self.ledger(None)
        )

    def scored(self, strategy: str) -> Scored | None:
        """Return how good the probabilities of a strategy are; None if there are no classes."""
        given, response = self.study.given, self.study.response
        if not response.classes or not isinstance(given, Likelihood):
            return None
        if not given.rows.has_probabilities and not self.knows(f"scores of {strategy}"):
            return None
        fold_coef = self._choose(strategy)[1].fold_coef
        assert fold_coef is not None  # a likelihood keeps them
        names, classes = self.facts.names, response.classes
        return self._once(
            f"scores of {strategy}", lambda: score(given.held_out(fold_coef), names, classes)
        )

    def spread(self, strategy: str) -> "Spread":
        """Return how far targets lie from the predictions of a strategy, on held-out rows."""
        return self._once(f"spread of {strategy}", lambda: self._find_spread(strategy))

    def _find_spread(self, strategy: str) -> "Spread":
        fit, units = self._choose(strategy)[1], self.study.basis.target_scale**2
        errors = self._errors_by_dataset(fit.losses) * units
        away = others(self.start.problem.moments)
        return spread_of(fit, away, self.table, self.study, errors, self._pooled_model.error)

    def course(self, strategy: str) -> "Course | None":
        """Return errors over time; None where rows have no order."""
        return self._once(f"course of {strategy}", lambda: self._find_course(strategy))

    def _find_course(self, strategy: str) -> "Course | None":
        if self.study.dealt is None or self.study.dealt.forward is None:
            return None
        fit = self._choose(strategy)[1]
        return course_of_fit(fit, self.table, self.study, self.held_out)

    @property
    def placement(self) -> "Placement":
        """What places a new dataset: the coefficients of each cluster as a distribution."""
        return self._once("placement", self._make_placement)

    def _make_placement(self) -> "Placement":
        priors = learned_priors(self.study, self.start, self.refits, self.strategies)
        return make_placement(self.study, self.start, self._labels, priors)

    @property
    def settings(self) -> Mapping[str, Any]:
        """What the partition was asked for with."""
        return self.origin.settings
