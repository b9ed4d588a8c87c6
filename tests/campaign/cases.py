"""Random hostile cases, plain to print and to make smaller.

A seed enters `draw`; a `Case` leaves. Every field of a case is a plain value, and the data follow
from the fields alone. So a failing case is one line that anybody can run again:
`python -m scripts.campaign --case 17`.
"""

from dataclasses import asdict, dataclass, fields

import numpy as np

FACES = ("partition", "partition", "partition", "compare", "regressor", "classifier")
CONTAINERS = (
    *("mapping",) * 4, *("dict",) * 4, *("arrow",) * 4, *("pandas",) * 4, *("polars",) * 2,
    "arrow mapping", "pandas mapping", "lazy", "duckdb", "csv", "parquet", "scan",
)  # fmt: skip
RARE_CONTAINERS = ("dask", "duckdb file")  # they take some 0.2 s
# What a column holds. Half of the draws are "normal".
COLUMNS = (
    "flag", "constant", "zero", "integers", "largest integers", "missing", "text", "boolean",
    "date", "copy", "nearly copy", "square", "wild", "wild pair", "offset", "mixed scales",
    "subnormal", "lognormal", "one dataset only", "infinite", "all missing", "objects",
    "alternating",
)  # fmt: skip
TARGETS = ("number", "number", "number", "number", "boolean", "classes", "count", "count")
# What is odd about a target of numbers.
QUIRKS = (
    "", "", "", "", "", "", "", "", "exact", "exact", "constant in one", "wild", "wild", "offset",
    "two values", "missing", "infinite", "mixed scales", "constant", "rare",
)  # fmt: skip
WEIGHTS = ("",) * 12 + (
    "lognormal",
    "lognormal",
    "zeros",
    "extreme",
    "one heavy",
    "negative",
    "missing",
)
NAMES = (
    "", " ", "\0", "\ud800", "n" * 3000, "\u202eright", "intercept", "(other)", "y", "x0",
    "a\nb", "a\tb", "'; DROP TABLE data; --", "<script>alert(1)</script>", "None", "nan", "1e400",
    "é", "e\u0301", "a/b", "__index__", "dataset", "all", "%s{}", "\\", '"',
)  # fmt: skip
METHODS = ("auto",) * 12 + ("risk", "evidence", "validated", "chow", "bic", "kmeans")
STRATEGIES = ("auto",) * 6 + ("best", "separate", "clusters", "pooled", "partial", "full")
PAIR_METHODS = ("risk", "risk", "risk", "gcv", "validated", "bound", "direct")
# Learners other than lines: the cases whose number is a multiple of LEARNERS_EACH. Features learned
# before: one case in FEATURES_EACH, since training takes a second or so.
LEARNERS = (
    *("boosting",) * 4, *("tree",) * 4, *("neighbours",) * 3, "forest", "ridge", "auto",
)  # fmt: skip
LEARNERS_EACH = 10
FEATURES, FEATURES_EACH = ("splines", "squares", "mlp1"), 200
# What is asked of a result, one after another; "load" goes on with the result that a file holds.
STEPS = (
    "predict", "predict", "predict", "intervals", "unseen", "frames", "ledger", "explain", "text",
    "load", "load", "pickle", "assign", "assign", "using", "metrics",
)  # fmt: skip
LONG_STEPS = ("report", "verdicts", "stability")  # they take as long as the partition


