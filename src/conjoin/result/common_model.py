"""What is known of the model that all datasets share: which columns matter, how, and for whom not.

`engine.common_model` computes it; results, model files and the page show it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Importance:
    """How much the common model needs one column.

    Parameters
    ----------
    rise : float
        How much the error of held-out rows rises when the column's values are shuffled among them.
    interval : (float, float)
        Its 90 % confidence interval.
    gain : float, optional
        Share of the fall of the training loss that splits on the column brought; for boosted trees.
    """

    rise: float
    interval: tuple[float, float]
    gain: float | None = None


@dataclass(frozen=True)
class PartialDependence:
    """What the common model predicts on average, if one column has a given value in every row.

    Parameters
    ----------
    values : tuple
        Values of the column: numbers in order, or the names of categories.
    predictions : tuple of tuples of float
        For each value the mean prediction: one number, or the probability of each class.
    """

    values: tuple[Any, ...]
    predictions: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Departure:
    """Where held-out rows of a dataset differ from what the model without names predicts.

    Parameters
    ----------
    column : str
        The column along which the dataset departs most.
    middles : tuple
        Median of the column in each part of its range; names of categories.
    rows : tuple of int
        Rows of the dataset in each part.
    difference : tuple of float
        Mean of target minus prediction in each part; for classes of the indicator of a class minus
        its probability.
    half : tuple of float
        Half the width of the 90 % confidence interval of each difference.
    p_value : float
        Chance of differences as large as these along any column if the dataset did not depart.
    label : str, optional
        The class that the differences are about.
    """

    column: str
    middles: tuple[Any, ...]
    rows: tuple[int, ...]
    difference: tuple[float, ...]
    half: tuple[float, ...]
    p_value: float
    label: str | None = None


@dataclass(frozen=True)
class CommonModel:
    """All that is known of the common model.

    Parameters
    ----------
    importance : mapping of column to Importance
        The most important first; the dataset's name is the column `name`.
    dependence : mapping of column to PartialDependence
    departures : mapping of dataset to Departure
        Datasets with too few rows have none.
    name : str
        What the dataset's name is called among the columns.
    """

    importance: Mapping[str, Importance]
    dependence: Mapping[str, PartialDependence]
    departures: Mapping[str, Departure]
    name: str

    def to_plain(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return {
            "importance": [[key, asdict(one)] for key, one in self.importance.items()],
            "dependence": [[key, asdict(one)] for key, one in self.dependence.items()],
            "departures": [[key, asdict(one)] for key, one in self.departures.items()],
            "name": self.name,
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "CommonModel":
        """Return what plain values of `to_plain` describe."""
        return cls(
            {key: Importance(**_tuples(one)) for key, one in plain["importance"]},
            {key: PartialDependence(**_tuples(one)) for key, one in plain["dependence"]},
            {key: Departure(**_tuples(one)) for key, one in plain["departures"]},
            plain["name"],
        )


def _tuples(value: Any) -> Any:
    """Return lists as tuples, and mappings with lists as tuples."""
    if isinstance(value, Mapping):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value
