"""What figures are drawn with."""

import math
import struct
import zlib

import numpy as np
import pytest

from conjoin.report.drawing import MOST_PERCENT, cut_label, png, px, runs, stretch, ticks, tip


def test_coordinates_and_scales():
    assert (px(3.0), px(3.14159)) == ("3", "3.1")
    assert ticks(-1.1, 2.9) == [-1.0, 0.0, 1.0, 2.0]
    assert stretch(10 * MOST_PERCENT) == stretch(MOST_PERCENT) == -stretch(-MOST_PERCENT)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.7e308, 1.7e308),
        (1e308, 1.7e308),
        (1e-300, 1e300),
        (0.0, 5e-324),
        (3e-320, 5e-320),
        (1e16, 1e16 + 2),
        (1e140, 1e140 * (1 + 1e-15)),
        (0.0, 0.0),
    ],
)
def test_ticks_of_any_scale_are_a_few_finite_numbers(low, high):
    found = ticks(low, high)
    assert len(found) < 12 and all(math.isfinite(value) for value in found)


def test_labels_are_short_and_never_blank():
    assert cut_label("  ") == "(blank)"
    assert len(cut_label("x" * 100)) == 26
    assert tip(["<a>", "two\nlines"]) == "&lt;a&gt;\ntwo lines"


def test_neighbours_in_one_cluster_make_one_run():
    assert list(runs([3, 3, 5], [1, 1, 2])) == [(0, 2, 3), (2, 3, 5)]


def test_a_png_holds_its_pixels():
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
    data = png(pixels)
    assert struct.unpack(">II", data[16:24]) == (3, 2)
    start = data.index(b"IDAT") + 4
    size = struct.unpack(">I", data[start - 8 : start - 4])[0]
    rows = np.frombuffer(zlib.decompress(data[start : start + size]), np.uint8).reshape(2, 13)
    assert (rows[:, 0] == 0).all()
    assert (rows[:, 1:].reshape(2, 3, 4) == pixels).all()
