"""What an attack on version 0.1 found, point by point, and where each is tested.

=====  ============================================================  ==============================
point  what failed                                                   test
=====  ============================================================  ==============================
1      `--query` wrote files                                         tests/sources/test_guard.py
2      outputs replaced devices and links, and lost modes            tests/test_files.py
3      classes and counts: a matrix was not definite                 here, tests/test_linalg.py
4      levels where noise grows, rows repeat or come in time         statistical/test_robust_levels,
                                                                     statistical/test_order_levels
4      copies of rows leaked                                         statistical/test_invariance.py
5      nearly collinear columns lost their signal                    engine/test_coordinates.py
6      model files with a fitting checksum                           tests/result/test_checked.py
7      passwords in queries and addresses                            sources/test_guard.py,
                                                                     sources/test_database.py
8      60 rows of 1,000 and 2,000 columns                            engine/test_row_steps.py, here
8      1,000 folds; 71 datasets of 11 classes                        here
8, 9   every new fault of the campaign                               campaign/test_campaign.py
9      coefficients and counts that are not finite                   here, tests/campaign
10     names, offsets and order of columns and rows; threads         statistical/test_invariance.py,
                                                                     campaign/test_order.py, here
low    odd names, numbers and paths; errors of scikit-learn          campaign/test_odd_arguments.py,
                                                                     here
low    ticks of figures                                              report/test_drawing.py
low    closed outputs                                                cli/test_process.py
=====  ============================================================  ==============================
"""

import time

import numpy as np
import pandas as pd
import polars as pl
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.errors import ConjoinError, DataError

pytestmark = [
    pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning"),
    pytest.mark.filterwarnings("error::RuntimeWarning"),
]


def find(data, by="g", **options):
    return conjoin.partition(
        data, target="y", by=by, **{"learner": "linear", "folds": 2, **options}
    )


def rows(seed=0, n=40, K=2, **columns):
    rng = np.random.default_rng(seed)
    plain = {"g": np.arange(n) % K, "x": rng.normal(size=n), "y": rng.normal(size=n)}
    return {**plain, **columns}


# --- 3: classes and counts ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_classes_with_weights_over_six_orders(seed):
    rng = np.random.default_rng(seed)
    data = rows(seed, 200, 5, y=rng.random(200) < 0.5, w=np.exp(3 * rng.normal(size=200)))
    assert np.isfinite(find(data, weights="w").predict_proba(data)).all()


def test_classes_of_datasets_of_one_to_three_rows():
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 4, 8)
    tables = {
        f"d{k}": {"x": rng.normal(size=m), "y": rng.random(m) < 0.5} for k, m in enumerate(sizes)
    }
    assert len(find(tables, by=None).labels) == 8


def test_counts_with_one_value_of_a_million():
    rng = np.random.default_rng(1)
    y = rng.poisson(2, 60).astype(float)
    y[0] = 1e6
    data = rows(1, 60, 3, y=y)
    assert np.isfinite(find(data, family="poisson").predict(data)).all()


# --- 8: hangs -------------------------------------------------------------------------------------


def seconds(work):
    start = time.process_time()
    work()
    return time.process_time() - start


def test_more_folds_than_rows_take_no_longer_than_rows():
    data = rows(n=12)
    first = seconds(lambda: find(data, folds=12))
    assert seconds(lambda: find(data, folds=1000)) < 3 * first + 1


def test_with_more_folds_than_rows_every_row_is_held_out_alone():
    data = rows(n=24)
    one, two = (find(data, folds=folds).errors["separate"].error for folds in (12, 1000))
    assert one == two


def test_71_datasets_of_11_classes():
    rng = np.random.default_rng(0)
    data = rows(0, 222, 71, z=rng.normal(size=222), y=rng.choice(list("abcdefghijk"), 222))
    assert seconds(lambda: find(data)) < 30  # some three seconds; before, more than a minute


@pytest.mark.slow
def test_50_classes_of_four_rows_do_not_hang():
    rng = np.random.default_rng(0)
    table = {"s": list("abc") * 80, "x": rng.normal(size=240), "z": rng.normal(size=240)}
    table["y"] = [f"c{i % 50}" for i in range(240)]
    start = time.process_time()
    result = conjoin.partition(table, target="y", by="s", learner="boosting", folds=2)
    assert time.process_time() - start < 60.0
    assert "learner named" not in result.errors
    assert np.isfinite([one.error for one in result.errors.values()]).all()


def test_a_file_of_2000_columns_takes_less_than_a_minute(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(60, 2000))).add_prefix("x")
    table["g"], table["y"] = np.arange(60) % 3, table["x0"] + rng.normal(size=60)
    table.to_csv(tmp_path / "wide.csv", index=False)
    found = []
    took = seconds(
        lambda: found.append(
            conjoin.partition(tmp_path / "wide.csv", target="y", by="g", learner="linear")
        )
    )
    assert took < 60 and len(found[0].labels) == 3


