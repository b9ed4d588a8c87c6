import pytest

import conjoin
from conjoin.datasets import make_class_clusters, make_pair
from conjoin.errors import ArgumentError, ConjoinError


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
