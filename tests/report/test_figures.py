"""Figures of strategies and gains."""

import numpy as np

from conjoin.report.figures import behind_dot, error_bar, heat_image, strategy_scales


def test_the_picture_of_gains_bears_anything():
    gains = np.array([[np.nan, np.inf], [-np.inf, np.nan]])
    assert heat_image(gains).startswith("data:image/png;base64,")


def line(shown, percent, *, spread=1.0, in_use=False):
    ends = [None, None] if percent is None else [percent - spread, percent + spread]
    return {"shown": shown, "percent": percent, "percent_interval": ends, "in_use": in_use}


def test_a_strategy_far_off_does_not_press_the_others_together():
    lines = [line(1.0, 0.0, in_use=True), line(1.1, 3.0), line(1.2, 4.0), line(90.0, 9e3)]
    bar_end, dot_end = strategy_scales(lines)
    assert bar_end == 2.0
    assert 5 < dot_end < 10
    assert 'class="gap"' in error_bar(lines[-1], bar_end)
    assert 'class="beyond"' in behind_dot(lines[-1], dot_end)
    assert 'class="bar chosen"' in error_bar(lines[0], bar_end)
    assert 'class="dot other"' in behind_dot(lines[1], dot_end)


def test_an_interval_that_begins_below_zero_crosses_the_line_of_zero():
    one = {**line(1.0, 0.1), "percent_interval": [-0.7, 0.8]}
    assert 'class="whisker" d="M4' in behind_dot(one, 1.0)  # the line of zero is at 8
    assert 'class="whisker" d="M8' in behind_dot({**one, "percent_interval": [0.0, 0.8]}, 1.0)


def test_an_error_that_is_not_known_is_not_drawn():
    unknown = line(None, None)
    assert error_bar(unknown, 1.0) == behind_dot(unknown, 1.0) == ""
    assert strategy_scales([unknown]) == (1.0, 1.05)
