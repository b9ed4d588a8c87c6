"""Compare the numbers of two datasets with 100-digit arithmetic, and write the table of the docs.

python -m scripts.numerical_truth            # prints the table
python -m scripts.numerical_truth --store    # writes it into docs/reliability.md

Two datasets of 40 rows have an intercept and two columns. In one series the columns are nearly
collinear: their condition number grows. In the other an offset is added to both. The truth is the
same formula, from the same doubles, in 100 digits. An error is the largest of five draws.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

import conjoin
from conjoin.criterion.law import ratio_probability
from conjoin.engine.criteria import to_units
from conjoin.paper.bound import Fits, inequality, pair_statistics
from conjoin.paper.design import DesignConstants
from conjoin.tables import collect

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
BEGIN, END = "<!-- numerical truth: begin -->", "<!-- numerical truth: end -->"
DIGITS, ROWS = 100, 40  # squares of 1e12 times squares of 1e9 take 42 digits
SEEDS = range(7, 12)  # draws: the rounding of a single one can be small by luck
PRIOR_DF = 4  # of `models.noise` for two datasets
CONDITIONS, OFFSETS = (1.0, 1e4, 1e8, 1e12), (1e3, 1e6, 1e9)
COLUMNS = ("moments", "predictions", "slopes", "error", "gain", "verdict", "phi", "psi")


def tables(condition: float, offset: float, seed: int) -> dict[str, dict[str, np.ndarray]]:
    """Return two datasets whose columns have a condition number and an offset."""
    rng = np.random.default_rng(seed)
    found = {}
    for k in range(2):
        a, z, noise = rng.standard_normal((3, ROWS))
        # Two columns of unit variance that differ by eps z have condition number 2 / eps.
        b = z if condition == 1 else a + 2 / condition * z
        y = 1 + a - 0.5 * z + 0.1 * k * a + 0.2 * noise
        found[str(k)] = {"a": a + offset, "b": b + offset, "y": y}
    return found


def differences(condition: float, offset: float, seed: int) -> dict[str, float]:
    """Return the relative error of every number of the table, for one draw."""
    mp.mp.dps = DIGITS
    data = tables(condition, offset, seed)
    units = to_units(collect(data, target="y"))
    result = conjoin.compare(*data.values(), target="y", verdict="gaussian")
    rows = [np.column_stack([np.ones(ROWS), one["a"], one["b"]]) for one in data.values()]
    X = [mp.matrix(one.tolist()) for one in rows]
    y = [mp.matrix(one["y"].tolist()) for one in data.values()]
    error, gain = risk(X, y)
    beta = solve(stacked(X), stacked(y))
    truth = stacked(X) * beta
    table = {name: np.concatenate([one[name] for one in data.values()]) for name in ("a", "b")}
    predicted = result.fit_joined.predict(table)
    spread = np.std(np.concatenate([one["y"] for one in data.values()]))
    slopes = [result.fit_joined.coef["a"], result.fit_joined.coef["b"]]
    largest = max(map(abs, beta[1:]))
    phi, psi = sides(units)
    return {
        "moments": max(moments(unit, rows[k], y[k]) for k, unit in enumerate(units)),
        "predictions": float(max(abs(p - t) for p, t in zip(predicted, truth))) / float(spread),
        "slopes": float(max(abs(s - b) for s, b in zip(slopes, beta[1:])) / largest),
        "error": away(result.error_separate, error),
        "gain": away(result.gain, gain),
        "verdict": probability(),
        "phi": phi,
        "psi": psi,
    }  # fmt: skip


def away(found: float, truth: Any) -> float:
    """Return a relative error."""
    return float(abs(mp.mpf(found) - truth) / abs(truth))


def stacked(parts: list[Any]) -> Any:
    """Return matrices one below the other."""
    return mp.matrix([list(part[i, :]) for part in parts for i in range(part.rows)])


def solve(X: Any, y: Any) -> Any:
    """Return the least-squares coefficients."""
    return mp.lu_solve(X.T * X, X.T * y)


def risk(X: list[Any], y: list[Any]) -> tuple[Any, Any]:
    """Return the error of separate models and the gain of joining, as `criterion.risk` has them."""
    n, p = mp.mpf(ROWS), mp.mpf(X[0].cols)
    G, beta = [x.T * x for x in X], [solve(x, t) for x, t in zip(X, y)]
    rss = [squares(t - x * b) for x, t, b in zip(X, y, beta)]
    df = n - p
    noise = [(one + PRIOR_DF * sum(rss) / (2 * df)) / (df + PRIOR_DF) for one in rss]
    own = [_error(s, r / n, p / n, s * p / n, n, p) for s, r in zip(noise, rss)]
    inverse = (G[0] + G[1]) ** -1
    joint = solve(stacked(X), stacked(y))
    weighted = noise[0] * G[0] + noise[1] * G[1]
    spread = inverse * weighted * inverse
    both = [
        _error(noise[k], squares(y[k] - X[k] * joint) / n, trace(G[k] * inverse) / n,
               trace(G[k] * spread) / n, 2 * n, p)
        for k in range(2)
    ]  # fmt: skip
    return sum(own) / 2, (sum(own) - sum(both)) / 2


def _error(noise: Any, mse: Any, h: Any, v: Any, N: Any, rank: Any) -> Any:
    bias = (mse - noise * (1 - 2 * h) - v) / (1 - h) ** 2
    return noise + bias + v * N / (N - rank - 1)


def squares(values: Any) -> Any:
    """Return the sum of squares."""
    return sum(v * v for v in values)


def trace(M: Any) -> Any:
    """Return the trace of a matrix."""
    return sum(M[i, i] for i in range(M.rows))


def working(unit: Any, rows: np.ndarray, y: Any) -> tuple[Any, Any]:
    """Return the design and the target in the coordinates of a unit, from rows as they are."""
    basis = unit.basis
    center, scale = [mp.matrix(v.tolist()) for v in (basis.center, basis.scale)]
    Z = mp.matrix(
        [[(mp.mpf(x) - center[j]) / scale[j] for j, x in enumerate(row)] for row in rows[:, 1:]]
    )
    if basis.matrix is not None:
        Z = Z * mp.matrix(basis.matrix.tolist())
    design = mp.matrix([[1, *Z[i, :]] for i in range(Z.rows)])
    return design, (y - mp.mpf(basis.target_center)) / mp.mpf(basis.target_scale)


def moments(unit: Any, rows: np.ndarray, y: Any) -> float:
    """Return the largest error of G, h and q over the largest entry of each."""
    Z, t = working(unit, rows, y)
    pairs = (Z.T * Z, unit.moments.G), (Z.T * t, unit.moments.h[:, None]), (t.T * t, unit.moments.q)
    worst = 0.0
    for truth, found in pairs:
        size = max(abs(v) for v in truth)
        found = mp.matrix(np.atleast_2d(found).tolist())
        worst = max(worst, float(max(abs(v) for v in found - truth) / size))
    return worst


def sides(units: list[Any]) -> tuple[float, float]:
    """Return the relative errors of phi and psi for given constants of the design."""
    p, delta = units[0].Z.shape[1], 0.1
    A0, B0 = 0.15, np.eye(p) + 0.25
    fits = [Fits.of(unit.moments) for unit in units]
    alpha = math.log(1 / delta)
    found = inequality(pair_statistics(*fits, DesignConstants.of(A0, B0))[0], alpha, delta)
    Z = [mp.matrix(unit.Z.tolist()) for unit in units]
    t = [mp.matrix(unit.t.tolist()) for unit in units]
    phi, psi = _sides(Z, t, mp.mpf(A0), mp.matrix(B0.tolist()), mp.mpf(alpha), mp.mpf(delta))
    return away(float(found.phi), phi), away(float(found.psi), psi)


def _sides(Z: list[Any], t: list[Any], A0: Any, B0: Any, a: Any, delta: Any) -> tuple[Any, Any]:
    """Return phi and psi as `paper.bound` has them."""
    G, beta = [z.T * z for z in Z], [solve(z, one) for z, one in zip(Z, t)]
    d = beta[0] - beta[1]
    S = G[0] ** -1 + G[1] ** -1
    n0 = mp.mpf(2 * ROWS - Z[0].cols)
    Dd2 = (d.T * S**-1 * d)[0]
    total = sum(squares(one - z * b) for z, one, b in zip(Z, t, beta)) + Dd2
    values, vectors = mp.eigsy(B0)
    root = mp.diag([mp.sqrt(v) for v in values]) * vectors.T
    Sigma = root * S * root.T
    norm = max(mp.eigsy(Sigma, eigvals_only=True))
    tau, ratio = n0 + 2 * mp.sqrt(n0 * a) + 2 * a, mp.sqrt(a / n0)
    A1 = n0 * A0 / (tau * (3 + 4 * ratio))
    A2 = -2 * A0 * (1 + 2 * ratio) / (tau * (3 + 4 * ratio))
    log, m, residual = mp.sqrt(mp.log(4 / (1 + delta))), mp.sqrt(Dd2), mp.sqrt(total)
    slope = mp.sqrt(2 * n0) * (log + 1 / (2 * log))
    c1, c2 = residual * mp.sqrt(tau), residual * m
    c3 = -n0 / 8 * (1 + delta) / (mp.sqrt(mp.e) * log) - slope * mp.sqrt(tau) + tau
    c4 = m * (slope - 2 * mp.sqrt(tau))
    c0 = (c1 - c4 + mp.sqrt((c1 - c4) ** 2 - 4 * c3 * (Dd2 - c2))) / (2 * c3)
    spread = trace(Sigma) + 2 * mp.sqrt(trace(Sigma * Sigma) * a) + 2 * norm * a
    g = (d.T * B0 * d)[0]
    return A1 * total / n0 + A2 * Dd2, (mp.sqrt(g) + c0 * mp.sqrt(spread)) ** 2


def probability() -> float:
    """Return the largest error of the verdict's law where it is that of F, over levels of tests."""
    worst, p, nu = 0.0, 3, 37
    for F in (0.2, 1.0, 3.0, 8.0):
        x = mp.mpf(p) * mp.mpf(F) / (mp.mpf(p) * mp.mpf(F) + nu)
        truth = mp.betainc(mp.mpf(p) / 2, mp.mpf(nu) / 2, 0, x, regularized=True)
        found = float(ratio_probability(np.ones(p), 0.0, [(1.0, float(nu))], p * F))
        worst = max(worst, float(abs(found - truth)))
    return worst


