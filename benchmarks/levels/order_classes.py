"""Measure verdicts on classes and counts where rows depend on each other: in time, or by person.

    python -m benchmarks.levels.order_classes    # writes benchmarks/levels/order_classes.csv
    python -m benchmarks.levels.order_classes --pairs 200 --settings "classes, persons"
    python -m benchmarks.levels.order_classes --table    # prints the stored lines for docs/time.md

Every row follows the same logistic or Poisson regression. Its chance comes from a normal number
that rows of a person share in part, or that is autoregressive, so rows depend on each other and the
model of a single row stays right. The columns of the output are those of `benchmarks.levels.order`.
At the edge joining gains nothing, up to the curvature of the loss.
"""

import argparse
import csv
from pathlib import Path

import numpy as np
from scipy.special import ndtr
from scipy.stats import poisson

from benchmarks.levels.order import DELTA, FIELDS, boundary, smooth
from conjoin.criterion.judge import Judge
from conjoin.models.glm_families import BERNOULLI, POISSON, GlmFamily
from conjoin.models.likelihood import Joins, Likelihood
from conjoin.models.padded_rows import SortedRows

OUTPUT = Path(__file__).parent / "order_classes.csv"
PERSON = 5  # rows a person
TRUE = np.array([0.3, 0.6, -0.4])  # coefficients; the first is the intercept
REPEATS = 1000  # datasets from which the true covariance of scores is found, for the edge
Rng = np.random.Generator

# By name: family, rows, share or correlation, kind of dependence.
SETTINGS: dict[str, tuple[GlmFamily, int, float, str]] = {
    "classes, independent": (BERNOULLI, 300, 0.0, "repeat"),
    "classes, persons": (BERNOULLI, 300, 0.6, "repeat"),
    "classes, ar0.5": (BERNOULLI, 300, 0.5, "time"),
    "classes, ar0.9": (BERNOULLI, 300, 0.9, "time"),
    "counts, persons": (POISSON, 200, 0.6, "repeat"),
    "counts, ar0.5": (POISSON, 200, 0.5, "time"),
    "counts, ar0.9": (POISSON, 200, 0.9, "time"),
}


def draw(name: str, rng: Rng, beta: np.ndarray, X: np.ndarray | None = None) -> tuple:
    """Return the columns (n, p) and the target (n,) of one dataset."""
    family, n, share, kind = SETTINGS[name]
    who = np.arange(n) // PERSON
    if X is None:
        X = np.column_stack([np.ones(n), rng.standard_normal((n, len(TRUE) - 1))])
        X[:, 1] = rng.standard_normal(n)[who] if kind == "repeat" else smooth(rng, n, share)
    if kind == "time":
        z = smooth(rng, n, share)
    else:
        z = np.sqrt(share) * rng.standard_normal(n)[who]
        z += np.sqrt(1 - share) * rng.standard_normal(n)
    eta = X @ beta
    if family is POISSON:
        return X, poisson.ppf(ndtr(z), np.exp(eta)).astype(float)
    return X, (ndtr(z) < 1 / (1 + np.exp(-eta))).astype(float)


def true_meat(name: str, rng: Rng) -> np.ndarray:
    """Return the covariance (p, p) of the score at the true coefficients."""
    scores = []
    for _ in range(REPEATS):
        X, y = draw(name, rng, TRUE)
        scores.append(-X.T @ SETTINGS[name][0].derivatives(y, X @ TRUE).gradient)
    return np.cov(np.array(scores).T)


def judged(name: str, pairs: int, rng: Rng, edge: bool) -> dict[str, dict[str, float]]:
    """Return how often each verdict comes, with the right argument and without."""
    family, n, _, kind = SETTINGS[name]
    meat = true_meat(name, rng) if edge else None
    X, y = [], []
    for _ in range(pairs):
        both = [draw(name, rng, TRUE) for _ in range(2)]
        if meat is not None:
            columns = [one[0] for one in both]
            roots = [np.sqrt(family.derivatives(t, Z @ TRUE).curvature) for Z, t in both]
            halves = [Z * root[:, None] for Z, root in zip(columns, roots)]
            other = TRUE + boundary(halves, [meat, meat], rng)
            both[1] = draw(name, rng, other, columns[1])
        X += [one[0] for one in both]
        y += [one[1] for one in both]
    K = 2 * pairs
    rows = SortedRows(np.concatenate(X), np.concatenate(y), np.ones(K * n), np.arange(K + 1) * n)
    problem = Likelihood.of(rows, np.zeros(K * n, dtype=int), 1, family)
    unit = np.tile(np.arange(n) if kind == "time" else np.arange(n) // PERSON, K)
    asked = {
        "right": {"time": unit.astype(float)} if kind == "time" else {"who": unit},
        "plain": {},
    }
    found = {}
    for verdict, options in asked.items():
        moments, backing, scatter = problem.own(**options)
        judge = Judge.of(moments, backing, Joins(problem.rows, moments), scatter=scatter)
        sides = [((2 * i,), (2 * i + 1,)) for i in range(pairs)]
        answers = judge.verdicts(sides, delta=DELTA, interval=False)[0]
        found[verdict] = {word: answers.count(word) / pairs for word in ("join", "apart")}
    return found


def measure(name: str, pairs: int, seed: int) -> list[dict[str, object]]:
    """Return the lines of one setting."""
    number = list(SETTINGS).index(name)
    equal, edge = (
        judged(name, pairs, np.random.default_rng([seed, number, int(at)]), at)
        for at in (False, True)
    )
    limit = DELTA + 2 * np.sqrt(DELTA * (1 - DELTA) / pairs)
    figures = {
        kind: (equal[kind]["apart"], edge[kind]["join"], edge[kind]["apart"], limit)
        for kind in ("right", "plain")
    }
    return [
        dict(zip(FIELDS, (name, SETTINGS[name][1], len(TRUE), pairs, kind, *np.round(line, 4))))
        for kind, line in figures.items()
    ]


def read_lines() -> dict[tuple[str, str], dict[str, str]]:
    """Return the stored lines by setting and verdict."""
    if not OUTPUT.exists():
        return {}
    with OUTPUT.open(newline="") as file:
        return {(one["setting"], one["verdict"]): one for one in csv.DictReader(file)}


def table() -> str:
    """Return the stored lines as the table of docs/time.md."""
    lines = read_lines()
    text = ["| target and rows | rows | apart if equal, without | with | apart at the edge, with |",
            "|---|---|---|---|---|"]  # fmt: skip
    for name in SETTINGS:
        right, plain = lines[name, "right"], lines[name, "plain"]
        shares = plain["equal_apart"], right["equal_apart"], right["edge_apart"]
        cells = [name, right["rows"], *(f"{100 * float(one):.1f} %" for one in shares)]
        text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def main(arguments: list[str] | None = None) -> None:
    """Measure the settings that were asked for, and print them and replace their lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--settings", nargs="*", choices=list(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--table", action="store_true", help="print the stored lines")
    asked = parser.parse_args(arguments)
    if asked.table:
        print(table())
        return
    for name in asked.settings:
        lines: dict[tuple[str, str], dict[str, object]] = {**read_lines()}
        for line in measure(name, asked.pairs, asked.seed):
            print(*line.values(), sep="\t", flush=True)
            lines[name, str(line["verdict"])] = line
        with OUTPUT.open("w", newline="") as file:
            writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
            writer.writeheader()
            every = [(one, kind) for one in SETTINGS for kind in ("right", "plain")]
            writer.writerows(lines[key] for key in every if key in lines)


if __name__ == "__main__":
    main()
