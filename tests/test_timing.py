"""The end of a run says where its time went, and slow files come first."""

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

from tests import timing


def test_folders_and_the_longest_files_are_listed():
    spent = Counter({"tests/a/test_x.py": 70.0, "tests/a/test_y.py": 2.0, "src/conjoin/z.py": 0.2})
    assert timing.table(spent) == [
        "     72 in all",
        "     72 tests/a",
        "",
        "The longest files:",
        "     70 tests/a/test_x.py, above the budget of 60",
        "      2 tests/a/test_y.py",
        "      0 src/conjoin/z.py",
    ]


def test_files_with_slow_tests_come_first_in_their_own_order():
    def item(path, name, slow=False):
        marker = (lambda kind: kind == "slow") if slow else (lambda kind: None)
        return SimpleNamespace(path=Path(path), name=name, get_closest_marker=marker)

    items = [item("a", "1"), item("b", "2"), item("b", "3", slow=True), item("a", "4")]
    timing.pytest_collection_modifyitems(items)
    assert [one.name for one in items] == ["2", "3", "1", "4"]


def test_processor_time_of_work_is_counted():
    before = timing.processor_seconds()
    assert sum(range(3_000_000)) > 0
    assert timing.processor_seconds() > before
