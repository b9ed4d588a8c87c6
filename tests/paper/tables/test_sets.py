import shutil

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from conjoin.errors import ArgumentError, ReadError
from conjoin.paper.tables.sets import SETS, load

# Number of datasets, rows and columns of every set, as the data's README and the queries have them.
SHAPES = {
    "DFOIP": (10, 1_800, 9),
    "DFOIP by category": (4, 18_000, 9),
    "WDAF": (2, 6_435, 12),
    "WDAF by stores": (5, 6_435, 12),
    "BB": (3, 730, 7),
    "PPGE": (6, 1_197, 12),
    "RSS": (4, 844_338, 16),
    "SSF": (210, 421_035, 13),
    "CFGSF": (165, 114_048, 12),
    "SBSD": (4, 8_760, 11),
    "MITV": (9, 48_180, 9),
}


@pytest.mark.parametrize("name", SETS)
def test_sets_are_read_whole(name, paper_data):
    rows = load(name, paper_data)
    assert (len(rows.names), *rows.X.shape) == SHAPES[name]
    assert np.isfinite(rows.X).all() and np.isfinite(rows.y).all()
    assert rows.starts[-1] == len(rows.y)
    assert (np.ptp(rows.X, axis=0) > 0).all()


def test_a_set_is_the_same_whatever_the_order_of_its_file(tmp_path, paper_data):
    source = paper_data / "bb" / "day.csv"
    head, *lines = source.read_text().splitlines()
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb" / "day.csv").write_text("\n".join([head, *reversed(lines)]))
    one, two = load("BB", source.parents[1]), load("BB", tmp_path)
    assert one.names == two.names
    assert (one.X == two.X).all() and (one.y == two.y).all()


def test_a_missing_set_is_named(tmp_path):
    with pytest.raises(ReadError, match=r"Set BB needs bb/day.csv in .* --data"):
        load("BB", tmp_path)
    with pytest.raises(ReadError, match="top100_items.csv.gz or dfoip/orders.csv with dfoip/items"):
        load("DFOIP", tmp_path)
    with pytest.raises(ArgumentError, match="Set 'XX' is unknown; expected one of DFOIP"):
        load("XX", tmp_path)


def test_a_file_with_other_columns_is_refused(tmp_path):
    (tmp_path / "bb").mkdir()
    (tmp_path / "bb" / "day.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ReadError, match="do not have the columns of the originals"):
        load("BB", tmp_path)


def test_cfgsf_is_made_of_the_originals(tmp_path, paper_data):
    """All but the flag of holidays, which the file that stands for them has from elsewhere."""
    folder = tmp_path / "cfgsf"
    folder.mkdir()
    for name in ("stores.csv", "oil.csv", "transactions.csv.gz", "holidays_events.csv"):
        shutil.copy(paper_data / "cfgsf" / name, folder / name)
    days = pd.read_parquet(next((paper_data / "cfgsf").glob("*.parquet")))
    days["onpromotion"] = 3 * days.promotion_active
    columns = ["date", "store_nbr", "family", "sales", "onpromotion"]
    days[columns].to_csv(folder / "train.csv", index_label="id")
    one, two = load("CFGSF", paper_data), load("CFGSF", tmp_path)
    assert one.names == two.names and one.starts.tolist() == two.starts.tolist()
    kept = [j for j, name in enumerate(one.columns) if name != "holiday"]
    for rows, others in ((one.rows(k), two.rows(k)) for k in (0, 80, 164)):
        a, b = (
            np.column_stack([some.X[:, kept], some.y])[own]
            for some, own in ((one, rows), (two, others))
        )
        assert_allclose(a[np.lexsort(a.T)], b[np.lexsort(b.T)])


def test_dfoip_is_made_of_the_originals(tmp_path, paper_data):
    """All but prices before an item was first sold, which nobody knows."""
    folder = tmp_path / "dfoip"
    folder.mkdir()
    days = pd.read_csv(paper_data / "dfoip" / "daily_orders_top100_items.csv.gz")
    sold = days[days.order > 0]
    pd.DataFrame(
        {
            "time": sold.date + " 10:00:00",
            "transactID": np.arange(len(sold)),
            "itemID": sold.itemID,
            "order": sold.order,
            "salesPrice": sold.salesPrice_day_mean,
        }
    ).to_csv(folder / "orders.csv", sep="|", index=False)
    items = pd.read_csv(paper_data / "dfoip" / "items.csv.gz")
    items.to_csv(folder / "items.csv", sep="|", index=False)
    one, two = load("DFOIP", paper_data), load("DFOIP", tmp_path)
    assert one.names == two.names
    assert_allclose(one.y, two.y)
    assert_allclose(one.X[:, 1:], two.X[:, 1:])
    differ = one.X[:, 0] != two.X[:, 0]
    assert differ.mean() < 0.02 and (one.y[differ] == 0).all()
