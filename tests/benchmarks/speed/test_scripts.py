"""The other scripts on small sizes: they run, and what they compare agrees."""

import numpy as np
import pytest

from benchmarks.speed import classification, files, paper_rows, strategies


def test_separate_fits_agree_with_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classification, "DATASETS", 8)
    data = classification.make(2)
    loop = classification.scikit_learn(*data, tol=1e-10, max_iter=100_000)
    np.testing.assert_allclose(classification.ours(*data), loop, atol=1e-4)
    assert classification.auto(*data).shape == loop.shape


def test_strategies_run_on_a_small_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "DATASETS", 8)
    data = strategies.make()
    assert len(data[0]) == 8 * strategies.ROWS
    assert strategies.best_time(strategies.ours, data) > 0
    assert strategies.best_time(strategies.partial_pooling, data) > 0


def test_the_sum_reads_the_file(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(files, "DATASETS", 7)
    monkeypatch.setattr(files, "ROWS", 20)
    files.write(tmp_path / "sales.parquet")
    assert files.seconds_of_sum(tmp_path / "sales.parquet") > 0
    seconds, text = files.seconds_of_command("--help")
    assert seconds > 0 and "partition" in text


def test_the_papers_procedure_runs_on_few_resamples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper_rows, "RESAMPLES", 20)
    monkeypatch.setattr(paper_rows, "CLUSTER", 2)
    monkeypatch.setattr(paper_rows, "ALPHAS", np.array([2.0, 4.0]))
    plain, single, whole = paper_rows.measure()
    assert plain[2] == 1.0 and single[1] > 0
    assert "pairs" in whole[3]


def test_networks_have_the_losses_of_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from benchmarks.speed import representations

    monkeypatch.setattr(representations, "ROUNDS", 1)
    gap = representations.measure(500, 4, 2)[-1]
    assert float(gap) < 1e-6
