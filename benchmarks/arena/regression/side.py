"""The regression side: its sets, contestants, error and words, put together."""

from benchmarks.arena.regression.contestants import CONTESTANTS
from benchmarks.arena.regression.measure import load, shape, split_error
from benchmarks.arena.regression.own import METHODS, best_average, predict
from benchmarks.arena.regression.sets import SETS
from benchmarks.arena.side import Own, Page, Side

PAGE = Page(
    title="Arena: accuracy on real grouped data",
    error="The error on a set is the mean over groups of the test MSE.",
    reference="separate or pooled least squares",
    names="The names that start with `conjoin-` are strategies of `conjoin.partition`. `mallows`, "
    "`chow`, `bic` and `kmeans` are other partition methods of conjoin; `mallows` is "
    '`method="risk"`. `paper-signed` and `paper-literal` are the paper\'s Algorithm 3.',
)

REGRESSION = Side(
    name="regression",
    sets=tuple(SETS),
    load=load,
    contestants=CONTESTANTS,
    shape=shape,
    error=split_error,
    own=Own(options={}, predict=predict, methods=METHODS, best_average=best_average),
    page=PAGE,
)
