"""What each method did on a set of the paper: one value per method, written to CSV and read back.

`protocol` makes these values, `real` prints them, `experiments/` stores them.
"""

import csv
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from conjoin.paper.tables.write import write_rows


@dataclass(frozen=True)
class MethodResult:
    """The error of one method on one set; the fields are the columns of the CSV files.

    Attributes
    ----------
    set, representation, protocol : str
        Name of the set, features that models use, and protocol that measured the error.
    rows : int
        Rows of each dataset that a model is fitted to; 0 means all of the training half.
    method : str
    error : float
        Mean squared error, averaged over draws.
    reduction : float
        Reduction of that error against separate least-squares fits, in percent.
    median_reduction : float
        Median over draws of the reduction within a draw, in percent.
    datasets : int
    clusters : float
        Mean number of clusters. Methods with one model per dataset have as many as datasets.
    """

    set: str
    representation: str
    protocol: str
    rows: int
    method: str
    error: float
    reduction: float
    median_reduction: float
    datasets: int
    clusters: float


def write_results(results: Sequence[MethodResult], path: Path) -> None:
    """Write results as CSV, numbers with six digits."""
    header = [field.name for field in fields(MethodResult)]
    rows = [[f"{v:.6g}" if isinstance(v, float) else v for v in astuple(one)] for one in results]
    write_rows(header, rows, path)


def read_results(path: Path) -> list[MethodResult]:
    """Read what `write_results` has written."""
    kinds = {field.name: field.type for field in fields(MethodResult)}
    with path.open(newline="") as file:
        return [
            MethodResult(**{name: kinds[name](text) for name, text in line.items()})  # type: ignore[operator]
            for line in csv.DictReader(file)
        ]
