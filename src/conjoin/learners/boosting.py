"""Boosted trees (LightGBM): rounds, leaves and the kind of trees are chosen by the left-out loss.

Rows and groups of rows enter; every row predicted by trees that have not seen it, the settings with
the lowest left-out loss, and a model of all rows leave. Few rows want few leaves and slow learning,
many rows want many leaves, and rows with much noise want random splits. No constant is right for
all of them, so a few `SHAPES` of trees compete on the left-out rows, in larger steps and with many
rows on some groups only. The best shape is then trained in small steps. All groups learn in step:
the number of rounds is the one with the lowest mean loss over groups, and it is used for the model
of all rows as well.

Targets are standardised first, since LightGBM holds them in single precision. Rows come in an order
that depends on their values alone, and LightGBM is asked to be deterministic, so the result is the
same for any order of rows and any number of threads.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.checks import check_count
from conjoin.errors import ArgumentError, ReadError
from conjoin.execution import stop_if_interrupted, usable_cores
from conjoin.learners.in_step import Fold, binned, subset, train, train_in_step
from conjoin.learners.library import load_lightgbm
from conjoin.learners.remembered import (
    pack_cross_fitted,
    pack_model,
    unpack_cross_fitted,
    unpack_model,
)
from conjoin.learners.rows import LARGE, UNKNOWN, CrossFitted, LearnerRows, centred, group_count
from conjoin.learners.tree_text import without_ranges, without_threads
from conjoin.moments.made import narrow
from conjoin.progress_parts import by_costs, report, split_progress
from conjoin.sources.checkpoints import remembered

# Shapes of trees: (leaves, least rows of a leaf, ridge on leaf values, random splits).
# The first is LightGBM's default; two with few leaves for few rows; random splits average over more
# trees, which helps with noise; many leaves are for many rows. The last two do not compete:
# "sampled" is a part of averages (`learners.blended`), "fine" is for a dataset of few rows.
SHAPES: dict[str, tuple[int, int, float, bool]] = {
    "usual": (31, 20, 0.0, False),
    "small": (8, 10, 1.0, False),
    "tiny": (4, 5, 1.0, False),
    "random": (31, 5, 1.0, True),
    "large": (127, 20, 1.0, False),
    "sampled": (31, 1, 1.0, False),
    "fine": (31, 1, 1.0, False),
}
COMPETING = ("usual", "small", "tiny", "random", "large")
# Every tree of "sampled" sees seven tenths of the rows and of the columns, so leaves of single rows
# average out, and datasets are split off by name from two rows on.
SAMPLED = {
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "feature_fraction": 0.7,
    "min_data_per_group": 2,
    "cat_l2": 1.0,
    "cat_smooth": 2.0,
}
# Steps and rounds of "fine". They are fixed, since a dataset of few rows cannot choose them.
FINE_RATE, FINE_ROUNDS = 0.2, 50
# Rows below which each value of a column is a bin of its own, and not three rows together.
FEW_FOR_BINS = 1_000
# Rows up to which all groups judge every shape; up to SEVERAL_ROWS two do, then one. From MANY_ROWS
# on a single shape is used: the usual one is near the best there, and each other costs as much.
FEW_ROWS, SEVERAL_ROWS, MANY_ROWS = 1_000, 20_000, 100_000
# Share of the time that the choice of a shape takes, for the progress bar.
SHAPES_SHARE = 0.4
# Rows from which trees with many leaves compete: below, they cannot be filled.
ENOUGH_FOR_LARGE = 5_000
# Rows from which a model alone gets several threads of LightGBM. With fewer they mostly wait for
# each other. Models of groups are trained side by side, each with a thread of its own.
FEW_FOR_THREADS = 100_000
# Rows times trees that are predicted at once: about a second, so that Ctrl-C is heard.
MOST_AT_ONCE = 20_000_000
# Step of each round; shapes compete in steps that are FASTER times as large, which ranks them as
# well and takes half the rounds. From SEVERAL_ROWS on the steps are twice as large again. Halving
# the step of the last training would take twice the time and gain little.
RATE, FASTER = 0.05, 2.0
# Rounds at most at this step, fewer with larger ones; and rounds without a lower loss after which
# learning stops.
MOST_ROUNDS, PATIENCE = 1_000, 30
# Rows of a dataset below which LightGBM does not split it off by name, and rows' worth of shrinkage
# of its mean there. Its default of 100 would hide small datasets.
LEAST_NAMED, NAME_SMOOTH = 10, 10.0
# Largest log-odds and logarithm of a count that trees may claim: 12 is a chance of 1 in 160,000.
FARTHEST = 12.0
OBJECTIVES = {"gaussian": "regression", "poisson": "poisson"}


@dataclass(frozen=True)
class Boosting:
    """Boosted trees by LightGBM, as `learner=Boosting(...)`.

    Parameters
    ----------
    rounds : int, optional
        Number of trees; by default the one with the lowest left-out loss, at most 1,000.
    leaves : int, optional
        Leaves of a tree; by default chosen by the left-out loss.
    rate : float, default 0.05
        Step of each round.
    least_rows : int, optional
        Fewest rows of a leaf; by default chosen with the leaves.
    random_state : int, default 0
        Random seed; trees with random splits use it.
    shape : str, optional
        Name of the only shape of trees that is tried (`SHAPES`).

    Examples
    --------
    >>> Boosting(leaves=8, rounds=200).name
    'boosting'
    """

    rounds: int | None = None
    leaves: int | None = None
    rate: float = RATE
    least_rows: int | None = None
    random_state: int = 0
    shape: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, least in (("rounds", 1), ("leaves", 2), ("least_rows", 1)):
            if getattr(self, name) is not None:
                check_count(name, getattr(self, name), least=least)
        if not 0 < float(self.rate) <= 1:
            raise ArgumentError(f"rate={self.rate!r} is no step; expected a number in (0, 1].")

    @property
    def name(self) -> str:
        """Short name for tables."""
        return "boosting"

    @property
    def takes_categories(self) -> bool:
        """Whether it takes categories as codes and missing values as nan."""
        return True

    @property
    def in_threads(self) -> bool:
        """Whether several models may be trained at the same time: LightGBM allows it."""
        return True

    def to_plain(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def cross_fit(
        self,
        rows: LearnerRows,
        group: IntArray,
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> CrossFitted:
        """Predict each group of rows by trees of the others; choose shape and rounds."""
        return remembered(
            "trees of folds",
            (self, rows, group, keep),
            lambda: self._cross_fit(rows, group, progress, keep),
            pack_cross_fitted,
            partial(unpack_cross_fitted, model=TreeModel),
        )

    def _cross_fit(
        self, rows: LearnerRows, group: IntArray, progress: Progress | None, keep: bool
    ) -> CrossFitted:
        data, shapes = _Data.of(rows), self._shapes(len(rows))
        first, last = split_progress(progress, SHAPES_SHARE if len(shapes) > 1 else 0.0)
        losses: dict[str, float] = {}
        if len(shapes) > 1:
            quick = self.quicker() if len(rows) <= SEVERAL_ROWS else self.quicker().quicker()
            judges = self._judges(len(rows), rows.judging(group))
            for shape, part in zip(shapes, by_costs(first, (1,) * len(shapes))):
                losses[shape] = quick._judge(data, group, shape, judges, part).loss
                report(part, 1, 1)
        best = min(shapes, key=lambda shape: losses.get(shape, 0.0))
        found = self._judge(data, group, best, rows.judging(group), last, keep=keep)
        for g in range(rows.judging(group), group_count(group)):  # they choose nothing
            own, model = group == g, self.fit(rows.take(rows.outside(group, g)), found.settings)
            found.held_out[own] = model.predict(rows.X[own], rows.dataset[own])
        report(last, 1, 1)
        return CrossFitted(found.held_out, found.settings, found.models)

    def fit(self, rows: LearnerRows, settings: dict[str, Any]) -> "TreeModel":
        """Train on all rows with given settings."""
        return remembered(
            "trees",
            (self, rows, settings),
            lambda: self._fit(rows, settings),
            pack_model,
            partial(unpack_model, model=TreeModel),
        )

    def _fit(self, rows: LearnerRows, settings: dict[str, Any]) -> "TreeModel":
        data = _Data.of(rows)
        parameters = self._parameters(data.rows, settings)
        booster = train(parameters, data.whole, int(settings["rounds"]))
        return data.model(booster.model_to_string())

    def narrowed(self, settings: dict[str, Any]) -> "Boosting":
        """Return the same with one shape of trees; rounds are still chosen."""
        return replace(self, shape=str(settings["shape"]))

    def quicker(self) -> "Boosting":
        """Return the same with larger steps."""
        return replace(self, rate=min(FASTER * self.rate, 1.0))

    def hastened(self, settings: dict[str, Any]) -> dict[str, Any]:
        """Return settings with larger steps and fewer rounds."""
        if self.rounds is not None:
            return settings
        rounds = max(round(settings["rounds"] / FASTER), 1)
        return {**settings, "rate": min(FASTER * settings["rate"], 1.0), "rounds": rounds}

    def for_few_rows(self) -> "Boosting | None":
        """Return boosting for a single dataset of few rows; None if rounds or trees are given."""
        if not (self.rounds is None and self.leaves is None and self.least_rows is None):
            return None
        return replace(self, shape="fine", rate=FINE_RATE, rounds=FINE_ROUNDS)

    def given_settings(self) -> dict[str, Any] | None:
        """Return the settings if rounds and leaves are given, else None."""
        if self.rounds is None or (self.leaves is None and self.shape is None):
            return None
        return self._settings(self.shape or "usual", self.rounds)

    def _shapes(self, rows: int) -> list[str]:
        """Return the names of the shapes that compete."""
        if self.shape is not None:
            return [self.shape]
        if self.leaves is not None or rows > MANY_ROWS:
            return ["usual"]
        return [name for name in COMPETING if name != "large" or rows >= ENOUGH_FOR_LARGE]

    @staticmethod
    def _judges(rows: int, groups: int) -> int:
        """Return how many groups judge the shapes."""
        return groups if rows <= FEW_ROWS else min(groups, 2 if rows <= SEVERAL_ROWS else 1)

    def _settings(self, shape: str, rounds: int) -> dict[str, Any]:
        leaves, least, ridge, random = SHAPES[shape]
        return {
            "shape": shape,
            "rounds": rounds,
            "leaves": leaves if self.leaves is None else self.leaves,
            "least_rows": least if self.least_rows is None else self.least_rows,
            "ridge": ridge,
            "random": random,
            "rate": float(self.rate),
        }

    def _parameters(
        self, rows: LearnerRows, settings: Mapping[str, Any], side_by_side: int = 1
    ) -> dict[str, Any]:
        """Return the parameters of LightGBM for one of some boosters that train side by side."""
        classes = len(rows.response.classes)
        objective = OBJECTIVES.get(rows.response.family, "binary" if classes <= 2 else "multiclass")
        return {
            "objective": objective,
            **({"num_class": classes} if objective == "multiclass" else {}),
            "num_leaves": settings["leaves"],
            "min_data_in_leaf": settings["least_rows"],
            "lambda_l2": settings["ridge"],
            "extra_trees": settings["random"],
            "learning_rate": settings["rate"],
            "min_data_per_group": LEAST_NAMED,
            "cat_smooth": NAME_SMOOTH,
            **(SAMPLED if settings.get("shape") == "sampled" else {}),
            "seed": self.random_state,
            # Threads that work on one model wait for each other after every step. With many rows
            # half of them do: on a busy machine waiting takes longer than the others save.
            "num_threads": max(
                _threads(len(rows)) // max(side_by_side, 1 + (len(rows) > LARGE)), 1
            ),
            "deterministic": True,
            # By rows, sums depend on the number of threads in their last digit; by columns they do
            # not. With few rows there is one thread, and by rows is quicker.
            "force_row_wise": len(rows) < FEW_FOR_THREADS,
            "force_col_wise": len(rows) >= FEW_FOR_THREADS,
            "feature_pre_filter": False,
            "verbosity": -1,
        }

    def _judge(
        self,
        data: "_Data",
        group: IntArray,
        shape: str,
        count: int,
        progress: Progress | None = None,
        *,
        keep: bool = False,
    ) -> "_Judged":
        """Train in step outside each of the first groups.

        The left-out loss and predictions of the best round are returned.
        """
        most = int(MOST_ROUNDS * min(RATE / self.rate, 1.0))
        settings = self._settings(shape, self.rounds or max(most, 1))
        parameters = self._parameters(data.rows, settings, side_by_side=count)
        folds = _folds(data, parameters, group, count)
        patience = None if self.rounds else PATIENCE
        curve = train_in_step(folds, settings["rounds"], patience, progress)
        rounds = self.rounds or int(np.argmin(curve)) + 1
        held_out, models = np.zeros((len(data.rows), data.rows.lines)), []
        while folds:  # one at a time, so that its memory is free again
            fold = folds.pop(0)
            held_out[fold.rows] = data.held_out(fold, rounds)
            if keep:
                models.append(data.model(fold.text(rounds)))
        settings = {**settings, "rounds": rounds}
        return _Judged(float(curve[rounds - 1]), held_out, settings, tuple(models))


def _folds(data: "_Data", parameters: dict[str, Any], group: IntArray, count: int) -> list[Fold]:
    """Return the boosters outside each of the first groups."""
    rows = data.rows
    if rows.past is None and count == group_count(group) == 2:
        own = [narrow(np.flatnonzero(group == g)) for g in (0, 1)]
        large = len(rows) > LARGE
        parts = data.binned(own) if large else [subset(data.whole, one) for one in own]
        return Fold.of_halves(parts, parameters, own)
    outside = [
        None if rows.past is None else np.flatnonzero(rows.outside(group, g)) for g in range(count)
    ]
    own = [np.flatnonzero(group == g) for g in range(count)]
    return [Fold.of(data.whole, parameters, *both) for both in zip(own, outside)]


@dataclass(frozen=True, eq=False)
class _Judged:
    """One shape: its left-out loss, left-out predictions (n, lines), settings, kept models."""

    loss: float
    held_out: FloatArray
    settings: dict[str, Any]
    models: tuple["TreeModel", ...]


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows in the form that LightGBM takes: the dataset as last column, a standardised target."""

    rows: LearnerRows
    center: float
    scale: float

    @classmethod
    def of(cls, rows: LearnerRows) -> "_Data":
        if rows.response.family != "gaussian":
            return cls(rows, 0.0, 1.0)
        center = float(np.average(rows.y, weights=rows.w))
        scale = float(np.sqrt(np.average((rows.y - center) ** 2, weights=rows.w)))
        return cls(rows, center, scale if scale > 0 else 1.0)

    def design(self, rows: Any) -> FloatArray:
        """Return some rows as LightGBM sees them."""
        X, dataset = self.rows.X[rows], self.rows.dataset[rows]
        return with_dataset(X, dataset) if self.rows.named else X

    @cached_property
    def whole(self) -> Any:
        """The rows as LightGBM's dataset, cut into bins once."""
        return self.binned()[0]

    def binned(self, parts: Sequence[IntArray] = ()) -> list[Any]:
        """Return the rows, or parts of them, as datasets of LightGBM with the same bins."""
        rows, n = self.rows, len(self.rows)
        names = list(rows.categories) + ([rows.X.shape[1]] if rows.named else [])
        # LightGBM's number of threads is one for the whole process: the last object that is made
        # sets it, so datasets have to name it too.
        params = {"feature_pre_filter": False, "verbosity": -1, "num_threads": _threads(n)}
        if n < FEW_FOR_BINS:
            params["min_data_in_bin"] = 1
        load_lightgbm()
        y = ((rows.y - self.center) / self.scale).astype(np.float32)  # as LightGBM holds it
        return binned(self.design, y, rows.w, parts, categorical_feature=names, params=params)

    def held_out(self, fold: Fold, rounds: int) -> FloatArray:
        """Return linear predictors (n, lines) of the held-out rows of a fold."""
        if not self.limited:  # scores are predictions already
            return restored(fold.scores(rounds), self.center, self.scale, self.limited)
        most = fold.trees[rounds - 1]

        def raw(part: slice) -> Any:
            design = self.design(fold.rows[part])
            return fold.booster.predict(design, num_iteration=most, raw_score=True)

        found = _in_parts(raw, len(fold.rows), most * self.rows.lines)
        return restored(found, self.center, self.scale, self.limited)

    def model(self, text: str) -> "TreeModel":
        """Return the model of LightGBM's text."""
        return TreeModel(
            without_threads(text), self.center, self.scale, self.rows.named, self.limited
        )

    @property
    def limited(self) -> bool:
        """Whether raw scores are log-odds or logarithms, which have limits."""
        return self.rows.response.family != "gaussian"


