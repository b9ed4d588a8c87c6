"""Files of sites that were changed on purpose, with a fitting checksum, are refused or do no harm.

An attacker who may write a file can write its checksum as well. Whatever stands in a plan, a site
file, a round or an answer: it is used, or refused with one sentence.
"""

import json
import random
import tracemalloc

import numpy as np
import pytest

import conjoin
from conjoin.errors import ConjoinError, ReadError
from conjoin.sites import carry, load_plan
from conjoin.sites.document import ANSWER, ROUND, read_document, with_checks
from conjoin.sites.receive import receive
from conjoin.sites.rounds import (
    answer_round,
    answers_of,
    check_answer_content,
    check_round_content,
    frame_of,
    questions_of,
)
from conjoin.sites.rows import read_rows
from conjoin.sites.serve import answer_file
from tests.damage import damaged, flipped, hostile_texts, places, text_of
from tests.sites.clinics import clinics, export_all, ledger_of, plan_of

pytestmark = pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """A folder with a plan, two site files, a round and its answer, and what reads each of them."""
    folder = tmp_path_factory.mktemp("fuzz")
    tables, plan = clinics("logistic", sites=2, rows=300), plan_of("logistic", folds=2)
    paths = export_all(tables, plan, folder)
    plan.save(folder / "plan.json")
    with pytest.raises(ConjoinError, match="Round 1"):
        conjoin.compare(*paths)
    rows = read_rows(tables["clinic_1"], plan, "clinic_1")
    first = carry.round_path(folder, "clinic_1", 1)
    answered = carry.answer_path(folder, "clinic_1", 1)
    answer_file(rows, first, answered, ledger_of(folder, "clinic_1"))
    asked = questions_of(read_document(first, ROUND, check_round_content))

    def read_plan(path):
        found = load_plan(path)
        found.describe()
        read_rows(tables["clinic_1"], found, "clinic_1")

    def read_export(path):
        found = receive([path, paths[1]])
        basis = found.basis()
        moments = found.moments(basis, 2)
        assert np.isfinite(moments.G).all() and np.isfinite(basis.scale).all()
        found.limits()

    def read_round(path):
        content = read_document(path, ROUND, check_round_content)
        answer_round(rows, content)

    def read_answer(path):
        content = read_document(path, ANSWER, check_answer_content)
        frame = frame_of(read_document(first, ROUND, check_round_content), plan)
        folds = {one.dataset: 2 for one in asked}
        with_checks(
            content, ANSWER, path.name, lambda found: answers_of(found, asked, frame, folds)
        )

    return {
        "plan": (folder / "plan.json", read_plan),
        "site file": (paths[0], read_export),
        "round": (first, read_round),
        "answer": (answered, read_answer),
    }


KINDS = ("plan", "site file", "round", "answer")


def outcome(read, path):
    """Read a file; it is used or refused in one sentence, without a warning of numpy."""
    try:
        with np.errstate(all="raise", under="ignore"):
            read(path)
    except ConjoinError as error:
        assert "\n" not in str(error) and len(str(error)) < 700, str(error)
        return "refused"
    return "used"


@pytest.mark.parametrize("kind", KINDS)
def test_files_as_they_are_can_be_used(study, kind):
    path, read = study[kind]
    assert outcome(read, path) == "used"


@pytest.mark.parametrize("kind", KINDS)
def test_parts_replaced_at_random(study, kind, tmp_path):
    path, read = study[kind]
    rng, document = random.Random(5), json.loads(path.read_text(encoding="utf-8"))
    known = [one for one in places(document["content"]) if one]
    refused = 0
    for _ in range(150):
        content = damaged(document["content"], rng.choice(known), rng)
        other = tmp_path / path.name
        other.write_text(text_of(document, content), encoding="utf-8")
        refused += outcome(read, other) == "refused"
    assert refused >= 75


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_changed_at_random(study, kind, tmp_path):
    path, read = study[kind]
    rng, data, refused = random.Random(6), path.read_bytes(), 0
    for _ in range(60):
        other = tmp_path / path.name
        other.write_bytes(flipped(data, rng))
        refused += outcome(read, other) == "refused"
    assert refused >= 50  # others change a space, or what is written about the version


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("hostile", hostile_texts('{"content"'))
def test_texts_that_bear_on_the_reader(study, kind, hostile, tmp_path):
    path, read = study[kind]
    text = hostile_texts(path.read_text(encoding="utf-8"))[hostile]
    other = tmp_path / path.name
    other.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(ReadError):
        read(other)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_a_small_multiple_of_the_file(study, kind, tmp_path):
    """Huge counts in a file do not make huge arrays."""
    path, read = study[kind]
    document = json.loads(path.read_text(encoding="utf-8"))
    other = tmp_path / path.name
    numbers = [
        one
        for one in places(document["content"])
        if one and type(_at(document["content"], one)) in (int, float)
    ]
    tracemalloc.start()
    for place in numbers:
        content = json.loads(json.dumps(document["content"]))
        _at(content, place[:-1])[place[-1]] = 10**9
        other.write_text(text_of(document, content), encoding="utf-8")
        outcome(read, other)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20_000_000  # the files have some 10 kB; rows and a fit of them are in memory


def _at(value, path):
    for key in path:
        value = value[key]
    return value
