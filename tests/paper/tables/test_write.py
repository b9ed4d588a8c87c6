from conjoin.paper.tables.write import write_rows


def test_folders_are_made_and_rows_written(tmp_path):
    path = tmp_path / "deep" / "a.csv"
    write_rows(["x", "y"], [[1, "a, b"], [2, ""]], path)
    assert path.read_text().splitlines() == ["x,y", '1,"a, b"', "2,"]
