"""The classification side: its sets, contestants, error and words, put together."""

from benchmarks.arena.classification.contestants import CONTESTANTS
from benchmarks.arena.classification.measure import load, shape, split_error
from benchmarks.arena.classification.own import best_average, predict
from benchmarks.arena.classification.sets import SETS
from benchmarks.arena.side import Own, Page, Side

PAGE = Page(
    title="Arena: class probabilities on real grouped data",
    error="The error on a set is the mean over groups of the mean log loss on test rows.",
    reference="separate or pooled logistic regression (C chosen by cross-validation)",
    blanks="Empty cells were not run: GPBoost takes two classes only, and the paper's Algorithm 3 "
    "runs with up to 24 groups.",
    others=("separate-in-order", "pooled-in-order"),
    why="Here the reference is the better of separate and pooled LogisticRegressionCV with "
    "scikit-learn's default folds. These folds follow the order of the rows. Where rows are "
    "sorted, such folds choose a bad C. The references above use shuffled folds and are stronger.",
)

CLASSIFICATION = Side(
    name="classification",
    sets=tuple(SETS),
    load=load,
    contestants=CONTESTANTS,
    shape=shape,
    error=split_error,
    own=Own(options={"family": "logistic"}, predict=predict, methods={}, best_average=best_average),
    page=PAGE,
)
