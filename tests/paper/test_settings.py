"""The last column of the table of settings in docs/paper-notes.md."""

from inspect import signature

import pytest

from conjoin import compare, partition
from conjoin.paper import Bound, Tuned
from conjoin.paper.tables import protocol, synthetic
from conjoin.paper.tables.methods import RESAMPLES
from conjoin.paper.tuned import training_rows


def test_algorithm_2_has_the_settings_of_the_paper_and_its_scripts():
    tuned = Tuned()
    assert tuned.shares == (0.4, 0.4, 0.2)
    assert tuned.delta == Bound().delta == 0.1
    assert (tuned.alpha_min, tuned.alpha_max, tuned.alpha_step) == (2, 10, 0.01)
    assert (tuned.lam, tuned.resamples, tuned.out_of_samples) == (0.9, 1000, None)
    assert len(tuned.alphas) == 801
    assert training_rows(10) == training_rows(20) == 50 and training_rows(21) == 100


def test_tables_have_the_settings_of_the_paper_and_its_scripts():
    assert (synthetic.N, synthetic.PAIRS) == (50, 1000)
    assert protocol.OUT_OF_SAMPLES == 1000
    assert (min(RESAMPLES.values()), max(RESAMPLES.values())) == (40, 200)


def test_the_networks_of_the_tables_have_momentum_and_no_weight_decay():
    mlp = pytest.importorskip("conjoin.representations.torch.mlp").MLP()
    assert (mlp.momentum, mlp.weight_decay, mlp.batch, mlp.epochs) == (0.9, 0.0, 64, 10)


def test_there_is_an_intercept_by_default():
    assert signature(compare).parameters["intercept"].default is True
    assert signature(partition).parameters["intercept"].default is True
