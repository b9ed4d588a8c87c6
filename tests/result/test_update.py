"""Verdicts of the same join before and after an update."""

from conjoin.result.update import changed_verdicts
from conjoin.result.values import Merge


def line(verdict, left=("a",), right=("b", "c")):
    return Merge(left, right, True, verdict, 1.0, (0.0, 2.0))


def test_only_joins_of_the_same_groups_are_compared():
    before = (line("undecided"), line("join", ("d",), ("e",)))
    after = (line("apart", ("b", "c"), ("a",)), line("join", ("d",), ("e",)), line("join", ("f",)))
    found = changed_verdicts(before, after)
    assert [(one.before.verdict, one.after.verdict) for one in found] == [("undecided", "apart")]
