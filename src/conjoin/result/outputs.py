"""Tables, flat numbers and the printed summary of a result, as methods of `Partition`.

A result enters; a data frame, a dict of numbers or a text leaves. The work itself is done in
`report.frames` and `report.summary`.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conjoin.report.summary import Summary

# Confidence of the intervals of coefficients, as in the report.
LEVEL = 0.9


class Outputs:
    """Methods that give a result to other tools; `self` is a `Partition`."""

    def to_frame(self: Any, what: str = "datasets", *, level: float = LEVEL) -> Any:
        """Return a part of the result as a tidy table, one row for each thing.

        Parameters
        ----------
        what : str, default "datasets"
            "clusters", "datasets", "strategies", "verdicts" (one row for each join) or
            "coefficients" (one row for each coefficient of each dataset and cluster).
        level : float, default 0.9
            Confidence of the intervals of "coefficients"; other intervals are of 90 %.

        Returns
        -------
        pandas.DataFrame; a pyarrow.Table if pandas is not installed

        Raises
        ------
        ArgumentError
            If `what` is unknown, `level` is not between 0 and 1, or a model file was written
            without coefficients and their errors.

        Notes
        -----
        A dataset's coefficients are those of its own fit, with standard error and interval (t
        distribution); `in_use` is the coefficient that predicts. A cluster's are those of its
        model. For two classes there are odds ratios, for counts rate ratios: the exponential of a
        coefficient. `events` is the number of rows of the second class. "level" is the prediction
        (of a linear predictor) at average features. Errors stand as `error`, and as `shown` on the
        scale of the report (its root for mean squared errors).

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
        >>> result = conjoin.partition(tables, target="y")
        >>> result.to_frame("datasets")[["dataset", "cluster", "rows"]].values.tolist()
        [['d1', 1, 60], ['d2', 1, 60], ['d3', 2, 60]]
        >>> list(result.to_frame("coefficients").columns)[:6]
        ['of', 'name', 'term', 'estimate', 'standard_error', 'low']
        """
        from conjoin.report.frames import frame_of

        return frame_of(self, what, level)

    def metrics(self: Any) -> dict[str, float]:
        """Return the result as flat numbers by name, for experiment trackers.

        Nothing is computed that takes long. Numbers that are not known are left out.

        Returns
        -------
        dict of str to float
            `error` of the strategy in use (with `shown`, `shown_low`, `shown_high`), and
            `error.NAME` of every strategy. Changes against separate models and one model for all
            in percent. Numbers of datasets, clusters, rows and features. For classes `log_loss`,
            `brier` and `auc`, averaged over datasets.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
        >>> found = conjoin.partition(tables, target="y").metrics()
        >>> found["datasets"], found["clusters"], found["error"] == found["error.auto"]
        (3.0, 2.0, True)
        """
        from conjoin.report.frames import metrics_of

        return metrics_of(self)

    def summary(self: Any) -> "Summary":
        """Return the result as a text of tables, to print or to show in a notebook.

        Returns
        -------
        Summary
            `print(result.summary())` prints it; `str()` gives the text.

        Examples
        --------
        >>> import conjoin
        >>> from conjoin.datasets import make_clusters
        >>> tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=2.0).tables()
        >>> text = str(conjoin.partition(tables, target="y").summary())
        >>> text.splitlines()[0].strip()
        'Which datasets to train together'
        """
        from conjoin.report.summary import Summary, summary_text

        return Summary(summary_text(self))
