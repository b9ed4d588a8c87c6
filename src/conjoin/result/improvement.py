"""How much better a strategy predicts than separate models and than one model for all.

Frozen values that `engine.improvements` computes from losses on held-out rows, and that model files
keep. Changes are shares of an error: -0.1 is an error that is 10 % lower.
"""

from dataclasses import dataclass

UNKNOWN = (float("nan"), float("nan"))


@dataclass(frozen=True)
class Improvement:
    """How much lower the mean error of a strategy is than that of a reference.

    Parameters
    ----------
    change : float
        Change of the mean error (mean squared error, log loss, half the mean deviance) as a share
        of the reference's: -0.1 where it is 10 % lower.
    interval : (float, float)
        Its 90 % interval, for what a check on three new rows for every seven will show.
    carriers : tuple of str
        One or two datasets that carry over half of the reference's error, or of the change. Without
        them the mean says something else. Usually empty.
    share : float
        The share of the reference's error that they carry.
    change_without : float
        The change over the other datasets; nan without carriers.
    interval_without : (float, float)
        Its 90 % interval.
    typical : float
        The median of the changes of all datasets and folds. A few very large errors, of models that
        extrapolate, move the mean and not the median.
    """

    change: float
    interval: tuple[float, float]
    carriers: tuple[str, ...] = ()
    share: float = float("nan")
    change_without: float = float("nan")
    interval_without: tuple[float, float] = UNKNOWN
    typical: float = float("nan")


@dataclass(frozen=True)
class Improvements:
    """A strategy beside separate models and one model for all, and dataset by dataset.

    Parameters
    ----------
    over : mapping of str to Improvement
        By the strategy that it is compared with: "separate", "pooled".
    lower, higher : int
        Numbers of datasets whose error is lower, and higher, than with a separate model.
    winner, loser : (str, float), optional
        The dataset whose error changes most for the better, and most for the worse, as a share of
        the error of its separate model; None if there is none.
    loser_separate : float
        The error of the loser's separate model, as a share of the mean of all separate models. Next
        to 0 a change in percent says nothing. nan if there is no loser.

    Examples
    --------
    >>> import conjoin
    >>> from conjoin.datasets import make_clusters
    >>> tables = make_clusters(sizes=(4, 4), n=40, distance=2.0).tables()
    >>> found = conjoin.partition(tables, target="y").improvements()
    >>> found.over["separate"].change < 0, found.lower + found.higher
    (True, 8)
    """

    over: dict[str, Improvement]
    lower: int
    higher: int
    winner: tuple[str, float] | None
    loser: tuple[str, float] | None
    loser_separate: float = float("nan")
