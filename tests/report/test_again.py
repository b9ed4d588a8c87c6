"""How the page can be made again."""

import numpy as np

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.again import commands, settings_in_words
from conjoin.report.facts import facts
from conjoin.report.html import render
from tests.report import results


def test_the_command_makes_the_same_result():
    result = results.hostile()
    found = commands(result)
    assert found["shell"] == "conjoin partition DATA --target y --report report.html"
    assert found["python"] == "conjoin.partition(data, target='y').report(\"report.html\")"
    tables = make_clusters(sizes=(2,), n=20, p=2).tables()
    other = conjoin.partition(tables, target="y", delta=0.2, random_state=3, strategy="pooled")
    assert commands(other)["shell"] == (
        "conjoin partition DATA --target y --delta 0.2 --seed 3 --strategy pooled "
        "--report report.html"
    )


def test_every_argument_has_an_option():
    tables = make_clusters(sizes=(2,), n=20, p=2).tables()
    other = conjoin.partition(tables, target="y", folds=5, intercept=False, weigh_by="rows")
    assert commands(other)["shell"] == (
        "conjoin partition DATA --target y --no-intercept --weigh-by rows --folds 5 "
        "--report report.html"
    )
    assert "intercept=False, weigh_by='rows', folds=5" in commands(other)["python"]


def test_an_object_leaves_the_call_in_python_with_a_gap():
    tables = make_clusters(sizes=(2,), n=20, p=2).tables()
    bent = conjoin.partition(tables, target="y", representation=np.tanh)
    assert "shell" not in commands(bent)
    assert "representation=..." in commands(bent)["python"]
    assert "representation=..." in render(facts(bent, details=True))


def test_the_command_names_a_family_that_was_asked_for():
    assert commands(results.counts())["shell"] == (
        "conjoin partition DATA --target n --family poisson --report report.html"
    )
    assert "family" not in commands(results.choices(2))["python"]


def test_settings_name_files_but_no_folders(tmp_path):
    table = make_clusters(sizes=(2,), n=20, p=2).tables()
    path = tmp_path / "sales.csv"
    rows = [f"{k},{x},{y}" for k, t in table.items() for x, y in zip(t["x1"], t["y"])]
    path.write_text("\n".join(["store,x1,y", *rows]))
    result = conjoin.partition(path, target="y", by="store", random_state=2)
    assert commands(result)["shell"].startswith("conjoin partition sales.csv --target y --by store")
    found = settings_in_words(result)
    assert (found["target"], found["by"], found["seed"]) == ("y", "store", "2")
    assert str(tmp_path) not in str(found)
