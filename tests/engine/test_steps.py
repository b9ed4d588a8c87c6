from functools import partial

from conjoin.api.request import Request
from conjoin.engine.steps import Task, find
from conjoin.engine.study import make_study
from conjoin.tables import collect
from tests.bent import bent_tables


def test_steps_give_an_analysis_with_the_fits_of_its_strategies():
    table = collect(bent_tables(datasets=3), target="y")
    request = Request(target="y")
    steps = partial(find, Task(request, None, None, {}, False))
    found = steps(table, make_study(table, request))
    assert set(found.fits) == set(found.analysis.strategies.weights)
    assert found.candidates.search is found.analysis.search
    assert found.analysis.using("auto").labels.keys() == set(table.names)
