import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame():
    """Three stores of 30 rows: two features, a target."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "store": np.repeat(["a", "b", "c"], 30),
            "price": rng.normal(10, 2, 90),
            "promo": rng.integers(0, 2, 90),
            "sales": rng.normal(100, 5, 90),
        }
    )
