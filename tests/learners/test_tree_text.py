import json
import random
import re
import subprocess
import sys

import numpy as np
import pytest

from conjoin.families import Response
from conjoin.learners.boosting import Boosting, TreeModel
from conjoin.learners.rows import LearnerRows
from conjoin.learners.tree_text import tree_fault, without_ranges

COLUMNS = 4  # three of the table, and the dataset


def trained(n=300, classes=(), rounds=4):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=n), rng.integers(0, 70, n), rng.normal(size=n)])
    dataset = rng.integers(0, 40, n)
    y = X[:, 0] ** 2 + X[:, 1] % 3 + dataset % 5
    response = Response("logistic", classes) if classes else Response()
    y = dataset % len(classes) * 1.0 if classes else y
    rows = LearnerRows(X, y, np.ones(n), dataset, 40, ("a", "b", "c"), (1,), response)
    settings = {"leaves": 6, "least_rows": 5, "ridge": 0.0, "random": False, "rate": 0.1}
    return Boosting().fit(rows, {**settings, "rounds": rounds}), X, dataset


@pytest.fixture(scope="module")
def model():
    return trained()[0]


def changed(text, pattern, new):
    """Change the first match, and give every tree its new size."""
    found, count = re.subn(pattern, new, text, count=1, flags=re.M)
    assert count == 1
    start, end = found.index("\nTree=0\n") + 1, found.index("end of trees")
    trees = re.split(r"(?=^Tree=\d+\n)", found[start:end], flags=re.M)
    sizes = " ".join(str(len(tree)) for tree in trees if tree)
    return re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", found, count=1, flags=re.M)


def test_trees_of_lightgbm_have_no_fault(model):
    assert "num_cat=1" in model.text or "num_cat=2" in model.text
    assert tree_fault(model.text, COLUMNS, 1) == ""
    assert tree_fault(trained(classes=("a", "b", "c"))[0].text, COLUMNS, 3) == ""
    assert tree_fault(trained(classes=("a", "b"))[0].text, COLUMNS, 1) == ""
    constant = trained(n=8)[0].text
    assert "num_leaves=1\n" in constant
    assert tree_fault(constant, COLUMNS, 1) == ""


def test_a_threshold_may_be_infinite():
    """LightGBM writes one where no value is above it, and reads it again."""
    model, X, dataset = trained()
    number = re.search(r"^threshold=(\S+\.\S+)", model.text, flags=re.M)[1]
    text = changed(model.text, re.escape(number), "inf")
    assert tree_fault(text, COLUMNS, 1) == ""
    other = TreeModel(text, model.center, model.scale, model.named, model.limited)
    assert np.isfinite(other.predict(X, dataset)).all()


def test_ranges_of_columns_are_left_out_and_predictions_stay():
    model, X, dataset = trained()
    text = without_ranges(model.text)
    assert "feature_infos=none none none none\n" in text
    assert tree_fault(text, COLUMNS, 1) == ""
    other = TreeModel(text, model.center, model.scale, model.named, model.limited)
    assert np.array_equal(other.predict(X, dataset), model.predict(X, dataset))


