import pytest

from conjoin.progress import progress_bar


def test_a_bar_that_stays_ends_full(capsys):
    with progress_bar("Fitting", stays=True) as update:
        update(1, 4)
    shown = capsys.readouterr().err
    assert "Fitting" in shown
    assert "4/4" in shown


def test_without_a_terminal_nothing_is_shown(capsys):
    with progress_bar("Fitting") as update:
        update(1, 4)
    captured = capsys.readouterr()
    assert "Fitting" not in captured.err + captured.out


def test_an_error_in_the_work_reaches_the_caller():
    with pytest.raises(ValueError, match="broken"):
        with progress_bar("Fitting", stays=True) as update:
            update(1, 4)
            raise ValueError("broken")
