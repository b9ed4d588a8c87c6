from conjoin.report.common_model import curve, departure, departure_in_words, drawn

DEPARTURE = {
    "dataset": "<d1>", "column": "price", "middles": (1.0, 5.0, 9.0), "rows": (7, 8, 9),
    "difference": (0.1, -0.2, 3.0), "half": (0.5, 0.5, 0.5), "p_value": 1e-4, "label": None,
}  # fmt: skip
FACTS = {
    "learner": "boosted trees", "reach": {}, "known": True, "name": "store", "columns": 2,
    "importance": [{"name": "price", "rise": 2.0, "interval": [1.0, 3.0], "gain": None},
                   {"name": "size", "rise": -0.1, "interval": [-0.2, 0.0], "gain": None}],
    "curves": [{"name": "kind", "values": ["a & b", "c"], "lines": [[1.0], [2.0]]}],
    "classes": [], "judged": 3, "departing": 1, "departures": [DEPARTURE],
}  # fmt: skip


def test_figures_are_drawn_from_plain_values():
    found = drawn(FACTS)
    assert 'width="220"' in found["importance"][0]["bar"]
    assert 'width="0"' in found["importance"][1]["bar"]  # below zero by chance
    assert found["curves"][0]["words"] == "Mean prediction: lowest 1 at a & b, highest 2 at c."
    assert found["departures"][0]["svg"].count("whisker") == 1


def test_names_in_figures_are_escaped():
    assert "a &amp; b" in curve(FACTS["curves"][0])


def test_curves_of_several_classes_have_a_line_each():
    text = curve({"values": [0.0, 1.0], "lines": [[0.2, 0.8], [0.4, 0.6]]})
    assert text.count('class="model') == 2


def test_departures_lie_around_zero():
    assert 'class="zero"' in departure(DEPARTURE)
    assert departure_in_words(DEPARTURE).startswith("Farthest at price 9: 3 above the prediction")


def test_without_a_learner_there_is_no_section():
    assert drawn(None) is None
    assert drawn({"known": False, "reach": {}, "learner": "boosted trees"})["known"] is False
