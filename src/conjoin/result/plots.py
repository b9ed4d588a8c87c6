"""The files, pages and plots of a result, as methods of `Partition`.

A result enters; a file or a page is written, or matplotlib axes leave. The work itself is done in
`result.store`, `report.html` and `report.plots`.
"""

from typing import Any

from conjoin.result.outputs import Outputs


class Plots(Outputs):
    """Methods that save, report and draw a result; `self` is a `Partition`."""

    def save(self: Any, path: Any, *, evidence: bool = False) -> None:
        """Write models, partition, errors and verdicts to a file that `conjoin.load` reads.

        Figures of the report that take long (the map of gains, coefficients with intervals, the
        stability of clusters) are written if they were asked for before, for example by `report`.
        With `evidence=True` they are computed first, so that a report can be made from the file.

        A scikit-learn estimator as learner is written to a second file beside it, with ".skops"
        after the name (`pip install conjoin[skops]`). It holds what the estimator holds: a
        k-nearest-neighbours model holds its training rows.
        """
        from conjoin.result.store import save

        save(self, path, evidence=evidence)

    def report(self: Any, path: Any, *, title: str | None = None) -> None:
        """Write one self-contained HTML page: verdict, clusters, map, coefficients, datasets."""
        from conjoin.report.html import write_report

        write_report(self, path, title=title)

    def plot_errors(self: Any, ax: Any = None) -> Any:
        """Draw the error of every strategy and return matplotlib axes (extra: plot)."""
        from conjoin.report.plots import plot_errors

        return plot_errors(self, ax)

    def plot_tree(self: Any, ax: Any = None) -> Any:
        """Draw the merge tree over the gain of each merge and return matplotlib axes."""
        from conjoin.report.plots import plot_tree

        return plot_tree(self, ax)

    def plot_gains(self: Any, ax: Any = None) -> Any:
        """Draw the gains of joining every two datasets and return matplotlib axes."""
        from conjoin.report.plots import plot_gains

        return plot_gains(self, ax)

    def plot_coefficients(self: Any, feature: str | None = None, ax: Any = None) -> Any:
        """Draw a coefficient across datasets and return matplotlib axes.

        By default the coefficient in which clusters differ most.
        """
        from conjoin.report.plots import plot_coefficients

        return plot_coefficients(self, feature, ax)

    def plot_calibration(self: Any, ax: Any = None) -> Any:
        """Draw how often predictions of a probability came true and return matplotlib axes.

        Only where the target is a class.
        """
        from conjoin.report.plots import plot_calibration

        return plot_calibration(self, ax)
