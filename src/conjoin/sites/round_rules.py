"""Whether answers of a round may leave a site.

Questions and answers enter, with the rows; an error is raised if an answer would disclose rows.

Every question has coefficients that the coordinator chose. Whatever is asked there, they may not
leave weight on few rows only: a loss at coefficients that one row goes beyond is that row's value.
"""

from collections.abc import Sequence

import numpy as np

from conjoin._typing import FloatArray, IntArray
from conjoin.errors import DataError
from conjoin.models.glm_families import GlmFamily, probabilities
from conjoin.models.glm_rows import GlmRows
from conjoin.models.remote_glm import Arrays, Ask
from conjoin.sites.check import check_round
from conjoin.sites.rows import SiteRows
from conjoin.sites.rules import Rules


def refuse_answers(
    rows: SiteRows, k: int, cells: GlmRows, asked: Sequence[tuple[Ask, Arrays]], sent: int
) -> None:
    """Raise an error if the answers of one dataset would disclose rows.

    `sent` are the numbers that it has sent in all rounds, with these answers.
    """
    part, seen = rows.leaving().of_dataset(k), set()
    for one, found in asked:
        by_fold = one.folds or one.kind == "loss"
        eta = _eta(cells, one, found, rows.dealt[k].fold)
        _refuse(_squares_broken(cells, one, eta, rows.rules))
        if (by_fold, eta.tobytes()) in seen:
            continue
        seen.add((by_fold, eta.tobytes()))
        products, means = _weights(cells.family, eta)
        folds = rows.folds[k] if by_fold else 1
        leaving = part if by_fold else part.without_folds()
        _refuse([each.sentence for each in
                 check_round(leaving, products, -(-sent // folds), rows.rules, means)])  # fmt: skip


def _refuse(sentences: Sequence[str]) -> None:
    """Raise an error with the first sentence."""
    if sentences:
        raise DataError(
            f"The round was not answered, because it would disclose rows. {sentences[0]}"
        )


def _eta(cells: GlmRows, one: Ask, found: Arrays, fold: IntArray) -> FloatArray:
    """Return the linear predictors (n, m) of rows at the coefficients of a question."""
    X, b = cells.sorted_rows.X, one.arrays[0]
    if one.kind == "step":
        b = b + found[0] * one.arrays[1]
    B = b.reshape(-1, X.shape[1], cells.family.m)
    if one.kind != "loss":
        return np.asarray(X @ B[0])
    return np.asarray(np.einsum("nd,ndm->nm", X, B[fold]))


def _weights(family: GlmFamily, eta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the weights (n, q) of rows in sums of products, and those (n, r) in sums of columns.

    For several classes, sums weighted with the products of every two probabilities give all others
    that an information matrix holds.
    """
    if family.free_dispersion:
        at = family.derivatives(np.zeros(len(eta)), eta[:, 0])  # the gradient is the mean then
        return at.curvature[:, None], at.gradient[:, None]
    P = probabilities(family, eta[:, 0] if family.m == 1 else eta)
    a, b = np.triu_indices(P.shape[1], 1)
    return P[:, a] * P[:, b], P


def _squares_broken(cells: GlmRows, one: Ask, eta: FloatArray, rules: Rules) -> list[str]:
    """Say if one row makes up nearly all of a sum over squared scores."""
    if one.kind != "scores":
        return []
    own, family = cells.sorted_rows, cells.family
    at = family.derivatives(own.y, eta[:, 0] if family.m == 1 else eta)
    gradient = at.gradient.reshape(len(eta), -1)
    s = (own.X[:, :, None] * gradient[:, None, :]).reshape(len(eta), -1)
    u = np.abs(np.einsum("np,pq,nq->n", s, one.arrays[1], s, optimize=True))
    share = float(np.max(u**2, initial=0.0) / max(np.sum(u**2), np.finfo(float).tiny))
    if share <= rules.dominance:
        return []
    return [
        f"Dataset {one.dataset!r} has a row that makes up {100 * share:.0f} % of a sum over "
        f"squared scores; at most {100 * rules.dominance:.0f} % may leave."
    ]
