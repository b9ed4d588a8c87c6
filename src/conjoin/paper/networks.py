"""MLP1 and MLP2, the networks of the paper's section "Neural Network Setup" (extra: nn).

Nothing enters but a seed; settings of a network leave, for `partition(representation=...)`.

Hidden layers are as wide as the input; batches of 64 rows, 10 epochs, learning rate 1e-4, squared
error, stochastic gradient descent, trained on all rows. The features are the outputs of the last
hidden layer.

The text has a weight decay of 0.9, the authors' scripts have a momentum of 0.9 instead and take
the features before the last ReLU. The tables here use the momentum: a weight decay of 0.9 shrinks
all weights by exp(-0.9e-4) in each step, so on a set of 844,338 rows (131,930 steps) by exp(-12) to
nothing.
"""

from typing import TYPE_CHECKING, Literal, TypeAlias

from conjoin.checks import check_choice

if TYPE_CHECKING:
    from conjoin.representations.torch.mlp import MLP

Source: TypeAlias = Literal["text", "scripts"]
SOURCES: tuple[Source, ...] = ("text", "scripts")
FACTOR = 0.9  # "weight decay of 0.9" in the text, momentum in the scripts


def MLP1(source: Source = "text", *, random_state: int = 0) -> "MLP":
    """Return the paper's network with one hidden layer.

    Parameters
    ----------
    source : {"text", "scripts"}, default "text"
        "text" has weight decay 0.9 as printed, "scripts" momentum 0.9 as the tables use it.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    MLP
        Settings of a network, for `partition(representation=...)`.

    Raises
    ------
    ArgumentError
        If `source` is unknown.
    ConjoinError
        If torch is not installed.

    Examples
    --------
    >>> MLP1().weight_decay, MLP1("scripts").momentum
    (0.9, 0.9)
    """
    return _network(1, source, random_state)


def MLP2(source: Source = "text", *, random_state: int = 0) -> "MLP":
    """Return the paper's network with two hidden layers.

    Parameters
    ----------
    source : {"text", "scripts"}, default "text"
        As in `MLP1`.
    random_state : int, default 0
        Random seed.

    Returns
    -------
    MLP
        Settings of a network, for `partition(representation=...)`.

    Raises
    ------
    ArgumentError
        If `source` is unknown.

    Examples
    --------
    >>> MLP2().hidden
    2
    """
    return _network(2, source, random_state)


def _network(hidden: int, source: Source, random_state: int) -> "MLP":
    from conjoin.representations.torch.mlp import MLP

    check_choice("source", source, SOURCES)
    decay, momentum = (FACTOR, 0.0) if source == "text" else (0.0, FACTOR)
    # Ten epochs, batches of 64 and the learning rate 1e-4 are the defaults of MLP.
    return MLP(hidden=hidden, weight_decay=decay, momentum=momentum, random_state=random_state)
