"""The training loop: batches, held-out rows, early stopping, divergence."""

import numpy as np
import pytest

from conjoin.errors import ArgumentError, DataError
from conjoin.representations.training import Training, run_epochs


class Scripted:
    """A learner whose held-out loss follows a script; its parameter is the number of epochs."""

    def __init__(self, held_out=(), train=1.0):
        self.script, self.train = iter(held_out), train
        self.batches, self.epoch = [], 0

    def step(self, rows):
        self.batches.append(rows)
        return self.train * len(rows), float(len(rows))

    def losses(self, rows):
        self.epoch += 1
        return next(self.script) * len(rows), float(len(rows))

    def parameters(self):
        return self.epoch

    def restore(self, parameters):
        self.epoch = parameters


def test_every_row_is_used_once_in_an_epoch():
    learner = Scripted()
    history = run_epochs(learner, 10, Training(epochs=2, batch=4), np.random.default_rng(0))
    assert [len(rows) for rows in learner.batches] == [4, 4, 2, 4, 4, 2]
    for epoch in (learner.batches[:3], learner.batches[3:]):
        assert sorted(np.concatenate(epoch).tolist()) == list(range(10))
    assert history.train == (1.0, 1.0)
    assert history.held_out == ()


def test_training_ends_when_the_held_out_loss_stops_falling_and_restores_the_best():
    learner = Scripted(held_out=[5.0, 3.0, 4.0, 3.5, 1.0])
    training = Training(epochs=5, batch=100, hold_out=0.2, patience=2)
    history = run_epochs(learner, 10, training, np.random.default_rng(0))
    assert history.held_out == (5.0, 3.0, 4.0, 3.5)
    assert len(history.train) == 4
    assert learner.epoch == 2
    assert [len(rows) for rows in learner.batches] == [8] * 4


def test_divergence_and_shares_that_leave_no_rows_are_refused():
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="diverged in epoch 1; choose a smaller rate"):
        run_epochs(Scripted(train=np.inf), 10, Training(), rng)
    with pytest.raises(DataError, match=r"hold_out=0.1 of 2 rows leaves no rows to train on or no"):
        run_epochs(Scripted(), 2, Training(hold_out=0.1), rng)


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"epochs": -1}, "epochs=-1 .*whole number >= 0"),
        ({"batch": 0}, "batch=0 .*whole number >= 1"),
        ({"rate": 0.0}, "rate=0.0 is not a learning rate"),
        ({"momentum": 1.0}, "momentum=1.0 is out of range"),
        ({"hold_out": -0.1}, "hold_out=-0.1 is out of range"),
        ({"weight_decay": -1.0}, "weight_decay=-1.0 is negative"),
    ],
)
def test_settings_out_of_range_are_refused(setting, message):
    with pytest.raises(ArgumentError, match=message):
        Training(**setting)
