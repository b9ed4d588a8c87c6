import json

import pytest

from conjoin.errors import ConjoinError
from conjoin.sites import Plan, Rules, load_plan, make_plan
from tests.sites.clinics import plan_of

WARD = {"type": "category", "levels": ["a", "b"]}


def test_a_plan_comes_back_from_its_file(tmp_path):
    columns = {
        "y": "number",
        "age": {"type": "number", "unit": "years", "limits": [0, 110], "fill": 50, "missing": True},
        "ill": "flag",
        "seen": {"type": "date", "parts": ["years", "weekday"]},
        "ward": WARD,
    }
    plan = make_plan(columns, "y", folds=5, rules=Rules(rows=20))
    plan.save(tmp_path / "plan.json")
    again = load_plan(tmp_path / "plan.json")
    assert again == plan
    assert again.checksum == plan.checksum
    low, high = again.known_ranges()
    assert (low[0], high[0], high[1], high[2]) == (0.0, 110.0, 1.0, 1.0)
    words = again.describe()
    assert "in years; values are kept between 0 and 110" in words
    assert "at least 20 rows" in words
    assert plan_of().checksum != plan_of().checksum  # two studies, whose files do not mix


def test_a_changed_plan_is_refused(tmp_path):
    path = tmp_path / "plan.json"
    plan_of().save(path)
    path.write_text(path.read_text().replace('"rows": 11', '"rows": 2'))
    with pytest.raises(ConjoinError, match="was changed after it was written"):
        load_plan(path)
    document = json.loads(path.read_text())
    assert document["content"]["what never leaves a site"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"x": "number"}, "target='y' is not described"),
        ({"y": "number"}, "describe at least one feature"),
        ({"y": "number", "x": "text"}, "type of column 'x'"),
        ({"y": "number", "x": {"type": "category"}}, "name its levels"),
        ({"y": "number", "x": {"type": "number", "missing": True}}, "what to fill in"),
        ({"y": "number", "x": {"type": "number", "limits": [3, 1]}}, r"limits \[3, 1\]"),
        ({"y": "number", "x": {"kind": "number"}}, 'with a "type"'),
        ({"y": "number", "x": {"type": "number", "units": "m"}}, "unknown entry 'units'"),
        ({"y": {"type": "class", "classes": ["a"]}, "x": "number"}, "2 to 50 different ones"),
        ({"y": {"type": "class", "classes": ["a", "b", "a"]}, "x": "number"}, "different ones"),
        (
            {"y": {"type": "class", "classes": [*range(42)]}, **dict.fromkeys("abcde", "number")},
            "205 coefficients; plans have at most 200",
        ),
    ],
)
def test_a_description_that_does_not_fit_is_refused(columns, sentence):
    with pytest.raises(ConjoinError, match=sentence):
        make_plan(columns, "y")


def test_rules_may_only_be_made_stricter():
    columns = {"y": "number", "x": "number"}
    with pytest.raises(ConjoinError, match="only be made stricter"):
        make_plan(columns, "y", rules=Rules(rows=3))
    assert isinstance(make_plan(columns, "y", rules=Rules(rows=3), i_know=True), Plan)
