"""An attacker who tries to rebuild rows of 0/1 columns and a whole-number target from their sums.

Sums of products enter; rows leave. Rows of a few 0/1 columns and a target from 0 to `most` come in
finitely many kinds. How many rows there are of each kind is a whole number, and every sum of
products is linear in these numbers. So integer programming (HiGHS) finds numbers that give exactly
the sums. If there is only one solution, it is the table.
"""

import itertools

import numpy as np
from scipy.optimize import LinearConstraint, milp
from scipy.stats import norm


def kinds(p, most):
    """Return all kinds of rows (kinds, p + 2): one, p flags, target."""
    flags = np.array(list(itertools.product((0, 1), repeat=p)))
    y = np.arange(most + 1)
    return np.column_stack(
        [
            np.ones(len(flags) * len(y)),
            np.repeat(flags, len(y), axis=0),
            np.tile(y, len(flags)),
        ]
    )


def expected(products, most):
    """Return how many rows of each kind margins let expect: columns independent, target normal."""
    all_kinds = kinds(len(products) - 2, most)
    n = products[0, 0]
    share, mean = products[0, 1:-1] / n, products[0, -1] / n
    sd = np.sqrt(max(products[-1, -1] / n - mean**2, 0.25))
    flags = np.prod(np.where(all_kinds[:, 1:-1] == 1, share, 1 - share), axis=1)
    edges = norm.cdf((np.arange(most) + 0.5 - mean) / sd)
    y = np.diff(np.concatenate([[0.0], edges, [1.0]]))
    return n * flags * y[all_kinds[:, -1].astype(int)]


def guess_from_margins(products, most):
    """Return the rows that margins let expect: expected numbers, the largest remainders up."""
    numbers = expected(products, most)
    whole = np.floor(numbers).astype(int)
    missing = int(round(products[0, 0])) - whole.sum()
    whole[np.argsort(whole - numbers, kind="stable")[:missing]] += 1
    return np.repeat(kinds(len(products) - 2, most), whole, axis=0)


def rebuild(products, most, seconds=5.0):
    """Return rows (n, p + 2) with these sums of products (p + 2, p + 2); None if none were found.

    Of several solutions, the one nearest to what margins let expect is sought.
    """
    all_kinds = kinds(len(products) - 2, most)
    m = len(all_kinds)
    i, j = np.triu_indices(len(products))
    equations = (all_kinds[:, i] * all_kinds[:, j]).T
    sums, near = np.round(products[i, j]), expected(products, most)
    # Numbers x, and bounds u on their distance from what is expected: u >= x - near, near - x.
    one = np.eye(m)
    found = milp(
        np.concatenate([np.zeros(m), np.ones(m)]),
        constraints=[
            LinearConstraint(
                np.hstack([equations, np.zeros((len(sums), m))]), sums - 0.5, sums + 0.5
            ),
            LinearConstraint(np.hstack([one, -one]), -np.inf, near),
            LinearConstraint(np.hstack([one, one]), near, np.inf),
        ],
        integrality=np.concatenate([np.ones(m), np.zeros(m)]),
        bounds=(0, products[0, 0]),
        options={"time_limit": seconds, "mip_rel_gap": 0.05},
    )
    if found.x is None:
        return None
    return np.repeat(all_kinds, np.round(found.x[:m]).astype(int), axis=0)


def overlap(guess, rows):
    """Return the share of rows that a guess has, counted as often as they occur in both."""
    if guess is None:
        return 0.0
    a, b = ({}, {})
    for table, count in ((guess, a), (rows, b)):
        for row in map(tuple, np.round(table).astype(int).tolist()):
            count[row] = count.get(row, 0) + 1
    return sum(min(number, b.get(row, 0)) for row, number in a.items()) / len(rows)
