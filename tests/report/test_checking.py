"""A check in words and as plain values."""

import json

from conjoin.report.checking import check_facts, check_in_words
from conjoin.result.checking import Check, CheckedDataset, CheckedJoin

NAN = float("nan")
OK = CheckedDataset("a", 10, 4.0, 4.0, 0.5, 0.9, "ok")
LOOK = CheckedDataset("b", 10, 9.0, 4.0, 0.001, 0.5, "look")
NEW = CheckedDataset("c", 10, 9.0, NAN, NAN, NAN, "new")
JOIN = CheckedJoin(("a",), ("b",), joined=True, verdict="join", today="apart")


def test_the_summary_counts_what_needs_a_look():
    passed = "Passed: 2 datasets checked, nothing needs a look."
    assert check_in_words(Check((OK, NEW), ())) == passed
    words = check_in_words(Check((OK, LOOK), (JOIN,)))
    assert words == (
        "Needs a look: 1 dataset with a higher error than promised and 1 join that new rows judge "
        "otherwise."
    )


def test_facts_are_plain_and_unknown_numbers_none():
    found = check_facts(Check((LOOK, NEW), (JOIN,)), "gaussian")
    json.dumps(found, allow_nan=False)
    assert not found["passed"]
    assert found["datasets"][0]["shown"] == {"error": 3.0, "promised": 2.0}
    assert found["datasets"][1]["promised"] is None
    assert found["joins"][0]["status"] == "look"
