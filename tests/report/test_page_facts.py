"""What only the page shows, as plain values."""

import math

import numpy as np
import pytest

import conjoin
from conjoin.datasets import make_clusters
from conjoin.report.facts import facts
from conjoin.report.html import render
from tests.report import results


@pytest.fixture(scope="module")
def found():
    return facts(results.hostile(), details=True)


def test_clusters_have_errors_of_own_models_and_of_the_cluster(found):
    result = results.hostile()
    first = found["details"]["clusters"][0]
    index = [list(result.labels).index(name) for name in result.clusters[0]]
    own = result.analysis.details.errors["own"][index]
    assert first["own"] == pytest.approx(math.sqrt(np.mean(own)))
    assert found["clusters"][0]["shown"] == pytest.approx(math.sqrt(result.models[0].error))
    change = math.sqrt(result.models[0].error / np.mean(own)) - 1  # of the error as it is shown
    assert first["change"] == pytest.approx(100 * change)
    assert len(first["shifts"]) == 3


def test_errors_of_datasets_agree_with_the_result(found):
    result = results.hostile()
    lines = found["details"]["datasets"]
    for line in lines.values():
        assert list(line["models"]) == ["own", "separate", "cluster", "others", "all"]
        assert line["models"][line["lowest"]] == min(line["models"].values())
    pooled = np.mean([line["models"]["all"] ** 2 for line in lines.values()])
    assert pooled == pytest.approx(result.pooled.error)
    separate = np.mean([line["models"]["separate"] ** 2 for line in lines.values()])
    assert separate == pytest.approx(result.errors["separate"].error)
    own = np.mean([line["models"]["own"] ** 2 for line in lines.values()])
    assert own == pytest.approx(result.analysis.details.errors["own"].mean())


def test_reasons_are_those_of_the_alternatives(found):
    result = results.hostile()
    for name, line in found["details"]["datasets"].items():
        own = [a for a in result.analysis.all_alternatives[name]
               if a.cluster == result.labels[name]]  # fmt: skip
        assert line["verdict"] == (own[0].verdict if own else None)
        if own and math.isfinite(own[0].gain):
            word = "lowers" if own[0].gain >= 0 else "raises"
            other = [n for n in result.clusters[own[0].cluster] if n != name]
            named = "" if sorted(own[0].others) == other else f"{', '.join(own[0].others)} "
            assert line["reason"].startswith(f"joining {named}{word} the squared error by ")


def test_one_cluster_has_no_coefficients_that_differ_and_no_map():
    tables = make_clusters(sizes=(2,), n=40, p=2).tables()
    page = facts(conjoin.partition(tables, target="y", strategy="clusters"), details=True)
    assert page["details"]["clusters"][0]["shifts"] == []
    text = render(page)
    for words in ("A map of the datasets", "Where do the clusters differ?", 'id="heat"'):
        assert words not in text
    assert ">The joins</h2>" in text
    assert 'href="#coefficients"' not in text
