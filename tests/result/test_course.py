"""A course as plain values."""

import json

from conjoin.result.course import Course


def test_a_course_comes_back_and_unknown_numbers_are_none():
    course = Course(("1", "2"), (3, 4), {"auto": (1.0, float("inf"))}, (), (), False)
    plain = course.to_plain()
    json.dumps(plain, allow_nan=False)
    assert plain["errors"]["auto"] == [1.0, None]
    assert Course.from_plain(plain).periods == ("1", "2")
    assert Course.from_plain(None) is None
