"""Whether a number that was fitted as one may be meant as a class."""

from collections.abc import Sequence

from conjoin.evidence import Evidence
from conjoin.result import Comparison, Partition
from conjoin.tables.read import open_source
from conjoin.tables.sql import quote_name

SAME = 1e-9


def is_zero_one(result: Partition) -> bool:
    """Say whether the target of a fit has only the values 0 and 1, from its moments.

    Then, and for whole numbers only then, the sum of squares is the sum: y^2 - y is zero at 0 and 1
    and positive at every other one. Fractions would have to meet by chance.
    """
    evidence = result.evidence
    if result.family != "gaussian" or not isinstance(evidence, Evidence):
        return False
    basis, moments = evidence.working.basis, evidence.working.moments.union()
    if not basis.intercept:
        return False
    center, scale = basis.target_center, basis.target_scale
    total = scale * moments.h[0] + center * moments.w
    squares = scale**2 * moments.q + 2 * center * scale * moments.h[0] + center**2 * moments.w
    return bool(total > 0 and abs(squares - total) <= SAME * total)


def are_zero_one(result: Comparison, files: Sequence[str], target: str) -> bool:
    """Say the same of two files that were compared; one other value ends the search."""
    fit = result.fit_joined
    if getattr(fit, "family", "logistic") != "gaussian":
        return False
    number = f"TRY_CAST({quote_name(target)} AS DOUBLE)"
    other = f"{quote_name(target)} IS NOT NULL AND ({number} IS NULL OR {number} NOT IN (0, 1))"
    for file in files:
        with open_source(file) as source, source.reading():
            if source.relation.filter(other).limit(1).fetchall():
                return False
    return True
