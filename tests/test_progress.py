import sys
import time
from contextlib import contextmanager

import pytest

import conjoin.api.partition
import conjoin.estimators.base
from conjoin import progress
from conjoin.datasets import make_clusters
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


def test_a_command_without_a_terminal_writes_lines_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(progress, "EVERY", 0.05)
    with progress_bar("Fitting", lines=True) as update:
        update(1, 4)
        time.sleep(0.2)  # one long step, without a report
    lines = capsys.readouterr().err.splitlines()
    assert 1 <= len(lines) <= 4
    assert lines[0] == "Fitting: 25 %, 0 s"


def test_a_quick_command_without_a_terminal_writes_nothing(capsys):
    with progress_bar("Fitting", lines=True) as update:
        update(4, 4)
    assert not capsys.readouterr().err


def test_an_error_in_the_work_reaches_the_caller():
    with pytest.raises(ValueError, match="broken"):
        with progress_bar("Fitting", stays=True) as update:
            update(1, 4)
            raise ValueError("broken")


def terminal(monkeypatch, tmp_path):
    """Make standard error a file that says it is a terminal."""
    stream = (tmp_path / "err").open("w+")
    stream.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def said(stream):
    stream.flush()
    stream.seek(0)
    return stream.read()


@pytest.mark.parametrize("seconds, seen", [(0.0, False), (0.4, True)])
def test_a_call_shows_a_bar_only_if_it_takes_long(monkeypatch, tmp_path, seconds, seen):
    monkeypatch.setattr(progress, "PATIENCE", 0.1)
    stream = terminal(monkeypatch, tmp_path)
    with progress.progress_of_call() as update:
        update(1, 4)
        time.sleep(seconds)  # one long step, without a report
    assert (progress.TEXT in said(stream)) == seen


def test_a_call_without_a_terminal_is_quiet(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.progress_of_call() as update:
        update(1, 4)
        time.sleep(0.05)
    captured = capsys.readouterr()
    assert not (captured.err + captured.out).strip()


def test_partition_and_estimators_report_to_it(monkeypatch):
    steps = []

    @contextmanager
    def record(**options):
        yield lambda done, total: steps.append((done, total))

    tables = make_clusters(sizes=(2, 1), n=40, p=2).tables()
    for module in (conjoin.api.partition, conjoin.estimators.base):
        monkeypatch.setattr(module, "progress_of_call", record)
    conjoin.partition(tables, target="y")
    assert steps[-1][0] == steps[-1][1]
