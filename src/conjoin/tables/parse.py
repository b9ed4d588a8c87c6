"""Numbers and dates that are written as text.

Texts enter; whether they are numbers, and the date format that fits all or nearly all of them,
leave.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

# Python parses dates about 100 times more slowly than Arrow (200,000 texts: 1.6 s and 0.016 s), but
# Arrow also accepts 31 February and years of two digits. So Python checks about this many texts,
# in 0.2 s, and Arrow checks all. With fewer, more dates such as 31 February go unnoticed.
MOST_DATES_TRIED = 20_000
# Texts that may be no dates in a column of dates: typing errors are few. With more, or with a
# larger share of the texts, the column is something else.
MOST_ODD, ODD_SHARE = 20, 0.05
# Texts that every engine reads as the same number. Python alone would also accept 1_000.
NUMBER = re.compile(
    r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.ASCII | re.IGNORECASE
)
DATE_FORMATS = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%d.%m.%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
SHORT_DATE_FORMATS = ("%d/%m/%y", "%m/%d/%y", "%d.%m.%y", "%d-%b-%y")  # two-digit years
TIME_FORMATS = ("%H:%M:%S", "%H:%M", "%H:%M:%SZ", "%I:%M %p", "%I:%M:%S %p")
FORMATS = (
    *DATE_FORMATS,
    *SHORT_DATE_FORMATS,
    *(f"{date}{gap}{time}" for date in DATE_FORMATS for gap in (" ", "T") for time in TIME_FORMATS),
)


def is_number(text: str) -> bool:
    """Say whether every engine reads a text as a number.

    >>> is_number("-1.5e3"), is_number("1_000"), is_number("1,5")
    (True, False, False)
    """
    return NUMBER.fullmatch(text) is not None


def date_format(texts: Sequence[str]) -> str | None:
    """Return the first format that fits all texts, or None.

    If both day and month may come first, the day does.

    >>> date_format(["31/12/2017", "01/02/2018"])
    '%d/%m/%Y'
    >>> date_format(["sunny", "rainy"]) is None
    True
    """
    some = texts[:: max(1, len(texts) // MOST_DATES_TRIED)]
    return next((f for f in FORMATS if all_fit(some, f) and fits_in_arrow(texts, f)), None)


def usual_date_format(counts: Mapping[str, int]) -> tuple[str | None, tuple[str, ...]]:
    """Return the format of all texts but a few, and those few; (None, ()) if there is none.

    `counts` has the number of rows of each text.

    >>> days = {f"2019-03-{day:02d}": 1 for day in range(1, 31)}
    >>> usual_date_format({**days, "2019-13-45": 1})
    ('%Y-%m-%d', ('2019-13-45',))
    """
    texts = sorted(counts)
    exact = date_format(texts)
    if exact is not None:
        return exact, ()
    best: tuple[str | None, tuple[str, ...]] = (None, ())
    allowed = min(MOST_ODD, int(ODD_SHARE * len(texts)))
    for format in FORMATS:
        odd = _not_of(texts, format, allowed)
        if odd is not None and (best[0] is None or len(odd) < len(best[1])):
            best = format, odd
    rows = sum(counts[text] for text in best[1])
    return best if rows <= ODD_SHARE * sum(counts.values()) else (None, ())


def _not_of(texts: Sequence[str], format: str, allowed: int) -> tuple[str, ...] | None:
    """Return the texts that are no dates of a format; None if they are more than allowed."""
    found = pc.strptime(pa.array(texts, pa.string()), format, "us", error_is_null=True)
    if int(found.null_count) > allowed:
        return None
    odd = {text for text, date in zip(texts, found.is_null().to_pylist()) if date}
    # Arrow also accepts 31 February, so Python looks at a part of the others.
    some = texts[:: max(1, len(texts) // MOST_DATES_TRIED)]
    odd |= {text for text in some if text not in odd and not all_fit([text], format)}
    return tuple(sorted(odd)) if len(odd) <= allowed else None


def all_fit(texts: Sequence[str], format: str) -> bool:
    """Say whether Python reads all texts as dates of a format."""
    try:
        for text in texts:
            datetime.strptime(text, format)
    except ValueError:
        return False
    return True


def fits_in_arrow(texts: Sequence[str], format: str) -> bool:
    """Say whether Arrow reads all texts as dates of a format; it also accepts 31 February."""
    found = pc.strptime(pa.array(texts, pa.string()), format, "us", error_is_null=True)
    return int(found.null_count) == 0
