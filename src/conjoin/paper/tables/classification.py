"""How often each reading of the paper's classification bounds joins, by simulation.

A seed enters; lines, and a table as CSV and Markdown, leave. `conjoin reproduce classification`
writes experiments/classification/results.csv, the table of docs/classification-bounds.md.

Protocol. Rows satisfy the paper's Assumption 1 with the sign flipped. They are x ~ N(0, I) without
intercept; a row is kept if one class has a positive score and all others one below -MARGIN. In
dataset 2, every beta_c is turned by the same angle in a random direction. Norms stay the same, and
the distance |beta1_c - beta2_c| is d |beta1_c|, from d = 0 (equal) to d = 2 (opposite). Ridge fits
replace the true parameters, and B is the largest norm of a row in the pair. Joining helps if the
joint ridge fit has the smaller cross entropy with ridge term, summed over new rows of both.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from conjoin._typing import FloatArray, IntArray, Progress
from conjoin.moments.resample import stream
from conjoin.paper.classification import READINGS, Setting, bounds, largest_norm
from conjoin.paper.surrogate import (
    cross_entropy,
    ridge_fit,
    step_sizes,
    subgradient_estimator,
    surrogate_loss,
)
from conjoin.paper.tables.write import write_rows

# With two classes omega is too small (docs/classification-bounds.md), so three. MARGIN is the
# paper's gamma0: the larger, the more of the drawn rows are rejected.
C, P, LAM, MARGIN = 3, 5, 0.1, 0.1
PAIRS = 100  # pairs per line: each counts one percent
FRESH = 2000  # new rows per dataset on which joining is judged
# Rows of the two datasets: small, usual, large, and very unequal.
SIZES = ((100, 100), (1000, 1000), (10_000, 10_000), (100, 10_000))
# The paper's distances, then right angles and opposite parameters.
DISTANCES = (0.0, 0.1, 0.3, float(np.sqrt(2)), 2.0)
# Each step of minimising the joint surrogate loss passes over all rows. So only the first pairs of
# a line do it, from the joint ridge fit and with fewer steps than the estimator's default.
COSTED, COST_STEPS = 5, 300
# Columns for a terminal; the file has all.
SHOWN = ("n1", "n2", "d", "corrected", "printed", "squared", "literal_sign", "true_beta", "helps")


@dataclass(frozen=True)
class Line:
    """One line of the table: percentages of pairs, then means over pairs.

    `corrected`, `printed` and `squared` are the percentages joined by the three readings, with
    ridge fits as parameters. `literal_sign` and `true_beta` are the corrected reading with the
    printed sign and with the true parameters; `printed_true_beta` is the printed reading with the
    true parameters. `helps` is the percentage of pairs in which joining helps.

    `sampling`, `distance` and `steps_*` are the parts of Phi1 + Phi2 - Psi. `cancelled` is the cost
    of joining that both bounds leave out: the surrogate loss of the joint model minus that of the
    separate ones. `change` is the change of the cross entropy on new rows by joining.
    """

    n1: int
    n2: int
    d: float
    corrected: float
    printed: float
    squared: float
    literal_sign: float
    true_beta: float
    printed_true_beta: float
    helps: float
    sampling: float
    distance: float
    steps_corrected: float
    steps_printed: float
    steps_squared: float
    cancelled: float
    change: float


def draw_rows(
    beta: FloatArray, n: int, margin: float, rng: np.random.Generator
) -> tuple[FloatArray, IntArray]:
    """Draw n rows under Assumption 1 with the sign flipped, and their classes."""
    rows: list[FloatArray] = []
    found = 0
    while found < n:
        drawn = rng.standard_normal((4 * n, beta.shape[1]))
        scores = np.sort(drawn @ beta.T, axis=1)
        kept = drawn[(scores[:, -1] > 0) & (scores[:, -2] < -margin)]
        rows.append(kept)
        found += len(kept)
    X = np.concatenate(rows)[:n]
    return X, np.argmax(X @ beta.T, axis=1)


def turn(beta: FloatArray, d: float, rng: np.random.Generator) -> FloatArray:
    """Turn every beta_c so that it moves by d times its norm, 0 <= d <= 2."""
    norm = np.linalg.norm(beta, axis=1, keepdims=True)
    unit = beta / norm
    side = rng.standard_normal(beta.shape)
    side -= np.sum(side * unit, axis=1, keepdims=True) * unit
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    angle = 2 * np.arcsin(d / 2)
    turned: FloatArray = norm * (np.cos(angle) * unit + np.sin(angle) * side)
    return turned


def run_pair(
    n1: int, n2: int, d: float, rng: np.random.Generator, *, costed: bool
) -> dict[str, float]:
    """Return the decisions (0 or 1) and the terms of one pair."""
    beta1 = rng.standard_normal((C, P))
    betas = (beta1, turn(beta1, d, rng))
    data = [draw_rows(beta, n, MARGIN, rng) for beta, n in zip(betas, (n1, n2))]
    fresh = [draw_rows(beta, FRESH, MARGIN, rng) for beta in betas]
    fits = [ridge_fit(X, y, C, LAM) for X, y in data]
    (X1, y1), (X2, y2) = data
    joint = ridge_fit(np.vstack([X1, X2]), np.concatenate([y1, y2]), C, LAM)

    B = largest_norm(X1, X2)
    settings = {reading: Setting(C, B, LAM, reading=reading) for reading in READINGS}
    by = {name: bounds(n1, n2, fits[0], fits[1], setting) for name, setting in settings.items()}
    literal = bounds(n1, n2, -fits[0], -fits[1], settings["corrected"])
    change = sum(
        cross_entropy(joint, X, y, LAM) - cross_entropy(fit, X, y, LAM)
        for (X, y), fit in zip(fresh, fits)
    )
    values: dict[str, float] = {name: float(by[name].join) for name in READINGS}
    values |= {f"steps_{name}": by[name].steps for name in READINGS}
    return values | {
        "literal_sign": float(literal.join),
        "true_beta": float(bounds(n1, n2, *betas, settings["corrected"]).join),
        "printed_true_beta": float(bounds(n1, n2, *betas, settings["printed"]).join),
        "helps": float(change < 0),
        "sampling": by["corrected"].sampling,
        "distance": by["corrected"].distance,
        "cancelled": cancelled_cost([X1, X2], fits, joint) if costed else np.nan,
        "change": change,
    }


def cancelled_cost(
    Xs: Sequence[FloatArray], fits: Sequence[FloatArray], start: FloatArray
) -> float:
    """Return the empirical surrogate loss of one joint model minus that of two separate models.

    The ridge fits minimise the separate losses; the subgradient estimator minimises the joint one.
    """
    samples = list(zip(Xs, fits))
    joint = subgradient_estimator(samples, LAM, MARGIN, step_sizes(COST_STEPS), start)
    return joint.loss - sum(surrogate_loss(fit, fit, X, LAM, MARGIN) for X, fit in samples)


def run_line(n1: int, n2: int, d: float, seed: int, pairs: int = PAIRS) -> Line:
    """Average over pairs; decisions become percentages."""
    rng = stream(seed, "classification", f"{n1}/{n2}/{d:.3f}")
    drawn = [run_pair(n1, n2, d, rng, costed=i < COSTED) for i in range(pairs)]
    mean = {name: float(np.nanmean([pair[name] for pair in drawn])) for name in drawn[0]}
    shares = (*READINGS, "literal_sign", "true_beta", "printed_true_beta", "helps")
    mean |= {name: 100 * mean[name] for name in shares}
    return Line(n1=n1, n2=n2, d=d, **mean)


def run(seed: int = 0, pairs: int = PAIRS, progress: Progress | None = None) -> list[Line]:
    """Run all sizes and distances."""
    lines: list[Line] = []
    for n1, n2 in SIZES:
        for d in DISTANCES:
            lines.append(run_line(n1, n2, d, seed, pairs))
            if progress:
                progress(len(lines), len(SIZES) * len(DISTANCES))
    return lines


def write_lines(lines: Sequence[Line], path: Path) -> None:
    """Write the lines as CSV: percentages with one decimal, terms with three."""
    write_rows(_names(), [_texts(line) for line in lines], path)


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a Markdown table."""
    rows = [_names(), ["---"] * len(_names()), *(_texts(line) for line in lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def texts_of(line: Line, columns: Sequence[str]) -> list[str]:
    """Return some columns of a line as text."""
    by_name = dict(zip(_names(), _texts(line)))
    return [by_name[name] for name in columns]


def _names() -> list[str]:
    return [entry.name for entry in fields(Line)]


def _texts(line: Line) -> list[str]:
    names = _names()
    first_share, first_term = names.index("corrected"), names.index("sampling")
    shares, terms = first_term - first_share, len(names) - first_term
    forms = ["d", "d", ".3g"] + [".1f"] * shares + [".3f"] * terms
    return [format(value, form) for value, form in zip(asdict(line).values(), forms)]