def restored(raw: Any, center: float, scale: float, limited: bool) -> FloatArray:
    """Return raw scores, which are used up, as linear predictors (n, lines) of the target."""
    scores = np.asarray(raw, dtype=np.float64).reshape(len(raw), -1)
    if limited:
        scores = np.clip(centred(scores), -FARTHEST, FARTHEST)
    scores *= scale
    scores += center
    return scores


def _threads(rows: int) -> int:
    """Return how many threads LightGBM gets."""
    return 1 if rows < FEW_FOR_THREADS else usable_cores()


def _in_parts(raw: Callable[[slice], Any], rows: int, trees: int) -> FloatArray:
    """Return raw scores of rows, some rows at a time, so that Ctrl-C is heard between them."""
    step, found = max(MOST_AT_ONCE // max(trees, 1), 1), []
    for start in range(0, rows, step):
        stop_if_interrupted()
        found.append(np.asarray(raw(slice(start, start + step)), dtype=np.float64))
    return np.concatenate(found)


def with_dataset(X: FloatArray, dataset: IntArray) -> FloatArray:
    """Return columns with the number of the dataset as the last; unknown datasets are missing."""
    name = np.where(dataset == UNKNOWN, np.nan, dataset.astype(np.float64))
    return np.column_stack([X, name])


@dataclass(frozen=True)
class TreeModel:
    """Boosted trees that predict rows.

    Parameters
    ----------
    text : str
        LightGBM's own text of the trees.
    center, scale : float
        Units of the target.
    named : bool
        Whether the dataset is the last column.
    limited : bool
        Whether raw scores are log-odds or logarithms, which have limits.
    """

    text: str = field(repr=False)
    center: float
    scale: float
    named: bool
    limited: bool

    @cached_property
    def booster(self) -> Any:
        """The trees, read from their text."""
        lgb = load_lightgbm()
        try:
            return lgb.Booster(model_str=self.text)
        except (lgb.basic.LightGBMError, ValueError) as error:
            raise ReadError(
                f"LightGBM cannot read the trees of the model ({str(error).splitlines()[0]}); fit "
                "the model again, or fetch the original file."
            ) from None

    @property
    def importance(self) -> FloatArray:
        """How much each column lowers the training loss, as shares; the dataset comes last."""
        gain = np.asarray(self.booster.feature_importance("gain"), dtype=np.float64)
        return gain / gain.sum() if gain.sum() > 0 else gain

    def predict(self, X: FloatArray, dataset: IntArray) -> FloatArray:
        """Return linear predictors (n, lines) of rows."""
        if not len(X):
            return np.zeros((0, int(self.booster.num_model_per_iteration())))

        def raw(part: slice) -> Any:
            design = with_dataset(X[part], dataset[part]) if self.named else X[part]
            return self.booster.predict(design, raw_score=True, num_threads=_threads(len(design)))

        found = _in_parts(raw, len(X), self.booster.num_trees())
        return restored(found, self.center, self.scale, self.limited)

    def to_plain(self, objects: list[Any]) -> dict[str, Any]:
        """Return plain values for a model file, without the extreme values of columns."""
        return {"kind": "trees", **asdict(self), "text": without_ranges(self.text)}
