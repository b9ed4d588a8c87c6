"""Small results with a learner: three shops of 60 rows, whose sales bend."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor

import conjoin

QUICKEST = conjoin.Boosting(rounds=10, leaves=4)
FOREST = RandomForestRegressor(5, max_depth=3)


@pytest.fixture(scope="session")
def bent_shops():
    """Numbers with gaps, a category, and a target that bends."""
    rng = np.random.default_rng(0)
    shop = np.repeat(np.arange(3), 60)
    table = pd.DataFrame(
        {
            "shop": np.char.add("shop ", shop.astype(str)),
            "price": rng.normal(size=180),
            "size": rng.uniform(-2, 2, 180),
            "kind": rng.choice(["food", "toys", None], 180),
        }
    )
    mean = 3 * table["price"].abs() + np.where(shop < 2, 1, -1) * table["size"]
    table["sales"] = mean + (table["kind"] == "toys") + rng.normal(0, 0.5, 180)
    table.loc[::17, "price"] = np.nan
    return table


@pytest.fixture(scope="session")
def graded_shops(bent_shops):
    """The same with three classes as target."""
    cuts = np.digitize(bent_shops["sales"], [1.0, 3.0])
    return bent_shops.assign(sales=np.array(["low", "mid", "top"])[cuts])


def fit(table, learner, **options):
    return conjoin.partition(
        table, target="sales", by="shop", learner=learner, drop_outliers=False, **options
    )


@pytest.fixture(scope="session")
def boosted(bent_shops):
    return fit(bent_shops, QUICKEST)


@pytest.fixture(scope="session")
def graded(graded_shops):
    return fit(graded_shops, QUICKEST)


@pytest.fixture(scope="session")
def forest(bent_shops):
    return fit(bent_shops, FOREST)
