import numpy as np

from conjoin.paper.tables import figure
from tests.paper.tables.helpers import planted


def test_the_figure_is_written_and_described(tmp_path, monkeypatch):
    """The real set takes a network; planted rows stand in for its features."""
    monkeypatch.setattr(figure, "load", lambda name, folder: planted())
    monkeypatch.setattr(figure, "network", lambda rows, *rest: lambda X: np.asarray(X))
    path = tmp_path / "deep" / "figure.svg"
    words = figure.draw_figure(tmp_path, path)
    assert path.read_text().startswith("<svg")
    assert words.startswith("Cluster 1: 2 datasets, 240 rows: d1, d2.")