# --- 9: numbers that are not finite ---------------------------------------------------------------


@pytest.mark.parametrize(("columns", "target"), [(1e-200, 1e120), (1e-310, 1.0), (1e300, 1e-140)])
def test_columns_of_any_scale_give_finite_numbers(columns, target):
    data = rows()
    data = {**data, "x": columns * data["x"], "y": target * data["y"]}
    found = find(data)
    assert np.isfinite(found.predict(data)).all()
    assert all(np.isfinite(one.error) for one in found.errors.values())


@pytest.mark.parametrize("target", [1e200, 1e-200])
def test_targets_that_no_double_can_square_are_refused(target):
    data = rows()
    with pytest.raises(DataError, match="too (small|large) to square"):
        find({**data, "y": target * data["y"]})


def test_counts_beyond_what_sums_hold_exactly():
    y = np.arange(40.0)
    y[3] = 1e14
    with pytest.raises(DataError, match="expected counts up to 1e\\+12"):
        find(rows(y=y), family="poisson")


def test_a_negative_count_of_a_new_dataset():
    result = find(rows(y=np.arange(40.0) % 5), family="poisson")
    with pytest.raises(DataError, match="Target 'y' is -2"):
        result.assign({"x": [1.0, 2.0, 3.0]}, [1, -2, 3])


# --- 10: what changes nothing ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["chow", "kmeans"])
def test_clusters_do_not_depend_on_the_order_of_rows(method):
    tables = make_clusters(sizes=(3, 2), n=12, p=2, distance=1.0).tables()
    rng = np.random.default_rng(0)
    turned = {}
    for name in reversed(tables):
        order = rng.permutation(12)
        turned[name] = {head: np.asarray(one)[order] for head, one in tables[name].items()}
    found = [find(one, by=None, method=method).clusters for one in (tables, turned)]
    assert found[0] == found[1]


# --- low ------------------------------------------------------------------------------------------


def test_gains_of_the_ledger_are_finite_or_not_known():
    rng = np.random.default_rng(0)
    tables = {
        f"d{k}": {"x": rng.normal(size=m), "z": rng.normal(size=m), "y": rng.normal(size=m)}
        for k, m in enumerate((1, 2, 3, 5))
    }
    assert not any(np.isinf(line.gain) for line in find(tables, by=None).ledger())


def test_comparing_datasets_of_one_row():
    found = conjoin.compare(
        {"x": [1.0], "y": [1e-140]}, {"x": [2.0], "y": [3e-140]}, target="y", learner="linear"
    )
    assert found.verdict == "undecided" and np.isnan(found.gain)


def test_kmeans_of_equal_datasets():
    tables = {f"d{k}": {"x": np.arange(5.0), "y": 2 * np.arange(5.0)} for k in range(4)}
    assert find(tables, by=None, method="kmeans").clusters == [list(tables)]


def test_a_column_of_polars_named_by_a_nul():
    data = rows()
    table = pl.DataFrame({"g": data["g"], "\0": data["x"], "y": data["y"]})
    assert len(find(table).labels) == 2


def test_half_a_character_as_the_name_of_a_dataset():
    half = {"x": np.arange(8.0), "y": np.arange(8.0) % 3}
    with pytest.raises(ConjoinError, match="is not valid text; rename it"):
        find({"\ud800": half, "b": half}, by=None)


@pytest.mark.parametrize("kind", [dict, pd.DataFrame])
@pytest.mark.parametrize("missing", [False, True])
def test_dates_of_numpy_among_objects(kind, missing):
    days = np.datetime64("2024-01-01") + np.arange(40)
    objects = np.empty(40, dtype=object)
    objects[:] = list(days)
    if missing:
        objects[0] = None
    found = find(kind(rows(x=objects)))
    assert "x years" in found.features


def test_dates_of_numpy_among_numbers():
    objects = np.array([np.datetime64("2024-01-01"), 1.5] * 20, dtype=object)
    with pytest.raises(DataError, match="mixes types: datetime64"):
        find(rows(x=objects, z=np.arange(40.0)))


def test_an_area_under_a_curve_is_at_most_one():
    x = np.random.default_rng(0).normal(size=60)
    found = find(rows(n=60, K=3, x=x, y=x > 0)).metrics()
    areas = [value for name, value in found.items() if "auc" in name]
    assert areas and max(areas) <= 1.0


def test_a_query_that_names_a_column_twice(tmp_path):
    pd.DataFrame(rows()).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(DataError, match="'x'"):
        find(str(tmp_path / "t.csv"), query="SELECT g, x, x, y FROM data")


@pytest.mark.parametrize("options", [{"by": "q" * 3000}, {"target": "q" * 3000}])
def test_names_of_3000_characters_do_not_fill_a_message(options):
    data = {**rows(), "n" * 3000: np.arange(40.0)}
    with pytest.raises(ConjoinError) as caught:
        conjoin.partition(data, **{"target": "y", "by": "g", **options})
    assert len(str(caught.value)) < 700
