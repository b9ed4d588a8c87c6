"""Files that were changed on purpose, with a fitting checksum, are refused or do no harm."""

import json
import random

import numpy as np
import pytest

import conjoin
from conjoin.errors import ConjoinError, ReadError
from conjoin.report.facts import facts
from conjoin.report.html import render
from conjoin.result.document import checksum
from tests.damage import damaged, flipped, hostile_texts, places, text_of


def try_out(path, rows):
    """Use a model file in every way; it is refused, or all numbers are finite."""
    try:
        result = conjoin.load(path)
    except ReadError as error:
        assert "\n" not in str(error) and len(str(error)) < 500
        return "refused"
    try:
        assert np.isfinite(result.predict(rows, list(rows["store"]), on_unseen="pooled")).all()
        json.dumps(facts(result, details=True), allow_nan=False)
        render(facts(result, details=True))
        result.save(path.with_name("again.json"))
    except ConjoinError:
        return "refused in use"
    return "used"


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
@pytest.mark.parametrize("seed", range(4))
def test_parts_of_a_model_file_replaced_at_random(path, shops, seed):
    rng = random.Random(seed)
    document = json.loads(path.read_text(encoding="utf-8"))
    rows = shops.head(5)
    known = [one for one in places(document["content"]) if one]
    counts = {"refused": 0, "refused in use": 0, "used": 0}
    for place in rng.sample(known, 40):
        content = damaged(document["content"], place, rng)
        path.write_text(text_of(document, content), encoding="utf-8")
        counts[try_out(path, rows)] += 1
    assert counts["refused"] >= 20


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (("labels", 0), 10**9, "labels of clusters are not 0, 1, 2"),
        (("labels",), [0], "1 labels do not fit 6 datasets"),
        (("datasets", 0), "shop 1", "labels do not fit 6 datasets"),
        (("models", "pooled", "intercept", 0), 1e308, "expected a finite number"),
        (("models", "pooled", "coef", "shape"), [10**9, 10**9], "pooled.*is an array of"),
        (("errors", "auto", 0), -1.0, "the error of strategy 'auto' is"),
        (("ledger", 0, "verdict"), "maybe", "'verdict' of 'ledger' of the file is 'maybe'"),
        (("schema", "columns"), "none", "expected a list"),
    ],
)
def test_what_is_refused_is_named(path, place, value, message):
    document = json.loads(path.read_text(encoding="utf-8"))
    part = document["content"]
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    document["checksum"] = checksum(document["content"])
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ReadError, match=message):
        conjoin.load(path)


def test_very_many_levels_do_not_take_minutes(path):
    document = json.loads(path.read_text(encoding="utf-8"))
    for column in document["content"]["schema"]["columns"]:
        if column["kind"] == "category":
            column["levels"] = [f"level {k}" for k in range(200_000)]
    document["checksum"] = checksum(document["content"])
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(ReadError, match="limits do not fit 200002 features"):
        conjoin.load(path)


@pytest.mark.parametrize("kind", hostile_texts('{"content"'))
def test_texts_that_bear_on_the_reader(path, kind):
    text = hostile_texts(path.read_text(encoding="utf-8"))[kind]
    path.write_bytes(text.encode("utf-8", errors="surrogatepass"))
    with pytest.raises(ReadError) as caught:
        conjoin.load(path)
    assert "\n" not in str(caught.value)


def test_bytes_of_a_model_file_changed_at_random(path):
    rng, data = random.Random(1), path.read_bytes()
    before = conjoin.load(path)
    for _ in range(60):
        path.write_bytes(flipped(data, rng))
        try:
            assert conjoin.load(path).labels == before.labels
        except ReadError as error:
            assert "\n" not in str(error)
