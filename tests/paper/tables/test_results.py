from numpy.testing import assert_allclose

from conjoin.paper.tables.methods import LITERAL
from conjoin.paper.tables.protocol import compare_methods
from conjoin.paper.tables.real import CEILING, TABLES, text_rows
from conjoin.paper.tables.results import read_results, write_results
from tests.paper.tables.helpers import QUICK, planted


def test_results_are_written_and_read_back(tmp_path):
    lines = compare_methods(planted(), "BB", "columns", TABLES["table5"].methods, QUICK)
    write_results(lines, tmp_path / "a" / "results.csv")
    again = read_results(tmp_path / "a" / "results.csv")
    assert [line.method for line in again] == [line.method for line in lines]
    assert_allclose([line.error for line in again], [line.error for line in lines], rtol=1e-5)
    rows = text_rows("table5", again)
    # The individual models come first and the ceiling last.
    assert [row[2] for row in rows] == ["individual", *TABLES["table5"].methods, CEILING]
    assert rows[2][:4] == ("BB", "columns", LITERAL, "34.5")
