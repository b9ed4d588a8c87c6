"""Checks on the arguments of criteria: one sentence each."""

from conjoin.errors import ArgumentError, DataError


def check_level(name: str, value: float) -> None:
    """Refuse a probability outside (0, 1)."""
    if not 0 < value < 1:
        raise ArgumentError(
            f"{name}={value!r} is not a level; expected a number between 0 and 1, such as 0.1."
        )


def check_share(name: str, value: float) -> None:
    """Refuse a share of rows outside (0, 1)."""
    if not 0 < value < 1:
        raise ArgumentError(
            f"{name}={value!r} is not a share of the rows; expected a number between 0 and 1."
        )


def check_count(name: str, value: int, least: int = 1) -> None:
    """Refuse a count that is not a whole number of at least `least`."""
    if value != int(value) or value < least:
        raise ArgumentError(f"{name}={value!r} is not a count; expected a whole number >= {least}.")


def check_rows(label: str, rows: int, p: int, sample: str, *, overparametrised: bool) -> None:
    """Refuse a sample with fewer rows than the design has columns, unless that is wanted."""
    if rows < p and not overparametrised:
        raise DataError(
            f"Dataset {label!r} has {rows} rows {sample}, but the model has {p} columns "
            "(intercept included); use fewer columns, join it with others beforehand, or pass "
            "overparametrised=True to fit it by the Moore-Penrose estimator."
        )
