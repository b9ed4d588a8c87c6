"""Clusters that stay after an update, unless a change is worth more than its standard error.

The partition found from all rows enters, with the clusters before. Where the two differ, the
datasets that are concerned fall into separate blocks. In each block the clusters before and after
are compared on held-out rows. The labels that remain leave, with what was weighed (`Move`).
Clusters before do not stay if one of their joins no longer holds (`grouping.refine`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.engine.methods import Candidates, Chosen, fitted
from conjoin.result.update import Groups, Move
from conjoin.strategies.average import paired_parts


def settle_labels(
    chosen: Chosen,
    candidates: Candidates,
    names: Sequence[str],
    before: Mapping[str, int],
    *,
    free: bool = False,
) -> tuple[Chosen, tuple[Move, ...]]:
    """Return the partition with the changes that are worth it, and all that were weighed.

    If clusters are `free`, all changes are made.
    """
    new = chosen.labels
    old = _with_newcomers(new, names, before, candidates.moments.n)
    blocks = _differing_blocks(old, new)
    if not blocks:
        return chosen, ()
    stay = fitted(old, candidates)
    checked = None if chosen.joins is None else candidates.make_sound(old)
    moves, labels = [], new.copy()
    for block in blocks:
        unsound = checked is not None and _is_split(old[block], checked.labels[block])
        losses = np.stack([one.clusters.losses[:, block] for one in (stay, chosen)])
        gain, error = _gain(losses, candidates.moments.w[block], candidates.weights[block])
        before_after = (_groups(old, block, names), _groups(new, block, names))
        made = free or unsound or bool(gain > error)
        moves.append(Move(*before_after, gain, error, made, unsound))
        if not moves[-1].made:
            labels[block] = old[block] + len(new)  # apart from all clusters of other blocks
    if all(one.made for one in moves):
        return chosen, tuple(moves)
    joins = None
    if chosen.joins is not None and checked is not None:
        kept = {int(k) for one, block in zip(moves, blocks) if not one.made for k in block}
        joins = tuple(join for join in chosen.joins if join[0][0] not in kept)
        joins += tuple(join for join in checked.joins if join[0][0] in kept)
    return fitted(_in_order(labels), candidates, joins), tuple(moves)


def _is_split(old: IntArray, checked: IntArray) -> bool:
    """Say whether a cluster of the first labels is in several of the second.

    >>> _is_split(np.array([0, 0, 1]), np.array([0, 1, 2]))
    True
    """
    return len(set(zip(old.tolist(), checked.tolist()))) > len(set(old.tolist()))


def _with_newcomers(
    new: IntArray, names: Sequence[str], before: Mapping[str, int], rows: FloatArray
) -> IntArray:
    """Return the labels before, with new datasets in the cluster of most rows of their mates."""
    old = np.array([before.get(name, -1) for name in names], dtype=np.int64)
    found, free = old.copy(), int(old.max(initial=-1)) + 1
    for c in np.unique(new[old < 0]):
        members = np.flatnonzero(new == c)
        known = members[old[members] >= 0]
        if len(known):
            weight = np.bincount(old[known], rows[known])
            label = int(np.argmax(weight))
        else:
            label, free = free, free + 1
        found[members[old[members] < 0]] = label
    return found


def _differing_blocks(old: IntArray, new: IntArray) -> list[IntArray]:
    """Return the blocks of datasets that share no cluster with others and whose clusters differ.

    >>> old, new = np.array([0, 0, 1, 2, 2]), np.array([0, 0, 1, 1, 2])
    >>> [block.tolist() for block in _differing_blocks(old, new)]
    [[2, 3, 4]]
    """
    block = np.arange(len(old))
    changed = True
    while changed:
        last = block.copy()
        for labels in (old, new):
            least = np.full(int(labels.max()) + 1, len(old))
            np.minimum.at(least, labels, block)
            block = least[labels]
        changed = bool((block != last).any())
    found = [np.flatnonzero(block == one) for one in np.unique(block)]
    return [one for one in found if len(set(zip(old[one], new[one]))) > len(set(old[one]))
            or len(set(old[one])) != len(set(new[one]))]  # fmt: skip


def _gain(losses: FloatArray, w: FloatArray, weights: FloatArray) -> tuple[float, float]:
    """Return the share by which losses (2, F, B) fall from the first to the second, with error."""
    shares = weights / weights.sum() if weights.sum() > 0 else weights
    parts = paired_parts(losses, w, shares)
    fall, count = parts[0] - parts[1], parts.shape[1]
    error = np.sqrt(count / max(count - 1, 1) * np.sum((fall - fall.mean()) ** 2))
    level = max(float(parts[0].sum()), np.finfo(float).tiny)
    return float(fall.sum()) / level, float(error) / level


def _groups(labels: IntArray, block: IntArray, names: Sequence[str]) -> Groups:
    own = labels[block]
    first = dict.fromkeys(own.tolist())
    return tuple(tuple(names[k] for k in block[own == c]) for c in first)


def _in_order(labels: IntArray) -> IntArray:
    """Return labels 0, 1, 2 and so on, in the order of their first dataset."""
    number: dict[int, int] = {}
    found = [number.setdefault(int(label), len(number)) for label in labels]
    return np.array(found, dtype=np.int64)
