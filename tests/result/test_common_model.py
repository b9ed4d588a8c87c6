import json

from conjoin.result.common_model import CommonModel, Departure, Importance, PartialDependence

FOUND = CommonModel(
    {"a": Importance(1.5, (1.0, 2.0), 0.7), "store": Importance(0.1, (-0.1, 0.3))},
    {"a": PartialDependence((0.0, 1.0), ((2.0,), (3.0,)))},
    {"d1": Departure("kind", ("x", "y"), (5, 9), (0.1, -0.4), (0.2, 0.1), 0.03, "yes")},
    "store",
)


def test_it_comes_back_from_plain_values_as_it_was():
    plain = json.loads(json.dumps(FOUND.to_plain()))
    assert CommonModel.from_plain(plain) == FOUND
    assert list(CommonModel.from_plain(plain).importance) == ["a", "store"]
