"""Groups of rows that a learner predicts forward in time.

A plan of forward validation enters; the group of every row leaves, and what the model that predicts
each group may see (`Past`). Neighbouring origins share a model, since each costs a training run:
it sees the rows before the first of them. The earliest rows, before the first origin, are no part
of any error. They need predictions all the same, as a column of further models, so their two
random halves predict each other.
"""

import numpy as np

from conjoin._typing import IntArray
from conjoin.learners.rows import Past
from conjoin.moments.forward import Forward


def forward_groups(plan: Forward, rank: IntArray, most: int) -> tuple[IntArray, Past]:
    """Return the group (n,) of every row and what models see; at most `most` groups are forward.

    The latest group comes first: settings that are chosen on a few groups are chosen on models
    that have seen most rows. `rank` (n,) is a random order of rows.

    Examples
    --------
    >>> from conjoin.moments.forward import plan_forward
    >>> group, past = forward_groups(plan_forward(np.arange(12.0), 3), np.arange(12), 2)
    >>> group.tolist()
    [2, 3, 2, 3, 2, 3, 1, 1, 1, 1, 0, 0]
    >>> past.judging, past.sees[1][past.cell].tolist() == [True] * 6 + [False] * 6
    (2, True)
    """
    F = len(plan.origins)
    count = min(most, F)
    shared = np.arange(F) * count // F  # the group of each origin, the earliest first
    early = plan.piece < plan.before[0]
    half = rank % 2
    group = np.where(early, count + half, count - 1 - shared[plan.latest])
    cell = np.where(early, plan.pieces + half, plan.piece)
    sees = np.zeros((count + 2, plan.pieces + 2), dtype=bool)
    for j in range(count):
        sees[count - 1 - j, : plan.before[int(np.argmax(shared == j))]] = True
        sees[count - 1 - j, plan.pieces :] = True
    sees[count, plan.pieces + 1] = sees[count + 1, plan.pieces] = True
    return group, Past(cell, sees, count)
