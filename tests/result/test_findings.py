"""Findings in model files: all that they say, but no value of a row."""

import json
import math

from conjoin.result.findings import Answer, Findings
from conjoin.tables.suspects import Suspects
from conjoin.tables.wild import Outlier


def test_findings_come_back_without_values():
    found = Findings(
        outliers=(Outlier(7, "a", "x", 1e9),),
        left_out=True,
        with_them=Answer(1, 3, "pooled", math.nan),
        without_them=Answer(3, 3, "auto", 2.5),
        lighter=4,
        suspects=Suspects((("a", "A"),), ("id",), ("type",), ("log",), ("id",), ("1.5",)),
        by=("g",),
        from_files=True,
    )
    plain = json.loads(json.dumps(found.to_plain(), allow_nan=False))
    again = Findings.from_plain(plain)
    assert again.outliers == (Outlier(7, "a", "x", None),)
    assert math.isnan(again.with_them.error)
    for name in ("left_out", "asked", "without_them", "lighter", "suspects", "by", "from_files"):
        assert getattr(again, name) == getattr(found, name)
    assert found.changed
    assert not Findings(left_out=True, asked=True).changed


def test_nothing_found_is_nothing_stored():
    assert Findings().to_plain() == {}
    assert Findings.from_plain({}) == Findings()
