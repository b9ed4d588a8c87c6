"""The accepted values of the arguments `missing` and `columns`.

An argument enters; nothing leaves, or an `ArgumentError` that lists the accepted values.
"""

from conjoin.checks import check_choice

MISSING_CHOICES = ("indicator", "median", "drop", "raise")
COLUMN_CHOICES = ("intersect", "impute")


def check_missing(missing: str) -> None:
    """Raise an error if `missing` is not a known treatment of missing values."""
    check_choice("missing", missing, MISSING_CHOICES)


def check_columns(columns: str | None) -> None:
    """Raise an error if `columns` is not a known treatment of columns that some datasets lack."""
    if columns is not None:
        check_choice("columns", columns, COLUMN_CHOICES)
