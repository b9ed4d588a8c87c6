"""Errors over time in words and as a figure."""

from conjoin.report.course import course_facts, course_figure, course_in_words
from conjoin.report.measure import measure_of
from conjoin.result.course import Course

COURSE = Course(
    ("2024-01-01", "2024-02-01"),
    (10, 12),
    {"separate": (4.0, 9.0), "pooled": (9.0, 4.0), "clusters, searched again": (4.0, float("nan"))},
    ((0.0, 7.0), (7.0, 14.0)),
    (4.0, float("nan")),
    True,
)


def test_words_count_periods_in_which_earlier_partitions_were_right():
    words = course_in_words(COURSE)
    assert "at least as well as separate models in 1 of 2 periods" in words


def test_facts_have_errors_as_shown_and_a_figure_with_a_line_each():
    found = course_facts(COURSE, measure_of("gaussian"))
    assert found["errors"]["separate"] == [2.0, 3.0]
    assert found["ahead"][1] == {"from": "7", "to": "14 days", "shown": None}
    assert (
        "'separate' was between 2 (from 2024-01-01 on) and 3 (from 2024-02-01 on)"
        in (found["words"])
    )
    assert course_figure(found).count("<polyline") == 3
    assert course_facts(None, measure_of("gaussian")) is None
