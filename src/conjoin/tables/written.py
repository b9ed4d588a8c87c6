"""Numbers that are written so that they are read as text: '181,0', '1,234.50', '3650 g', '$5'.

Texts enter; how most of them are written leaves, with an example, and what would turn them into
numbers. Nothing is converted: '1,234' may be a number of thousands, or one with a decimal comma.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from conjoin.errors import DataError
from conjoin.tables.parse import is_number

COMMA, THOUSANDS, UNIT = "comma", "thousands", "unit"
WORDS = {
    COMMA: "numbers with a decimal comma",
    THOUSANDS: "numbers with separators of thousands",
    UNIT: "numbers with a unit or another sign",
}
SHARE = 0.9  # share of a column's rows, or of a target's values, that are numbers: a few are typos
FEWEST = 3  # different values: with two, a category is the same as a number
# Different values with a unit: fewer, such as 36 months and 60 months, are good categories. Numbers
# written as text are numbers from as many values on (`tables.learn`).
FEWEST_WITH_UNIT = 21
MOST_ROWS = 5  # rows that a message lists: more do not fit on two lines
NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)"
WITH_COMMA = r"[+-]?(?:\d{1,3}(?:[. ']\d{3})+|\d*),\d+"
WITH_THOUSANDS = r"[+-]?\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+|(?:'\d{3})+)(?:\.\d+)?"
CURRENCIES = "USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK"
# A unit holds no digit and no mark of a list, a range or a date, and is short.
WITH_UNIT = re.compile(
    rf"(?P<sign>[+-]?[$€£¥₹] ?|(?:{CURRENCIES}) )?"
    rf"(?P<number>{WITH_THOUSANDS}|{WITH_COMMA}|{NUMBER})"
    r"(?P<unit> ?[^\W\d_][^\d\s,;:()+-]{0,7}| ?[^\w\s.,;:/()+-])?"
)
PADDED = re.compile(r"0\d")  # hours from 00h to 23h are labels
ORDINALS = ("st", "nd", "rd", "th")


def style_of(text: str) -> str:
    """Return how a number is written, if it is one that is read as text; else "".

    >>> [style_of(text) for text in ("181,0", "1,234.5", "3650 g", "$5", "5.1", "sunny", "1st")]
    ['comma', 'thousands', 'unit', 'unit', '', '', '']
    """
    style, _ = _style_and_unit(text)
    return style


def _style_and_unit(text: str) -> tuple[str, str]:
    """Return how a number is written, and its unit."""
    if re.fullmatch(WITH_THOUSANDS, text, re.ASCII) and not text.startswith("0"):
        return THOUSANDS, ""
    if re.fullmatch(WITH_COMMA, text, re.ASCII):
        return COMMA, ""
    found = WITH_UNIT.fullmatch(text)
    if found is None or PADDED.match(found["number"]):
        return "", ""
    unit = (found["sign"] or "").strip() + (found["unit"] or "").strip()
    return (UNIT, unit) if unit and unit not in ORDINALS and not is_number(text) else ("", "")


def written_numbers(counts: Mapping[str, int]) -> str:
    """Return an example of the numbers that nearly all texts are, if they are read as text.

    `counts` has the rows of each text. Without such numbers "" is returned.

    >>> written_numbers({"181,0": 3, "190,5": 2, "186,0": 1})
    '181,0'
    >>> written_numbers({"north": 3, "south": 2, "1,5": 1})
    ''
    """
    styles: dict[str, list[str]] = {COMMA: [], THOUSANDS: [], UNIT: []}
    units: Counter[str] = Counter()
    for text in counts:
        style, unit = _style_and_unit(text)
        if style:
            styles[style].append(text)
            units[unit] += counts[text]
    commas = len(styles[COMMA]) and not any(map(_surely_thousands, styles[THOUSANDS]))
    if commas:  # 12,345 beside 0,5 has a decimal comma too
        styles[COMMA] += [text for text in styles[THOUSANDS] if "," in text]
        styles[THOUSANDS] = [text for text in styles[THOUSANDS] if "," not in text]
    style = max(styles, key=lambda one: sum(counts[text] for text in styles[one]))
    texts = [text for text in styles[style] if style_of(text) == style]
    fewest = FEWEST_WITH_UNIT if style == UNIT else FEWEST
    numbers = sum(n for text, n in counts.items() if is_number(text))
    numbers += sum(counts[text] for text in styles[style])
    if len(styles[style]) < fewest or numbers < SHARE * sum(counts.values()):
        return ""
    if style == UNIT and max(units.values()) < SHARE * sum(counts[text] for text in texts):
        return ""  # such as flats 1A, 2B and 3C
    return min(texts, key=lambda text: (-counts[text], text))


def _surely_thousands(text: str) -> bool:
    return len(re.findall(r"[, ']", text)) > 1 or "." in text


def as_numbers(column: str, example: str, *, from_files: bool) -> str:
    """Return what turns a column of such texts into numbers.

    >>> as_numbers("mass", "3650 g", from_files=False)
    "pandas.to_numeric(data['mass'].str.replace('[^0-9.,+-]', '', regex=True), errors='coerce')"
    """
    steps = []  # what is replaced by what
    found = WITH_UNIT.fullmatch(example)
    number = example if found is None else found["number"]
    if style_of(example) == UNIT:
        steps.append(("[^0-9.,+-]", ""))
    style = style_of(number)
    if style == THOUSANDS:
        steps.append(("[^0-9.+-]", ""))
    if style == COMMA:
        steps += [("[^0-9,+-]", ""), (",", ".")] if re.search(r"[. ']", number) else [(",", ".")]
    if not from_files:
        calls = "".join(f".str.replace({a!r}, {b!r}, regex=True)" for a, b in steps)
        return f"pandas.to_numeric(data[{column!r}]{calls}, errors='coerce')"
    name = column if column.isidentifier() else f'\\"{column}\\"'
    text = name
    for a, b in steps:
        text = f"regexp_replace({text}, '{a}', '{b}', 'g')"
    return f'query="SELECT * REPLACE (TRY_CAST({text} AS DOUBLE) AS {name}) FROM data"'


def refuse_written_numbers(values: Sequence[Any], target: str, *, rows: bool = True) -> None:
    """Raise an error that says so if a target of text holds numbers, but for a few.

    With `rows` the values are those of all rows, in order; they are counted from 1.
    """
    texts = [value.strip() if isinstance(value, str) else "" for value in values]
    counts = Counter(text for text in texts if text)
    example = written_numbers(counts)
    if example:
        raise DataError(
            f"Target {target!r} holds {WORDS[style_of(example)]}, such as {example!r}, which are "
            "read as text; turn them into numbers, for files for example with "
            f"{as_numbers(target, example, from_files=True)}."
        )
    odd = {text for text in counts if not is_number(text)}
    if len(counts) < FEWEST or len(odd) > (1 - SHARE) * len(counts):
        return
    if not odd:
        raise DataError(
            f"Target {target!r} holds numbers written as text, such as {min(counts)!r}; turn them "
            "into numbers, or into few classes."
        )
    places = [i for i, text in enumerate(texts, 1) if text in odd]
    where = f" ({_rows(places)})" if rows else ""
    raise DataError(
        f"Target {target!r} mixes numbers with text such as {min(odd)!r}{where}; correct these "
        "values, or leave them empty. Rows without a target are left out."
    )


def _rows(places: Sequence[int]) -> str:
    """Return numbers of rows in words."""
    shown = [f"{place:,}" for place in places[:MOST_ROWS]]
    if len(places) == 1:
        return f"row {shown[0]}"
    if len(places) > MOST_ROWS:
        return f"rows {', '.join(shown)} and {len(places) - MOST_ROWS:,} more"
    return f"rows {', '.join(shown[:-1])} and {shown[-1]}"
