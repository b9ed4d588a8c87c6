import numpy as np
import pytest

from conjoin.errors import ArgumentError
from conjoin.paper import MLP1, MLP2

pytest.importorskip("torch")


@pytest.mark.parametrize(("make", "hidden"), [(MLP1, 1), (MLP2, 2)])
def test_the_networks_have_the_settings_of_the_text(make, hidden):
    one = make(random_state=3)
    assert (one.hidden, one.width, one.batch, one.epochs, one.rate) == (hidden, None, 64, 10, 1e-4)
    assert (one.weight_decay, one.momentum, one.random_state) == (0.9, 0.0, 3)
    scripts = make("scripts")
    assert (scripts.weight_decay, scripts.momentum) == (0.0, 0.9)


def test_the_printed_weight_decay_shrinks_what_the_network_learns():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    y = X @ [1.0, -1.0, 0.5]
    text, scripts = (
        np.abs(MLP1(source).fit(X, y).transform(X)).mean() for source in ("text", "scripts")
    )
    assert text < 0.9 * scripts


def test_an_unknown_source_is_refused():
    with pytest.raises(ArgumentError, match="source='paper' is unknown; expected one of text"):
        MLP1("paper")
