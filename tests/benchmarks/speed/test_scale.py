import json

import numpy as np

from benchmarks.speed import scale
from benchmarks.speed.scale import Case, make_table, stored


def test_a_case_runs_in_a_process_of_its_own_and_is_stored(tmp_path, capsys):
    output, figure = tmp_path / "scale.csv", tmp_path / "scaling.svg"
    paths = ["--output", str(output), "--figure", str(figure)]
    output.write_text("datasets,rows,columns,clusters,seed\n5,1,1,1,0,1,1,1,1,1,1\n")
    sizes = ["--datasets", "12", "--rows", "30", "--columns", "4", "--clusters", "3"]
    assert scale.main([*sizes, *paths]) == 0
    assert capsys.readouterr().out.startswith("datasets rows columns clusters seed seconds")
    known = stored(output)
    assert list(known) == [Case(5, 1, 1, 1), Case(12, 30, 4, 3)]
    seconds, processor, again, memory, rand, found = map(float, known[Case(12, 30, 4, 3)])
    assert min(seconds, processor) > 0 and 0.05 < memory < 2
    assert again >= 0  # so few datasets were searched again when clusters were chosen
    assert rand == 1 and found == 3
    assert not figure.exists()  # the cases of the figure were not run


def test_tables_have_the_asked_sizes_and_depend_on_the_seed_alone():
    case = Case(7, 5, 3, 2)
    table, truth = make_table(case)
    again, _ = make_table(case)
    assert set(table) == {"x0", "x1", "x2", "store", "y"}
    assert len(table["y"]) == 35 and truth.tolist() == [0, 1, 0, 1, 0, 1, 0]
    np.testing.assert_array_equal(table["y"], again["y"])
    assert not np.array_equal(table["y"], make_table(case._replace(seed=1))[0]["y"])


def test_a_case_survives_the_command_line():
    assert Case(*json.loads(json.dumps(Case(1, 2, 3, 4, 5)))) == Case(1, 2, 3, 4, 5)
