"""What tests of class and count targets share: tables with known truth, and errors."""

import numpy as np
import pandas as pd

import conjoin

FEATURES = ["x1", "x2", "x3"]


def frame_of(outcomes, **columns):
    parts = [pd.DataFrame(t).assign(store=name) for name, t in outcomes.tables().items()]
    return pd.concat(parts, ignore_index=True).assign(**columns)


def fit(frame, **options):
    return conjoin.partition(frame, target="y", by="store", **options)


def lines_of(model):
    slopes = np.array([list(line.coef.values()) for line in model.lines])
    return slopes, np.array([line.intercept for line in model.lines])


def excess(outcomes, models):
    """Mean log loss of models (by dataset) above that of the truth, on new rows."""
    total = 0.0
    for name in outcomes.names:
        truth = outcomes.slopes[name], outcomes.intercept[name]
        total += outcomes.population_error(name, *lines_of(models[name]))
        total -= outcomes.population_error(name, *truth)
    return total / len(outcomes.names)
