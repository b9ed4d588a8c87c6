import numpy as np
import polars as pl
import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_pair
from conjoin.errors import ArgumentError, ConjoinError, DataError
from conjoin.paper import Gaussian


def test_files_and_the_tables_read_from_them_give_the_same_numbers(tmp_path):
    a, b = make_pair(p=2, n=60, d=0.3).tables().values()
    for name, table in (("one", a), ("two", b)):
        rows = [
            ",".join(table),
            *(",".join(map(repr, map(float, r))) for r in zip(*table.values())),
        ]
        (tmp_path / f"{name}.csv").write_text("\n".join(rows))
    files = [str(tmp_path / f"{name}.csv") for name in ("one", "two")]
    of_files, of_tables = (conjoin.compare(*pair, target="y") for pair in (files, (a, b)))
    assert of_files.gain == pytest.approx(of_tables.gain, rel=1e-9)
    assert of_files.verdict == of_tables.verdict


def test_messages_name_the_files(tmp_path):
    (tmp_path / "one.csv").write_text("x,y\n1,2\n2,3\n3,5\n")
    (tmp_path / "two.csv").write_text("x,z\n1,2\n2,3\n3,4\n")
    with pytest.raises(ConjoinError, match="two.csv"):
        conjoin.compare(str(tmp_path / "one.csv"), str(tmp_path / "two.csv"), target="y")


def test_methods_for_numbers_refuse_classes():
    tables = make_class_clusters(sizes=(1, 1), n=60, p=2).tables()
    with pytest.raises(ArgumentError, match="method='gcv' is for numbers.*leave method out"):
        conjoin.compare(*tables.values(), target="y", method="gcv")


@pytest.mark.parametrize("method", ["tuned", "bound", "validated", "risk"])
def test_files_and_the_frames_read_from_them_give_the_same_numbers(method, tmp_path):
    frames = [pl.DataFrame(table) for table in make_pair(p=2, n=90, d=0.3).tables().values()]
    paths = [tmp_path / name for name in ("north.parquet", "a rather long name.parquet")]
    for frame, path in zip(frames, paths):
        frame.write_parquet(path)
    options = {"resamples": 50} if method == "tuned" else {}
    one = conjoin.compare(*frames, target="y", method=method, **options)
    two = conjoin.compare(*map(str, paths), target="y", method=method, **options)
    for name in ("verdict", "join", "gain", "interval", "score", "phi", "psi", "alpha"):
        assert repr(getattr(one, name)) == repr(getattr(two, name)), name
    assert repr(one.proxy_acc) == repr(two.proxy_acc)
    assert one.proxy_acc_range == two.proxy_acc_range


def test_known_distributions_of_files_are_those_of_a_and_b(tmp_path):
    pair = make_pair(p=2, n=90, d=0.3)
    paths = [tmp_path / "north.parquet", tmp_path / "south.parquet"]
    for table, path in zip(pair.tables().values(), paths):
        pl.DataFrame(table).write_parquet(path)
    known = {"a": Gaussian([0, 0], np.eye(2)), "b": Gaussian([0, 0], np.eye(2))}
    for method, options in (("bound", {}), ("tuned", {"resamples": 50})):
        found = conjoin.compare(*paths, target="y", method=method, known=known, **options)
        assert np.isfinite(found.phi)
    with pytest.raises(ArgumentError, match="known has no distribution for dataset 'b'"):
        conjoin.compare(*paths, target="y", method="bound", known={"a": known["a"]})


def test_a_small_dataset_is_named_by_its_file_in_messages(tmp_path):
    path = tmp_path / "north.parquet"
    pl.DataFrame({"x": [1.0, 2.0, 3.0], "z": [0.0, 1.0, 0.5], "y": [1.0, 2.0, 2.5]}).write_parquet(
        path
    )
    with pytest.raises(DataError, match=r"Dataset 'a \(north.parquet\)' has"):
        conjoin.compare(path, path, target="y", method="bound")
