"""Every option has one default, one help text and one check on all faces."""

from importlib import import_module
from inspect import Parameter, signature

import pytest
from typer.main import get_command

import conjoin
from conjoin.api.compare import compare
from conjoin.api.described import described
from conjoin.api.partition import partition
from conjoin.api.request import (
    PAIR_METHODS,
    PAPER_METHODS,
    PairRequest,
    PredictionOptions,
    Request,
)
from conjoin.cli.main import app
from conjoin.cli.options import flag_of
from conjoin.engine.criteria import OWN
from conjoin.errors import ArgumentError
from conjoin.estimators.join import NOT_HERE
from conjoin.report.again import commands
from conjoin.result.partition import Partition

partition_module = import_module("conjoin.api.partition")
compare_module = import_module("conjoin.api.compare")
NAMES_OF_SKLEARN = {"intercept": "fit_intercept"}


def defaults(function):
    """Return the arguments of a function that are options, with their defaults."""
    found = signature(function).parameters
    skipped = (Parameter.VAR_KEYWORD, Parameter.VAR_POSITIONAL)
    return {name: one.default for name, one in found.items() if one.kind not in skipped}


@pytest.mark.parametrize(("function", "request_"), [(partition, Request), (compare, PairRequest)])
def test_functions_take_every_option_with_its_default(function, request_):
    found = defaults(function)
    for name in described(request_):
        expected = None if name == "target" else getattr(request_, name)  # site files name it
        assert found.pop(name) == expected
    assert set(found) <= {"data", "progress", "a", "b"}  # what is no option


@pytest.mark.parametrize(("function", "request_"), [(partition, Request), (compare, PairRequest)])
def test_docstrings_describe_every_option(function, request_):
    words = " ".join(function.__doc__.split())
    for name, option in described(request_).items():
        assert f" {name} : {option.described()}" in words
        assert option.help in words


@pytest.mark.parametrize("estimator", [conjoin.JoinRegressor, conjoin.JoinClassifier])
def test_estimators_take_every_option_with_its_default(estimator):
    found = estimator().get_params()
    for request_ in (Request, PredictionOptions):
        for name in described(request_):
            if name in NOT_HERE and name not in NAMES_OF_SKLEARN:
                continue
            assert found.pop(NAMES_OF_SKLEARN.get(name, name)) == getattr(request_, name)
    assert set(found) <= {"by", "feature_names", "verbose", "family"}


@pytest.mark.parametrize(
    ("command", "request_"),
    [("partition", Request), ("compare", PairRequest), ("predict", PredictionOptions)],
)
def test_the_command_line_takes_every_option_with_its_default(command, request_):
    options = {one.opts[0]: one for one in get_command(app).commands[command].params}
    for name, option in described(request_).items():
        found = options[flag_of(name, option)]
        assert option.help.rstrip(".") in found.help
        assert all(choice in found.help for choice in option.choices)
        if name != "target":
            assert found.default == getattr(request_, name)


def test_predict_takes_every_option_of_prediction():
    for name in ("on_unseen", "limit", "interval"):
        assert defaults(Partition.predict)[name] == getattr(PredictionOptions, name)
    assert set(described(PredictionOptions)) == {"on_unseen", "limit", "interval"}


def test_the_page_names_the_options_that_are_not_defaults():
    tables = conjoin.datasets.make_clusters(sizes=(2, 2), n=40, p=2).tables()
    result = conjoin.partition(
        tables, target="y", method="bic", weigh_by="rows", folds=5, intercept=False
    )
    found = commands(result)
    for words in ("method='bic'", "weigh_by='rows'", "folds=5", "intercept=False"):
        assert words in found["python"]
    for words in ("--method bic", "--weigh-by rows", "--folds 5", "--no-intercept"):
        assert words in found["shell"]
    for words in ("delta", "random_state", "missing", "seed"):
        assert words not in found["python"] + found["shell"]