def measure() -> list[tuple[str, dict[str, float]]]:
    """Return what the rows of the table are about, and their relative errors."""
    cases = [(f"condition {c:.0e}", c, 0.0) for c in CONDITIONS]
    cases += [(f"offset {o:.0e} times the spread", 1.0, o) for o in OFFSETS]
    return [(name, largest(c, o)) for name, c, o in cases]


def largest(condition: float, offset: float) -> dict[str, float]:
    """Return the largest errors of all draws."""
    found = [differences(condition, offset, seed) for seed in SEEDS]
    return {what: max(one[what] for one in found) for what in COLUMNS}


def to_text(found: list[tuple[str, dict[str, float]]]) -> str:
    """Return the table in Markdown, every error rounded up to a power of ten."""
    lines = ["| data | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name, errors in found:
        lines.append(f"| {name} | " + " | ".join(rounded(errors[c]) for c in COLUMNS) + " |")
    return "\n".join(lines)


def rounded(error: float) -> str:
    """Return an error rounded up to a power of ten; below 1e-15 it is rounding.

    >>> rounded(3.2e-12), rounded(0.0)
    ('1e-11', '1e-15')
    """
    return f"1e{max(math.ceil(math.log10(max(error, 1e-300))), -15):03d}"


def main() -> None:
    """Print the table, or store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", action="store_true", help="write it into the page")
    text = to_text(measure())
    print(text)
    if parser.parse_args().store:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


if __name__ == "__main__":
    main()
