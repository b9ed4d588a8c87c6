"""LightGBM's text of trees in model files: what is left out, and whether it can be read.

A text from a model file enters; what is wrong with it leaves, in words. LightGBM trusts the numbers
in its text: a child or a column that does not exist makes it read foreign memory or go round in
circles. So everything that it uses as a position or a size is checked here first.
"""

import math
import re
from itertools import pairwise

Fields = dict[str, str]

NUMBER = r"-?(?:inf|\d+(?:\.\d+)?(?:e[+-]?\d+)?)"  # a threshold may be infinite
WHOLES = re.compile(r"-?\d+(?: -?\d+)*|")
NUMBERS = re.compile(rf"{NUMBER}(?: {NUMBER})*|")
# The objectives that `learners.boosting` trains.
OBJECTIVE = re.compile(r"regression|poisson|binary sigmoid:1|multiclass num_class:\d+")
PARAMETER = re.compile(r"\[\w+: [^\n]*\]|")
# Fields of a tree: one value for each split, or for each leaf.
OF_SPLITS = ("split_feature", "split_gain", "threshold", "decision_type", "left_child",
             "right_child", "internal_value", "internal_weight", "internal_count")  # fmt: skip
OF_LEAVES = ("leaf_value", "leaf_weight", "leaf_count")
OF_CATEGORIES = ("cat_boundaries", "cat_threshold")
SINGLE = ("num_leaves", "num_cat", "is_linear", "shrinkage")
# Bits of a split's kind: 1 is a category, 2 the side of missing values, 4 and 8 what is missing.
MOST_KINDS = 15


def without_ranges(text: str) -> str:
    """Return the text without the extreme values of columns, which predictions do not need."""
    head, line, rest = text.partition("\nfeature_infos=")
    ranges, end, trees = rest.partition("\n")
    return head + line + " ".join("none" for _ in ranges.split(" ")) + end + trees


def without_threads(text: str) -> str:
    """Return the text without the number of threads that trained the trees.

    The trees are the same for any number, so the text is, too.
    """
    head, line, parameters = text.rpartition("\nparameters:\n")
    return head + line + re.sub(r"\[num_threads: \d+\]\n", "", parameters)


def tree_fault(text: str, columns: int, lines: int) -> str:
    """Return what is wrong with a text of trees, in words; empty if nothing is.

    The trees must take so many columns and return so many lines.
    """
    try:
        _check(text, columns, lines)
    except ValueError as error:
        return str(error)
    return ""


def _check(text: str, columns: int, lines: int) -> None:
    if not text.isascii() or "\0" in text or "\r" in text:
        raise ValueError("they have characters that LightGBM does not write")
    head, tree, _ = text.partition("\nTree=0\n")
    if not tree:
        head = text.partition("\nend of trees\n")[0]
    first = len(head) + 1
    header = _fields(head.removeprefix("tree\n"), "the header")
    _check_header(header, columns, lines)
    sizes = _wholes(header, "tree_sizes", "the header")
    if len(sizes) % lines or min(sizes, default=1) < 1:
        raise ValueError(f"they have {len(sizes)} trees, but {lines} lines")
    for number, size in enumerate(sizes):
        block = text[first : first + size]
        start = f"Tree={number}\n"
        if len(block) < size or not block.startswith(start):
            raise ValueError(f"tree {number} is not where the header says")
        _check_tree(_fields(block[len(start) :], f"tree {number}"), columns, f"tree {number}")
        first += size
    _check_end(text[first:])


def _fields(block: str, what: str) -> Fields:
    """Return the lines "name=value" of a block."""
    found: Fields = {}
    for line in block.split("\n"):
        name, equals, value = line.partition("=")
        if not line or line == "tree":
            continue
        if not equals or name in found or "=" in value:
            raise ValueError(f"{what} has the line {line[:40]!r}")
        found[name] = value
    return found


def _check_header(header: Fields, columns: int, lines: int) -> None:
    known = {"version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx",
             "objective", "feature_names", "feature_infos", "tree_sizes"}  # fmt: skip
    if header.keys() != known:
        other = sorted(header.keys() ^ known)[0]
        raise ValueError(f"the header lacks {other!r}, or should not have it")
    expected = {"num_class": lines, "num_tree_per_iteration": lines, "label_index": 0}
    for name, value in {**expected, "max_feature_idx": columns - 1}.items():
        if _wholes(header, name, "the header") != [value]:
            raise ValueError(f"{name} is {header[name][:40]}, expected {value}")
    for name in ("feature_names", "feature_infos"):
        if len(header[name].split(" ")) != columns:
            raise ValueError(f"{name} are not {columns}")
    if header["version"] != "v4" or not OBJECTIVE.fullmatch(header["objective"]):
        raise ValueError(f"the objective is {header['objective'][:40]!r}")


