import csv
from pathlib import Path

import pytest

from conjoin.paper.tables.timings import PAPER_SECONDS, TEXT_HEADER, Timing, run_timings, text_of

ROOT = Path(__file__).parents[3]


@pytest.mark.slow
def test_files_become_models_much_faster_than_in_the_paper(paper_data):
    """Half of the paper's time, even on a busy machine; the stored times are below a minute."""
    for timing in run_timings(paper_data, greedy=False):
        assert timing.total < timing.paper / 2, timing
        assert 0 < timing.training_share < 1


def test_stored_timings_name_the_share_of_training():
    with (ROOT / "experiments" / "timings" / "results.csv").open() as file:
        lines = {line["set"]: line for line in csv.DictReader(file)}
    assert set(lines) == set(PAPER_SECONDS)
    for line in lines.values():
        assert float(line["total"]) < 60
        assert 0 < float(line["training, %"]) < 100


def test_a_timing_as_text_has_an_entry_for_every_column():
    row = text_of(Timing("RSS", 844_338, 4, 600.0, 3.0, 12.0, 5.0, None))
    assert dict(zip(TEXT_HEADER, row, strict=True))["times faster"] == "30"
    assert row[-1] == ""
