"""A result of six shops and its model file."""

import numpy as np
import pandas as pd
import pytest

import conjoin

SENTINEL = 123.456789012345  # a value that must not be found in a file


@pytest.fixture(scope="session")
def shops():
    """Six shops in two clusters, with text, missing values and values far out."""
    rng = np.random.default_rng(0)
    n = 240
    table = pd.DataFrame(
        {
            "store": np.repeat([f"shop {k}" for k in range(6)], n // 6),
            "price": rng.normal(10, 2, n),
            "kind": rng.choice(["food", "toys", None], n),
            "sales": rng.normal(100, 5, n),
        }
    )
    table["sales"] += np.where(table["store"] < "shop 3", 3, -3) * table["price"]
    table.loc[rng.choice(n, 12, replace=False), "price"] = np.nan
    table.loc[100, "price"] = SENTINEL
    table.loc[101, "price"] = 2 * SENTINEL  # the limits disclose the extremes, not this one
    table.loc[102, "price"] = -SENTINEL
    return table


@pytest.fixture(scope="session")
def of_shops(shops):
    return conjoin.partition(shops, target="sales", by="store", drop_outliers=False)


@pytest.fixture
def path(of_shops, tmp_path):
    """A model file."""
    file = tmp_path / "model.json"
    of_shops.save(file, evidence=True)
    return file
