"""One result asked for everything in an order that hypothesis chooses; numbers hold at every step.

Rules are what users do with a result. What must hold between them: the clusters cover the datasets,
predictions are finite, and a file or a pickle gives the same predictions.
"""

import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import conjoin
from tests.campaign.promise import check_assignment, check_partition, interval

SEEDS = st.integers(0, 3)
STRATEGIES = ("auto", "separate", "clusters", "partial")


def tables(seed: int, count: int, *, first: int = 0) -> dict:
    """Return datasets of twelve rows; every other one has the opposite slope."""
    rng = np.random.default_rng([seed, first])
    found = {}
    for k in range(first, first + count):
        x = rng.standard_normal(12)
        found[f"d{k}"] = {"x": x, "y": (-1) ** k * x + 0.3 * rng.standard_normal(12)}
    return found


class Machine(RuleBasedStateMachine):
    """A partition, and what users ask of it."""

    @initialize(seed=SEEDS, strategy=st.sampled_from(STRATEGIES))
    def begin(self, seed, strategy):
        """Find a partition of three datasets."""
        self.data, self.seed = tables(seed, 3), seed
        self.loaded = False
        self.result = conjoin.partition(
            self.data,
            target="y",
            learner="linear",
            folds=2,
            strategy=strategy,
            keep_moments=True,
        )

    def predicted(self):
        """Return the predictions of every dataset's rows."""
        return np.stack([self.result.predict(one, name) for name, one in self.data.items()])

    @rule(pickled=st.booleans())
    def goes_to_a_file_and_back(self, pickled):
        """Predictions stay the same bits."""
        before = self.predicted()
        if pickled:
            self.result = pickle.loads(pickle.dumps(self.result))
        else:
            with tempfile.TemporaryDirectory() as folder:
                self.result.save(Path(folder) / "model.json")
                self.result = conjoin.load(Path(folder) / "model.json")
            self.loaded = True
        assert np.array_equal(self.predicted(), before)

    @rule(seed=SEEDS)
    def places_a_new_dataset(self, seed):
        """Probabilities of clusters sum to one."""
        check_assignment(self.result, tables(seed, 1, first=7)["d7"])

    @rule()
    def explains_every_dataset(self):
        """Gains lie in their intervals."""
        for name in self.result.labels:
            for line in self.result.explain(name):
                interval("a gain", line.gain, line.interval, unknown=True)

    @rule()
    def lists_its_joins(self):
        """Gains lie in their intervals."""
        for line in self.result.ledger():
            interval("a gain", line.gain, line.interval, unknown=True)

    @rule()
    def gives_intervals(self):
        """Predictions lie in them."""
        for name, one in self.data.items():
            mean, low, high = self.result.predict(one, name, interval=0.9)
            assert np.all((low <= mean) & (mean <= high))

    @rule(strategy=st.sampled_from(STRATEGIES))
    def uses_another_strategy(self, strategy):
        """A result of a file says that it cannot."""
        if self.loaded:
            with pytest.raises(conjoin.ConjoinError):
                self.result.using("no strategy")
        else:
            self.result = self.result.using(strategy)

    @rule(seed=SEEDS)
    def learns_of_one_more_dataset(self, seed):
        """An update knows the old datasets and the new one."""
        first = len(self.data)
        if first > 4:
            return
        new = tables(seed, 1, first=first)
        self.result = conjoin.update(self.result, new).result
        self.data = {**self.data, **new}

    @invariant()
    def numbers_hold(self):
        """Labels cover all datasets, and all numbers are finite."""
        check_partition(self.result, in_time=False)
        assert set(self.result.labels) == set(self.data)
        assert np.isfinite(self.predicted()).all()


# Some ten seconds of one core. The same steps each time: CI must not fail by chance.
Machine.TestCase.settings = settings(
    max_examples=5,
    stateful_step_count=7,
    phases=(Phase.generate,),  # making a failure smaller would take minutes
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
TestMachine = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")(Machine.TestCase)
