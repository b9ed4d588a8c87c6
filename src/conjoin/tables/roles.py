"""Which column of a table is the target, the dataset name, the weight, or a feature.

The arguments `target`, `by`, `features`, `weights`, `category`, `ignore`, `time` and `repeat`
enter; a checked `Roles` leaves.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from conjoin.errors import DataError
from conjoin.text import quoted


@dataclass(frozen=True)
class Roles:
    """The role of each column.

    Parameters
    ----------
    target : str
        Column to predict.
    by : tuple of str, default ()
        Columns that name the dataset of a row.
    features : tuple of str, optional
        Columns to use as features; None means all columns without another role.
    weights : str, optional
        Column of row weights.
    category : tuple of str, default ()
        Columns whose values are categories, though they are numbers or dates.
    ignore : tuple of str, default ()
        Columns that are not used.
    time : str, optional
        Column that orders rows in time; a feature like others unless it is ignored.
    repeat : str, optional
        Column that names whom a row is about; no feature.

    Raises
    ------
    DataError
        If one column has two roles, or `features` is empty.

    Examples
    --------
    >>> Roles("sales", ("store",)).aside
    ['store', 'sales']
    """

    target: str
    by: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    weights: str | None = None
    category: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    time: str | None = None
    repeat: str | None = None

    def __post_init__(self) -> None:
        self._check_time_and_repeat()
        if self.target in self.by:
            raise DataError(
                f"by={self.target!r} is also the target; name the column of datasets with by."
            )
        self._check_category_and_ignore()
        if self.features is None:
            return
        if not self.features:
            raise DataError("features is empty; name at least one column, or leave it out.")
        for column in self.features:
            if column in self.aside:
                raise DataError(
                    f"features names {column!r}, which is the target, by, weights or repeat; leave "
                    "it out of features."
                )
        repeated = sorted({c for c in self.features if self.features.count(c) > 1})
        if repeated:
            raise DataError(f"features names {repeated[0]!r} twice; name it once.")

    def _check_category_and_ignore(self) -> None:
        """Raise an error if a column is a category or ignored, and has another role."""
        for option, names in (("category", self.category), ("ignore", self.ignore)):
            for name in names:
                if name in self.aside:
                    if option == "ignore" and name == self.repeat:
                        continue  # it is no feature anyway
                    raise DataError(
                        f"{option} names {name!r}, which is the target, by or weights; leave it "
                        f"out of {option}."
                    )
        for name in self.ignore:
            for option, names in (("category", self.category), ("features", self.features or ())):
                if name in names:
                    raise DataError(
                        f"{option} and ignore both name {name!r}; leave it out of one of them."
                    )

    def _check_time_and_repeat(self) -> None:
        """Raise an error if the column of time or of persons has another role."""
        others = {"by": self.by, "target": (self.target,), "weights": (self.weights,)}
        for option, name in (("time", self.time), ("repeat", self.repeat)):
            for role, names in others.items():
                if name is not None and name in names:
                    raise DataError(f"{option}={name!r} is also {role}; name another column.")
        if self.time is not None and self.time == self.repeat:
            raise DataError(f"time and repeat both name {self.time!r}; name two columns.")

    @property
    def aside(self) -> list[str]:
        """Columns that are not features: dataset names, target, weights and whom rows are about."""
        more = [name for name in (self.weights, self.repeat) if name]
        return [*self.by, self.target, *more]

    @property
    def needed(self) -> list[str]:
        """Columns that are read besides features."""
        return [*self.aside, *([self.time] if self.time else [])]

    def feature_columns(self, columns: Iterable[str]) -> list[str]:
        """Return the feature columns of a table with these columns, in order."""
        if self.features is not None:
            return [*self.features]
        aside = self.aside
        return [c for c in columns if c not in aside and c not in self.ignore]

    @classmethod
    def of(
        cls,
        target: Any,
        by: Any,
        features: Any,
        weights: Any,
        category: Any = None,
        ignore: Any = None,
        order: tuple[Any, Any] = (None, None),
    ) -> "Roles":
        """Return the roles that a user's arguments describe; names may be whole numbers.

        `order` are `time` and `repeat`.
        """
        if weights is not None and not isinstance(weights, str):
            raise DataError(
                f"weights is a {type(weights).__name__}; expected the name of a column of weights."
            )
        if features is not None:
            features = _names(features)
        some = tuple(() if one is None else _names(one) for one in (by, category, ignore))
        time, repeat = (None if one is None else str(one) for one in order)
        return cls(str(target), some[0], features, weights, some[1], some[2], time, repeat)


def _names(value: Any) -> tuple[str, ...]:
    """Return one name or several as texts; a set is sorted, so that its order is fixed."""
    if isinstance(value, str) or not isinstance(value, Iterable):
        return (str(value),)
    names = tuple(str(name) for name in value)
    return tuple(sorted(names)) if isinstance(value, (set, frozenset)) else names


def check_roles(roles: Roles, columns: Sequence[str]) -> None:
    """Raise an error if a role names a column that the table does not have."""
    wanted = {"target": (roles.target,), "by": roles.by, "features": roles.features or ()}
    wanted["weights"] = (roles.weights,) if roles.weights else ()
    wanted |= {"category": roles.category, "ignore": roles.ignore}
    wanted |= {name: (one,) for name in ("time", "repeat") if (one := getattr(roles, name))}
    for role, names in wanted.items():
        for name in names:
            if name not in columns:
                raise DataError(f"{role}={name!r} is not a column; {close_match(name, columns)}")


def close_match(name: str, columns: Sequence[str]) -> str:
    """Return the end of an error message: a column with a similar name, and the known columns.

    >>> close_match("salez", ["store", "sales"])
    "did you mean 'sales'? columns are 'store', 'sales'."
    """
    close = difflib.get_close_matches(name, sorted(columns), n=1)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}columns are {quoted(list(columns))}."
