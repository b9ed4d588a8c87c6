"""The default is not worse than its stored baseline: errors, claims, levels (`scripts.guard`)."""

import copy
import json

import numpy as np
import pytest

from scripts import guard

BASELINE = json.loads(guard.STORED.read_text())


@pytest.mark.slow
@pytest.mark.learner
@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
def test_the_default_is_not_worse_than_its_baseline():
    assert guard.worse(guard.measure_all(), BASELINE) == []


def test_the_baseline_is_that_of_the_cells():
    assert list(BASELINE["errors"]) == [str(cell) for cell in guard.CELLS]
    assert BASELINE["levels"]["apart"] <= 0.1 and BASELINE["levels"]["cover"] >= 0.8


def changed(part, change):
    new = copy.deepcopy(BASELINE)
    new[part] = {name: change(k, value) for k, (name, value) in enumerate(new[part].items())}
    return new


def test_what_is_worse_is_noticed():
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.standard_normal(len(guard.CELLS))
    assert guard.worse(BASELINE, BASELINE) == []
    found = guard.worse(changed("errors", lambda k, v: v + 0.03 + noise[k]), BASELINE)
    assert found[0].startswith("errors on test rows rose by")
    assert guard.worse(changed("errors", lambda k, v: v + noise[k]), BASELINE) == []
    assert guard.worse(changed("errors", lambda k, v: v - 0.1), BASELINE) == []
    found = guard.worse(changed("found over claimed", lambda k, v: v + 0.1), BASELINE)
    assert found[0].startswith("claimed errors are too low")
    for name, wrong in (("apart", 0.2), ("join", 0.0), ("cover", 0.7)):
        levels = {**BASELINE["levels"], name: wrong}
        assert guard.worse({**BASELINE, "levels": levels}, BASELINE) == [
            f"the rate of {name!r} is {wrong:.3f}"
        ]
