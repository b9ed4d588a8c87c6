"""The promise for the first 5,000 random hostile cases.

A case takes about 0.1 processor seconds, so two workers share some eight minutes of processor time.
The first 300 cases are part of every run, the others are marked slow.
"""

import pytest

from tests.campaign.cases import draw
from tests.campaign.promise import try_case

CASES, QUICK = 5_000, 300
TOGETHER = 25  # cases of one test, some three seconds: short enough that workers end together


def _marks(first: int):
    return () if first < QUICK else pytest.mark.slow


@pytest.mark.parametrize(
    "first", [pytest.param(k, marks=_marks(k)) for k in range(0, CASES, TOGETHER)]
)
def test_random_cases_keep_the_promise(first):
    for number in range(first, first + TOGETHER):
        outcome = try_case(draw(number))
        assert outcome.kept, (
            f"{outcome}\npython -m scripts.campaign --case {number}: {draw(number)}"
        )