# Another value than the default for every option.
OTHERS = {
    "target": "z", "by": ["s"], "method": "bic", "learner": "boosting",
    "strategy": "best", "grouping": "agglomerative",
    "weigh_by": "rows", "delta": 0.2, "verdict": "gaussian", "folds": 7, "random_state": 3,
    "features": ["a"],
    "weights": "w", "missing": "drop", "columns": "impute", "sample_rows": 5000,
    "query": "SELECT 1", "unsafe_query": True,
    "category": ["a"], "ignore": ["b"], "time": "day", "repeat": "person", "horizon": 7, "gap": 1,
    "drop_outliers": True, "robust": True,
    "family": "poisson", "intercept": False, "representation": "mlp1", "keep_moments": True,
    "checkpoint": "run-1", "engine": "spark", "master": "local[2]",
    "scheduler": "tcp://here:8786", "memory": "2GB",
}  # fmt: skip


def test_every_option_has_another_value_here():
    assert set(OTHERS) == set(described(Request))
    assert all(getattr(Request, name, None) != value for name, value in OTHERS.items())


@pytest.mark.parametrize("name", OTHERS)
def test_functions_pass_every_option_on(monkeypatch, name):
    seen = []
    for module, step in ((partition_module, "run"), (compare_module, "compare_pair")):
        monkeypatch.setattr(module, step, lambda *args: seen.append(args))
    given = {"time": "day"} if name in ("horizon", "gap") else {}
    partition("data", **{"target": "y", **given, name: OTHERS[name]})
    assert getattr(seen[0][0], name) == OTHERS[name]
    if name in described(PairRequest):
        value = "gcv" if name == "method" else OTHERS[name]
        compare("a", "b", **{"target": "y", name: value})
        assert getattr(seen[1][2], name) == value


@pytest.mark.parametrize("estimator", [conjoin.JoinRegressor, conjoin.JoinClassifier])
@pytest.mark.parametrize("name", OTHERS)
def test_estimators_pass_every_option_on(estimator, name):
    parameter = NAMES_OF_SKLEARN.get(name, name)
    if parameter not in estimator().get_params() or name == "by":
        return  # a role of columns, which X has
    given = {"time": "day"} if name in ("horizon", "gap") else {}
    request = estimator(**{**given, parameter: OTHERS[name]})._request()
    assert getattr(request, name) == OTHERS[name]


def test_criteria_of_pairs_are_those_of_the_request():
    assert set(OWN) == set(PAIR_METHODS)
    for name in PAPER_METHODS:
        assert hasattr(conjoin.paper, name.capitalize())


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"method": "magic"}, "method='magic' is unknown; expected one of auto, risk"),
        ({"strategy": "magic"}, "strategy='magic' is unknown"),
        ({"weigh_by": "cats"}, "weigh_by='cats' is unknown; expected one of datasets, rows"),
        ({"family": "normal"}, "family='normal' is unknown"),
        ({"missing": "guess"}, "missing='guess' is unknown"),
        ({"columns": "all"}, "columns='all' is unknown; expected one of intersect, impute"),
        ({"grouping": "random"}, "grouping='random' is unknown"),
        ({"delta": 1.5}, "delta=1.5 is not a level"),
        ({"folds": 1}, "folds=1"),
        ({"folds": 2.5}, "folds=2.5"),
        ({"random_state": -1}, "random_state=-1 is negative"),
        ({"random_state": True}, "random_state=True is no seed"),
        ({"method": "mallows"}, "method='mallows' is now called 'risk'"),
    ],
)
def test_a_request_refuses_what_cannot_be_used(wrong, words):
    with pytest.raises(ArgumentError, match=None) as caught:
        Request(target="y", **wrong)
    assert words in str(caught.value)


def test_a_request_is_frozen_and_plain():
    request = Request(target="y", method="bic", options={"n": 3, "design": object()})
    with pytest.raises(AttributeError):
        request.delta = 0.2
    plain = request.to_plain()
    assert plain["method"] == "bic"
    assert plain["n"] == 3
    assert "design" not in plain
    assert "target" not in plain