@pytest.mark.parametrize(
    ("pattern", "new", "fault"),
    [
        ("^max_feature_idx=3", "max_feature_idx=4", "max_feature_idx is 4, expected 3"),
        ("^num_class=1", "num_class=9", "num_class is 9"),
        ("^num_class=1", "num_class=1\nnum_class=1", "the line 'num_class=1'"),
        ("^objective=regression", "objective=custom", "the objective is 'custom'"),
        ("^feature_names=Column_0 ", "feature_names=", "feature_names are not 4"),
        ("^label_index=0\n", "", "lacks 'label_index'"),
        (r"^split_feature=\d+", "split_feature=99", "splits a column that does not exist"),
        (r"^split_feature=\d+", "split_feature=-1", "splits a column that does not exist"),
        (r"^left_child=-?\d+", "left_child=99", "without a place"),
        (r"^right_child=-?\d+", "right_child=0", "without a place"),
        (r"^left_child=-?\d+", "left_child=0_1", "numbers"),
        (r"^leaf_value=\S+ ", "leaf_value=", "'leaf_value' of tree 0"),
        (r"^leaf_value=\S+ ", "leaf_value=nan ", "'leaf_value' of tree 0"),
        (r"^leaf_value=\S+ ", "leaf_value=1e999 ", "not finite"),
        (r"^num_leaves=\d+", "num_leaves=900000000", "are not 899999999 numbers"),
        (r"^num_leaves=\d+", "num_leaves=0", "0 leaves"),
        (r"^decision_type=\d+", "decision_type=99", "unknown kind"),
        (r"^is_linear=0", "is_linear=1", "leaves"),
        (r"^shrinkage=\S+", "shrinkage=x", "shrinkage 'x'"),
        (r"^shrinkage=\S+", "shrinkage=1\nother=1", "unknown field 'other'"),
        (r"^cat_boundaries=0 \d+", "cat_boundaries=0 999", "unknown size"),
        (r"^\[boosting: gbdt\]", "boosting", "a parameter has another form"),
        (r"^end of parameters\n", "", "the end is missing"),
        ("^pandas_categorical:null", "pandas_categorical:[1", "not that of trees"),
        ("^Tree=1\n", "Tree=7\n", "tree 1 is not where the header says"),
        ("^version", "größe=1\nversion", "characters that LightGBM does not write"),
    ],
)
def test_what_lightgbm_would_trust_is_checked(model, pattern, new, fault):
    assert fault in tree_fault(changed(model.text, pattern, new), COLUMNS, 1)


def test_sizes_of_trees_must_be_theirs(model):
    for sizes in ("99999999", "-5", "", "1 2 3 x"):
        text = re.sub(r"^tree_sizes=.*$", f"tree_sizes={sizes}", model.text, flags=re.M)
        assert tree_fault(text, COLUMNS, 1) != ""


def test_sets_of_categories_must_exist(model):
    trees = re.findall(r"^Tree=.*?^shrinkage=", model.text, flags=re.M | re.S)
    tree = next(one for one in trees if "\ncat_boundaries=" in one)
    kinds = re.search(r"^decision_type=(.*)$", tree, flags=re.M).group(1).split()
    place = next(j for j, kind in enumerate(kinds) if int(kind) & 1)
    thresholds = re.search(r"^threshold=(.*)$", tree, flags=re.M).group(1).split()
    thresholds[place] = "77"
    bad = re.sub(r"^threshold=.*$", f"threshold={' '.join(thresholds)}", tree, flags=re.M)
    text = changed(model.text.replace(tree, bad), "^version=v4", "version=v4")
    assert "a set of categories that does not exist" in tree_fault(text, COLUMNS, 1)


def test_any_text_is_answered():
    for text in ("", "tree", "tree\n\nend of trees\n", "\0", "a=b\nTree=0\n", "x" * 100):
        assert tree_fault(text, COLUMNS, 1) != ""


PROGRAM = """
import json, sys
import numpy as np
from conjoin.errors import ReadError
from conjoin.learners.boosting import TreeModel
center, scale, named, limited, texts = json.load(sys.stdin)
X, dataset = np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 45
for text in texts:
    try:
        TreeModel(text, center, scale, named, limited).predict(X, dataset)
    except ReadError:  # what LightGBM itself refuses
        pass
print(len(texts))
"""
PARTS = ("-1", "0", "3", "70", "99999999999", "1e999", "nan", "inf", "x", "", "-0.5", "2147483647")


def test_texts_changed_at_random_are_refused_or_read(model):
    """A text without a fault is read by LightGBM in a process of its own, which must live on."""
    rng, taken = random.Random(3), []
    for _ in range(600):
        lines = model.text.split("\n")
        k = rng.randrange(len(lines))
        name, equals, value = lines[k].partition("=")
        values = value.split(" ")
        values[rng.randrange(len(values))] = rng.choice(PARTS)
        lines[k] = name + equals + " ".join(values)
        if rng.random() < 0.2:
            del lines[rng.randrange(len(lines))]
        text = "\n".join(lines)
        if "\nTree=0\n" in text and "end of trees" in text:
            text = changed(text, "^version", "version") if "\nversion" in text else text
        if tree_fault(text, COLUMNS, 1) == "":
            taken.append(text)
    assert 20 < len(taken) < 300
    given = [model.center, model.scale, model.named, model.limited, taken]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps(given), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.split()[-1] == str(len(taken))
