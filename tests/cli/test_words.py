import pytest

from conjoin.cli.words import with_options
from conjoin.text import printable


@pytest.mark.parametrize(
    "text, shown",
    [
        ("plain é 👩‍👩‍👧 [red]", "plain é 👩‍👩‍👧 [red]"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\x1b[31mred\x9b", "\\x1b[31mred\\x9b"),
        ("a\u2028b\u202ec\u2066", "a\\u2028b\\u202ec\\u2066"),
        ("half \ud83d", "half \\ud83d"),
    ],
)
def test_hidden_characters_are_spelled_out(text, shown):
    assert printable(text) == shown


@pytest.mark.parametrize(
    "message, shown",
    [
        ("by=... must name it", "--by ... must name it"),
        ("random_state=-3 is negative", "--seed -3 is negative"),
        (
            "choose columns='impute' or features=[...].",
            "choose --columns 'impute' or --features A,B.",
        ),
        ("fit it once more with keep_moments=True.", "fit it once more with --keep-moments."),
        ("limit=False allows extrapolation", "--no-limit allows extrapolation"),
        ("drop_outliers=False keeps it", "--keep-outliers keeps it"),
        ("drop_outliers=True and robust=True", "--drop-outliers and --robust"),
        ("leave it out with features.", "leave it out with --features."),
        ("File 'by=3.csv' in /data/by=3/x", "File 'by=3.csv' in /data/by=3/x"),
        ("standby=5 and by = 5", "standby=5 and by = 5"),
    ],
)
def test_arguments_are_called_as_on_the_command_line(message, shown):
    assert with_options(message) == shown
