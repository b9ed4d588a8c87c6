import pytest

import conjoin
from conjoin.datasets import make_clusters, make_pair
from conjoin.report.facts import comparison_facts, facts
from conjoin.report.paper_answer import pair_answer

PAIR = make_pair(p=3, n=200, d=0.0)


def sentence(method, **options):
    tables = PAIR.tables().values()
    found = comparison_facts(conjoin.compare(*tables, target="y", method=method, **options))
    return found, found["sentence"]


@pytest.mark.parametrize(
    ("method", "options", "start"),
    [
        ("bound", {}, "Algorithm 1 of the paper says to join them (phi "),
        ("direct", {}, "Direct comparison of training losses, the paper's baseline, says to keep "),
        (
            "tuned",
            {"rule": "literal", "resamples": 100},
            "Algorithm 2 of the paper says to keep them apart (proxy_acc 0.",
        ),
        (PAIR.oracle(), {}, "Theorem 1, with the true coefficients, says to join them (phi "),
    ],
)
def test_the_papers_answer_is_the_first_sentence_and_ours_the_second(method, options, start):
    found, text = sentence(method, **options)
    assert text.startswith(start)
    first, second = text.split(" Second opinion, conjoin's verdict: ")
    assert first == pair_answer(found)
    assert second.startswith(("Join the first", "Undecided on the first", "Keep the first"))
    assert "says to" not in second


def test_a_side_that_is_not_a_number_is_undefined():
    text = pair_answer({"method": "bound", "join": False, "phi": 0.01, "psi": None})
    assert text.endswith("(phi 0.01 is not above psi undefined).")


def test_algorithm_3_names_its_clusters_first():
    tables = make_clusters(sizes=(2, 1), n=60, p=2, distance=3.0).tables()
    result = conjoin.partition(tables, target="y", method="risk", grouping="greedy")
    assert facts(result)["sentences"][:2] == [
        "Algorithm 3 of the paper, with method risk, finds 2 clusters: {d1, d2}, {d3}.",
        "conjoin's verdict on them follows as a second opinion.",
    ]
    assert facts(conjoin.partition(tables, target="y"))["sentences"][0].startswith("Best choice")
