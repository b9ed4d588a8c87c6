"""The flow: every step once, frozen values in between, nothing computed twice."""

import dataclasses
import inspect
from collections import Counter

import pytest

import conjoin
from conjoin.engine import analysis as analysis_module
from conjoin.engine import finished, gain_map, methods, steps
from conjoin.engine.run import analyse
from conjoin.engine.run import run as run_request
from conjoin.engine.verdicts import Verdicts
from conjoin.strategies import validation

TABLES = conjoin.datasets.make_clusters(sizes=(3, 3), n=40, p=3, distance=1.0).tables()


def count_calls(monkeypatch, counts, place, name):
    """Count the calls of a function or method."""
    original = getattr(place, name)

    def counted(*args, **kwargs):
        counts[name] += 1
        return original(*args, **kwargs)

    monkeypatch.setattr(place, name, counted)


@pytest.mark.parametrize("rows", [40, 4000])  # few rows: the search is validated for the choice
def test_nothing_is_computed_twice(monkeypatch, tmp_path, rows):
    tables = conjoin.datasets.make_clusters(sizes=(2, 2), n=rows, p=2, distance=1.0).tables()
    counts = Counter()
    for place in (methods, validation, analysis_module, finished):
        if hasattr(place, "validate_partition"):
            count_calls(monkeypatch, counts, place, "validate_partition")
    count_calls(monkeypatch, counts, analysis_module, "find_steps")
    count_calls(monkeypatch, counts, analysis_module, "make_details")
    count_calls(monkeypatch, counts, steps, "fit_strategies")
    count_calls(monkeypatch, counts, steps, "validate_strategies")
    count_calls(monkeypatch, counts, steps, "make_judge")
    count_calls(monkeypatch, counts, Verdicts, "all_alternatives")
    fits = Counter()
    original = methods.Candidates.fit
    monkeypatch.setattr(
        methods.Candidates,
        "fit",
        lambda self, labels: (fits.update([labels.tobytes()]), original(self, labels))[1],
    )
    judged = Counter()
    count_calls(monkeypatch, judged, Verdicts, "judge_steps")
    count_calls(monkeypatch, judged, gain_map, "map_of")
    result = conjoin.partition(tables, target="y")
    print(result)
    assert len(result.ledger(3)) == 3
    result.save(tmp_path / "model.json", evidence=True)
    result.report(tmp_path / "report.html")
    assert result.ledger() == result.ledger()
    assert set(counts.values()) == {1}, counts
    assert set(fits.values()) == {1}
    # Steps are judged for the ledger, for the merges above it and for the alternatives.
    assert judged == {"judge_steps": 3, "map_of": 1}


def test_steps_are_numbered_in_their_order():
    source = "".join(map(inspect.getsource, (run_request, analyse, steps.find)))
    places = [source.index(f"# {i} ") for i in range(1, 8)]
    assert places == sorted(places)


def test_the_values_between_steps_are_frozen():
    found = conjoin.partition(TABLES, target="y").analysis
    parts = (found.facts, found.study, found.start, found.search, found.strategies, found.chosen)
    for value in (found, *parts, found.judge, found.origin):
        assert value.__dataclass_params__.frozen
        field = dataclasses.fields(value)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, None)


def test_errors_do_not_depend_on_the_order_of_questions():
    one, two = (conjoin.partition(TABLES, target="y") for _ in range(2))
    first = (one.ledger(2), one.errors, one.ledger())
    second = (two.ledger(), two.errors, two.ledger(2))
    assert first == second[::-1]
