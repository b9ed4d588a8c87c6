"""Notices: the first lines of every output, about what was found before anything was decided.

Findings enter, sentences leave: gross errors with the answer without them, names that are nearly
the same, columns that look like identifiers or codes, dates that could not be read. Names are those
of datasets and of categories.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conjoin.learners.schema import LearnedSchema
from conjoin.report.measure import error_text, measure_of
from conjoin.report.numbers import finite
from conjoin.tables.encoding import Category, Date, LeftOut
from conjoin.tables.leaks import SURE
from conjoin.tables.suspects import similar_names
from conjoin.tables.written import WORDS, as_numbers, style_of, written_numbers
from conjoin.text import quoted, shortened

if TYPE_CHECKING:
    from conjoin.result.findings import Answer, Findings
    from conjoin.tables.schema import Schema
    from conjoin.tables.suspects import Suspects
    from conjoin.tables.wild import Outlier

MOST_ROWS = 5  # rows that a sentence lists: more do not fit on two lines
MOST_NAMES = 3  # groups of similar names that are listed: enough to see what is wrong
COUNTED = "Row numbers count the rows of data, from 1."
# Said beside the errors of two answers, of which the one with gross errors is not the worse one.
OTHER_ROWS = "These errors are over different rows, so they cannot be compared."
VERDICTS = {"join": "join", "apart": "keep apart", "undecided": "undecided"}


def notices(findings: "Findings", schema: "Schema") -> list[str]:
    """Return what a reader should know before the answer, the most important first.

    Parameters
    ----------
    findings : Findings
        What was found in the rows.
    schema : Schema
        Columns, and the features they became.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from conjoin.result.findings import Answer, Findings
    >>> from conjoin.tables.roles import Roles
    >>> from conjoin.tables.schema import Schema
    >>> from conjoin.tables.wild import Outlier
    >>> typo = Outlier(1204, "Dallas", "sales", 99999999.0)
    >>> answers = Answer(1, 24, "auto", 1e9), Answer(24, 24, "auto", 9.0)
    >>> found = Findings((typo,), True, False, *answers)
    >>> print(notices(found, Schema(Roles("sales", ("city",)), ()))[0][:80])
    Without row 1,204 (Dallas, sales 99,999,999): 24 clusters, RMSE of predictions 3
    """
    found = [findings.promise] if findings.promise else []
    found += _leaks(findings.suspects.leaks, schema.roles.target)
    if findings.outliers:
        counted = any(one.row is not None for one in findings.outliers)
        words = _outliers(findings, schema.response.family)
        found.append(f"{words} {COUNTED}" if counted else words)
    if findings.lighter:
        rows = "1 row is" if findings.lighter == 1 else f"{findings.lighter:,} rows are"
        found.append(
            f"{rows} far from the model and count less than half (robust=True), in all errors "
            "too: do not compare them with errors without it."
        )
    found += _sampled(schema)
    found += _written(schema, findings.from_files)
    found += _measured(findings)
    found += _similar(findings)
    for e in schema.encodings:
        if isinstance(e, Category) and not e.number:
            found += _similar_categories(e, findings.from_files)
    found += _columns(findings.suspects)
    for e in schema.encodings:
        if isinstance(e, Date) and e.unread:
            found.append(_odd_dates(e))
    return found


def outlier_facts(findings: "Findings") -> dict[str, Any]:
    """Return gross errors and the two answers as plain values, for `--json`."""
    answers = {
        name: None
        if one is None
        else {"clusters": one.clusters, "strategy": one.strategy, "error": finite(one.error)}
        for name, one in (("with", findings.with_them), ("without", findings.without_them))
    }
    return {
        "rows": [
            {"row": one.row, "dataset": one.dataset, "column": one.column, "value": one.value}
            for one in findings.outliers
        ],
        "left_out": findings.left_out,
        **answers,
    }


# --- gross errors --------------------------------------------------------------------------------


def _outliers(findings: "Findings", family: str) -> str:
    """Say which rows have gross errors, and what the answer is without them."""
    rows = rows_in_words(findings.outliers, findings.by)
    first_row = findings.outliers[0].row
    same = len({(o.dataset, o.row) for o in findings.outliers}) == 1 and first_row is not None
    one = same or len(findings.outliers) == 1
    it, them, is_ = ("it", "it", "is") if one else ("they", "them", "are")
    first = rows[0].upper() + rows[1:]
    if findings.with_them is None or findings.without_them is None:
        if findings.left_out:
            return f"{first} {is_} left out: far from all others. drop_outliers=False keeps {them}."
        return (
            f"{first} {is_} far from all others, and kept as asked; drop_outliers=True leaves "
            f"{them} out."
        )
    without, with_them = _answers(findings.without_them, findings.with_them, family)
    if findings.left_out:
        return (
            f"Without {rows}: {without}. With {them}: {with_them}. {OTHER_ROWS} The answer below "
            f"is without {them}; drop_outliers=False keeps {them}."
        )
    measure = measure_of(family)
    shown = measure.shown(findings.with_them.error)
    here = "" if shown is None else (
        f" (with {them} {measure.short} {error_text(shown)}, over other rows)"
    )  # fmt: skip
    return (
        f"{first} {is_} far from all others. Without {them} the answer is the same: {without}"
        f"{here}. So {it} {is_} kept; drop_outliers=True leaves {them} out."
    )


def _answers(one: "Answer", other: "Answer", family: str) -> list[str]:
    """Return two answers in words, with what tells them apart."""
    strategies = one.strategy != other.strategy and one.clusters == other.clusters
    return [answer_in_words(a, family, strategy=strategies) for a in (one, other)]


def answer_in_words(answer: "Answer", family: str, *, strategy: bool = False) -> str:
    """Return an answer in a few words.

    The error is that of predictions, whatever strategy they use, and not that of the clusters.

    >>> from conjoin.result.findings import Answer
    >>> answer_in_words(Answer(1, 24, "auto", 4.0), "gaussian")
    'one model for all 24 datasets, RMSE of predictions 2'
    """
    measure = measure_of(family)
    if answer.verdict:
        words = VERDICTS[answer.verdict]
    elif answer.clusters == 1:
        words = "one model" + (f" for all {answer.datasets:,} datasets" * (answer.datasets > 1))
    else:
        words = f"{answer.clusters:,} clusters"
    shown = measure.shown(answer.error)
    if shown is not None:
        of = "" if answer.verdict else " of predictions"
        words += f", {measure.short}{of} {error_text(shown)}"
    # The error is that of the strategy in use, which another one may beat.
    return f"{words} (lowest with '{answer.strategy}')" if strategy else words


def rows_in_words(outliers: Sequence["Outlier"], by: Sequence[str] = ()) -> str:
    """Return the rows with gross errors: number, dataset, column and value of each.

    A dataset whose name is a number comes with the column `by` that names it.

    >>> from conjoin.tables.wild import Outlier
    >>> rows_in_words([Outlier(7, "Waco", "sales", -1.5), Outlier(9, "Waco", "sales", 1e6)])
    'rows 7 (Waco, sales -1.5) and 9 (Waco, sales 1,000,000)'
    """
    rows: dict[Any, list[str]] = {}
    for k, one in enumerate(outliers):
        value = shortened(one.column)
        value += "" if one.value is None else f" {value_in_words(one.value)}"
        rows.setdefault((one.dataset, one.row, k * (one.row is None)), []).append(value)
    texts = [_row_in_words(name, row, values, by) for (name, row, _), values in rows.items()]
    if len(texts) == 1:
        return f"row {texts[0]}" if outliers[0].row is not None else f"a row {texts[0]}"
    if len(texts) > MOST_ROWS:
        return f"rows {', '.join(texts[:MOST_ROWS])} and {len(texts) - MOST_ROWS:,} more"
    return f"rows {', '.join(texts[:-1])} and {texts[-1]}"


def _row_in_words(dataset: str, row: int | None, values: Sequence[str], by: Sequence[str]) -> str:
    """Return the number of a row, its dataset and its wrong values."""
    called = f"{by[0]} " if len(by) == 1 and dataset.isdigit() else ""
    name, shown = called + shortened(dataset), ", ".join(values)
    return f"of {name} ({shown})" if row is None else f"{row:,} ({name}, {shown})"


def value_in_words(value: float) -> str:
    """Return a value as a reader would look for it in the file.

    >>> value_in_words(99999999.0), value_in_words(0.125), value_in_words(1e30)
    ('99,999,999', '0.125', '1e+30')
    """
    whole = float(value).is_integer() and abs(value) < 1e15  # digits that a float holds
    return f"{int(value):,}" if whole else f"{value:.6g}"


# --- samples -------------------------------------------------------------------------------------


def _sampled(schema: "Schema") -> list[str]:
    """Say that a learner was trained on some of the rows."""
    if not isinstance(schema, LearnedSchema):
        return []
    own = schema.predictions
    for settings in own.settings.values():
        if "sampled_rows" in settings:
            rows, total = settings["sampled_rows"], settings["all_rows"]
            return [
                f"Learner {own.learner!r} was trained on {rows:,} of {total:,} rows, since the "
                "table stays where it is; lines and all errors are of all rows. sample_rows=... "
                "chooses the number."
            ]
    return []


# --- names, columns and dates --------------------------------------------------------------------


def _measured(findings: "Findings") -> list[str]:
    """Say that datasets are named by what looks like a measurement."""
    names = findings.suspects.measured
    if not names or len(findings.by) != 1:
        return []
    return [
        f"Column {findings.by[0]!r} names the datasets, but looks like a measurement: its values "
        f"are numbers with decimals, such as {', '.join(names)}. If it is one, choose another "
        "column with by, or turn it into a few groups."
    ]


def _similar(findings: "Findings") -> list[str]:
    """Say which names are nearly the same, and what mends it."""
    groups = findings.suspects.names
    if not groups:
        return []
    shown = "; ".join(quoted(group) for group in groups[:MOST_NAMES])
    more = len(groups) - MOST_NAMES
    shown += f" and {more:,} more groups" if more > 0 else ""
    mend = "Give them one spelling if they are one dataset"
    if len(findings.by) == 1:
        mend += f", for example with {_one_spelling(findings.by[0], findings.from_files)}"
    return [f"Datasets with nearly the same name: {shown}. {mend}."]


def _written(schema: "Schema", from_files: bool) -> list[str]:
    """Say which columns of text hold numbers, and what makes numbers of them."""
    found = []
    classes = {one: 1 for one in schema.response.classes if isinstance(one, str)}
    target = written_numbers(classes)
    if target:
        found.append(("Target", schema.roles.target, target, "used as classes"))
    for e in schema.encodings:
        if isinstance(e, Category | LeftOut) and e.written:
            use = "used as text" if isinstance(e, Category) else "left out"
            found.append(("Column", e.name, e.written, use))
    return [
        f"{what} {name!r} holds {WORDS[style_of(example)]}, such as {example!r}, but is {use}. "
        f"Turn them into numbers, for example with "
        f"{as_numbers(name, example, from_files=from_files)}."
        for what, name, example, use in found
    ]


def _similar_categories(column: Category, from_files: bool) -> list[str]:
    """Say which frequent categories of a column are nearly the same, and what mends it."""
    groups = similar_names((column.reference, *column.levels))
    if not groups:
        return []
    shown = "; ".join(quoted(group) for group in groups[:MOST_NAMES])
    return [
        f"Column {column.name!r} has categories with nearly the same name: {shown}. Give them one "
        f"spelling if they mean the same, for example with "
        f"{_one_spelling(column.name, from_files)}."
    ]


def _one_spelling(column: str, from_files: bool) -> str:
    """Return what gives the values of a column one spelling."""
    if not from_files:
        return f"data[{column!r}].str.strip().str.lower()"
    name = _quoted_name(column)
    return f'query="SELECT * REPLACE (lower(trim({name})) AS {name}) FROM data"'


def _quoted_name(name: str) -> str:
    """Return a column for SQL inside double quotes of a shell."""
    return name if name.isidentifier() else f'\\"{name}\\"'


def _leaks(names: Sequence[str], target: str) -> list[str]:
    """Say which columns almost determine the target, and what leaves them out."""
    if not names:
        return []
    it, columns = "it", f"Column {names[0]!r} almost determines"
    if len(names) > 1:
        it, columns = "them", f"Columns {quoted(names)} almost determine"
    are = "is it" if len(names) == 1 else "are they"
    return [
        f"{columns} the target {target!r} (rank correlation above {SURE}): {are} known when you "
        f"predict? If not, ignore=[{', '.join(map(repr, names))}] leaves {it} out."
    ]


def _columns(suspects: "Suspects") -> list[str]:
    """Say which columns look like identifiers or codes, and what mends it."""
    kinds = (
        (suspects.identifiers, "an identifier", "identifiers", "ignore", "leaves {} out"),
        (suspects.codes, "a code", "codes", "category", "makes {} {}"),
    )
    found = []
    for names, one, several, option, effect in kinds:
        if not names:
            continue
        single = len(names) == 1
        words = f"Column {names[0]!r} looks like {one}, but is used as a number"
        if not single:
            words = f"Columns {quoted(names)} look like {several}, but are used as numbers"
        done = effect.format(*("it", "a category") if single else ("them", "categories"))
        found.append(f"{words}; {option}=[{', '.join(map(repr, names))}] {done}.")
        who = next((name for name in names if name in suspects.repeated), None)
        if who is not None:
            found[-1] += (
                f" If it names a person or firm with several rows, repeat={who!r} keeps the rows "
                "of each in one fold and leaves the column out of the models."
            )
    return found


def _odd_dates(column: Date) -> str:
    """Say how many values of a column are no dates."""
    several = f"{column.unread:,} values of column {column.name!r} are no dates"
    words = f"1 value of column {column.name!r} is no date" if column.unread == 1 else several
    counts = "counts" if column.unread == 1 else "count"
    return f"{words} ({quoted(column.odd, 2)}) and {counts} as missing."