@dataclass(frozen=True)
class Case:
    """A case: what is called, with which data and options. Defaults are the plainest case."""

    seed: int = 0
    face: str = "partition"
    container: str = "mapping"
    datasets: int = 2
    rows: int = 20
    ragged: bool = False
    columns: tuple[str, ...] = ("normal",)
    column_powers: tuple[int, ...] = (0,)
    target: str = "number"
    quirk: str = ""
    target_power: int = 0
    weights: str = ""
    names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()
    learner: str = "linear"
    features: str = ""
    method: str = "auto"
    strategy: str = "auto"
    verdict: str = "robust"
    missing: str = "indicator"
    weigh_by: str = "datasets"
    folds: int = 2
    intercept: bool = True
    robust: bool = False
    time: bool = False
    repeat: bool = False
    copies: bool = False
    steps: tuple[str, ...] = ("predict", "frames", "load", "predict")

    def __str__(self) -> str:
        """Return the fields that differ from the plainest case."""
        plain = Case()
        shown = [
            f"{one.name}={getattr(self, one.name)!r}"
            for one in fields(self)
            if getattr(self, one.name) != getattr(plain, one.name)
        ]
        return f"Case({', '.join(shown)})"

    def plain(self) -> dict[str, object]:
        """Return the fields as a dictionary."""
        return asdict(self)


def draw(seed: int) -> Case:
    """Return the case of a seed."""
    rng = np.random.default_rng([seed, 21])

    def one(choices):
        return choices[int(rng.integers(len(choices)))]

    def power(wild: float) -> int:
        """Return a power of ten: mostly 0, else up to 10, or up to 300."""
        if rng.random() > wild:
            return 0
        most = one((3, 10, 30, 60, 100, 130, 140, 300))
        return int(rng.integers(-most, most + 1))

    face = one(FACES)
    target = one(TARGETS)
    if face == "regressor" and target != "count":
        target = "number"
    if face == "classifier":
        target = one(("boolean", "classes"))
    p = int(one((1, 1, 1, 2, 2, 3)))
    columns = tuple("normal" if rng.random() < 0.65 else one(COLUMNS) for _ in range(p))
    learns = seed % LEARNERS_EACH == 0
    wild = one((0.0, 0.0, 0.0, 0.2, 0.6)) if not learns else one((0.0, 0.5, 0.8))
    datasets = 2 if face == "compare" else int(one((2, 2, 2, 2, 2, 2, 2, 3, 3, 5)))
    if face in ("regressor", "classifier") and rng.random() < 0.15:
        datasets = 1
    strange = rng.random() < 0.12
    steps = [one(STEPS) for _ in range(3)]
    if rng.random() < 0.03:
        steps.insert(int(rng.integers(4)), one(LONG_STEPS))
    return Case(
        seed=seed,
        face=face,
        container=one(RARE_CONTAINERS) if rng.random() < 0.004 else one(CONTAINERS),
        datasets=datasets,
        rows=int(one((8, 12, 20) if learns else (1, 2, 3, 4, 5, 6, 8, 8, 12, 20))),
        ragged=bool(rng.random() < 0.3),
        columns=columns,
        column_powers=tuple(power(wild) for _ in range(p)),
        target=target,
        quirk=one(QUIRKS)
        if target == "number"
        else one(("", "", "wild", "rare", "constant in one")),
        target_power=power(wild) if target == "number" else 0,
        weights=one(WEIGHTS),
        names=tuple(one(NAMES) for _ in range(datasets)) if strange else (),
        column_names=tuple(one(NAMES) for _ in range(p)) if strange and rng.random() < 0.5 else (),
        learner=one(LEARNERS) if learns else "linear",
        features=one(FEATURES) if rng.random() < 1 / FEATURES_EACH else "",
        method=one((PAIR_METHODS if face == "compare" else METHODS)[: 3 if learns else None]),
        strategy=one(STRATEGIES),
        verdict=one(("robust", "robust", "gaussian")),
        missing=one(("indicator", "indicator", "median", "drop")),
        weigh_by=one(("datasets", "rows")),
        folds=int(one((2,) * 28 + (3, 3, 5, 40))),
        intercept=bool(rng.random() < (0.98 if learns else 0.85)),
        robust=bool(rng.random() < 0.1),
        time=bool(rng.random() < 0.1),
        repeat=bool(rng.random() < 0.06),
        copies=bool(rng.random() < 0.08),
        steps=tuple(steps),
    )