def _check_tree(tree: Fields, columns: int, what: str) -> None:
    unknown = tree.keys() - {*OF_SPLITS, *OF_LEAVES, *OF_CATEGORIES, *SINGLE}
    if unknown:
        raise ValueError(f"{what} has the unknown field {min(unknown)!r}")
    (leaves,), (categories,) = (_wholes(tree, name, what, 1) for name in ("num_leaves", "num_cat"))
    if leaves < 1 or categories < 0 or tree.get("is_linear", "0") != "0":
        raise ValueError(f"{what} has {leaves} leaves and {categories} categories")
    if not NUMBERS.fullmatch(tree.get("shrinkage", "1")):
        raise ValueError(f"{what} has the shrinkage {tree['shrinkage'][:40]!r}")
    for names, count in ((OF_SPLITS, leaves - 1), (OF_LEAVES, leaves)):
        # A tree with one leaf has no weights and counts.
        for name in names:
            if leaves > 1 or name == "leaf_value":
                _numbers(tree, name, what, count)
    if not all(math.isfinite(float(value)) for value in tree["leaf_value"].split(" ")):
        raise ValueError(f"{what} has a leaf that is not finite")
    if leaves == 1:
        return
    if not all(0 <= j < columns for j in _wholes(tree, "split_feature", what)):
        raise ValueError(f"{what} splits a column that does not exist")
    children = _wholes(tree, "left_child", what) + _wholes(tree, "right_child", what)
    # Every split but the first, and every leaf, has one parent: then no path is a circle.
    if sorted(children) != [*range(-leaves, 0), *range(1, leaves - 1)]:
        raise ValueError(f"{what} has splits or leaves without a place")
    _check_categories(tree, categories, what)


def _check_categories(tree: Fields, count: int, what: str) -> None:
    """Check that splits by category stay inside the sets of categories."""
    kinds = _wholes(tree, "decision_type", what)
    if not all(0 <= kind <= MOST_KINDS for kind in kinds):
        raise ValueError(f"{what} has a split of unknown kind")
    thresholds = tree["threshold"].split(" ")
    sets = [one for one, kind in zip(thresholds, kinds) if kind & 1]
    if sets and not all(one.isdigit() and int(one) < count for one in sets):
        raise ValueError(f"{what} has a set of categories that does not exist")
    if count:
        bounds = _wholes(tree, "cat_boundaries", what, count + 1)
        size = len(_wholes(tree, "cat_threshold", what))
        rising = all(low <= high for low, high in pairwise(bounds))
        if not rising or bounds[0] != 0 or bounds[-1] != size:
            raise ValueError(f"{what} has sets of categories of unknown size")


def _check_end(rest: str) -> None:
    """Check what follows the trees: importances, parameters, and no categories of pandas."""
    start, end = "\nparameters:\n", "\nend of parameters\n"
    trees, before, after = rest.partition(start)
    body, last, tail = after.partition(end)
    if not trees.startswith("end of trees\n") or not before or not last:
        raise ValueError("the end is missing")
    if not all(PARAMETER.fullmatch(line) for line in body.split("\n")):
        raise ValueError("a parameter has another form")
    if tail.strip() != "pandas_categorical:null":
        raise ValueError("the end is not that of trees without pandas")


def _numbers(tree: Fields, name: str, what: str, count: int) -> None:
    """Check that a field holds so many numbers."""
    value = tree.get(name)
    if value is None or not NUMBERS.fullmatch(value) or _size(value) != count:
        raise ValueError(f"{name!r} of {what} are not {count} numbers")


def _wholes(fields: Fields, name: str, what: str, count: int | None = None) -> list[int]:
    """Return the whole numbers of a field."""
    value = fields.get(name)
    if value is None or not WHOLES.fullmatch(value) or count not in (None, _size(value)):
        raise ValueError(f"{name!r} of {what} are no whole numbers")
    return [int(one) for one in value.split()]


def _size(value: str) -> int:
    return value.count(" ") + 1 if value else 0
