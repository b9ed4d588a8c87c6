from conjoin.engine import sampling
from conjoin.engine.sampling import FEWEST_ROWS, MOST_ROWS, free_bytes, rows_to_sample


def test_as_many_rows_as_asked_or_as_fit(monkeypatch):
    assert rows_to_sample(1234, 10) == 1234
    monkeypatch.setattr(sampling, "free_bytes", lambda: 1e12)
    assert rows_to_sample(None, 10) == MOST_ROWS
    monkeypatch.setattr(sampling, "free_bytes", lambda: 1e8)
    assert rows_to_sample(None, 10) == int(0.25 * 1e8 / (8 * 5 * 14))
    monkeypatch.setattr(sampling, "free_bytes", lambda: 0.0)
    assert rows_to_sample(None, 10) == FEWEST_ROWS


def test_free_memory_is_known_or_guessed():
    assert free_bytes() > 1e6
