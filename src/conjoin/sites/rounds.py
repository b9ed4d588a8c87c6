"""A round: questions of a coordinator about a site's rows, and the site's answers.

For classes and counts, sums of products are not enough: information and score of the likelihood
depend on the coefficients. The coordinator asks for them in rounds (`models.remote_glm`). Each site
gets a round of its own, since it holds coefficients that other sites need not see.

At the site, questions enter and answers leave, after the disclosure rules: coefficients may not
leave weight on few rows only, and all rounds together may not send more numbers than the rules
allow (`sites.round_rules`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.families import MOST_CLASSES
from conjoin.models.glm_families import GlmFamily, family_of
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import FARTHEST
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import KINDS, Arrays, Ask, answer
from conjoin.moments import Basis
from conjoin.result.checked import Fault, anything, boolean, list_of, one_of, record, text, whole
from conjoin.result.document import checksum
from conjoin.sites.document import array, numbers, symmetric, triangle_of
from conjoin.sites.plan import Plan
from conjoin.sites.round_rules import refuse_answers
from conjoin.sites.rows import SiteRows

# Questions of one round for one site at most. Joins of 200 datasets ask some hundred of each.
MOST_QUESTIONS = 10_000


@dataclass(frozen=True, eq=False)
class Frame:
    """What all questions of a study share: the plan, the features in use, and their coordinates."""

    plan: Plan
    features: tuple[str, ...]
    basis: Basis

    @property
    def family(self) -> GlmFamily:
        """The distribution of the target."""
        found = family_of(self.plan.schema.response)
        assert found is not None  # plans of numbers have no rounds
        return found

    @property
    def columns(self) -> int:
        """Number of columns of the design: features and intercept."""
        return len(self.features) + int(self.basis.intercept)

    @property
    def size(self) -> int:
        """Number of coefficients: one for each column, and each class but one."""
        return self.columns * self.family.m


# --- questions -----------------------------------------------------------------------------------


def round_to_plain(frame: Frame, site: str, number: int, asked: Sequence[Ask]) -> dict[str, Any]:
    """Return a round for one site as plain values."""
    basis = frame.basis
    return {
        "plan_checksum": frame.plan.checksum,
        "site": site,
        "round": number,
        "features": list(frame.features),
        "center": numbers(basis.center),
        "scale": numbers(basis.scale),
        "matrix": None if basis.matrix is None else numbers(basis.matrix),
        "outputs": frame.family.m,
        "questions": [
            {
                "kind": one.kind,
                "dataset": one.dataset,
                "folds": one.folds,
                "arrays": [numbers(values) for values in one.arrays],
            }
            for one in asked
        ],
    }


def check_round_content(content: Any) -> None:
    """Raise an error if the content of a round cannot be used."""
    question = record(
        {"kind": one_of(KINDS), "dataset": text, "folds": boolean, "arrays": list_of(anything)}
    )
    record(
        {"plan_checksum": text, "site": text, "round": whole, "features": list_of(text),
         "center": anything, "scale": anything, "matrix": anything, "outputs": whole,
         "questions": list_of(question)}
    )(content, "the round")  # fmt: skip
    if not 0 < len(content["questions"]) <= MOST_QUESTIONS:
        raise Fault(f"it has {len(content['questions'])} questions")
    if not 0 < content["outputs"] < MOST_CLASSES:
        raise Fault(f"it is for {content['outputs'] + 1} classes")
    size = len(content["features"])
    array(content["center"], "'center'", size)
    if not np.all(array(content["scale"], "'scale'", size) > 0):
        raise Fault("a scale is not above zero")
    if content["matrix"] is not None:
        array(content["matrix"], "'matrix'", size, size)
    for one in content["questions"]:
        _asked(one, (size + 1) * content["outputs"])


def _asked(one: Any, P: int) -> Ask:
    """Return one question of a round."""
    shapes: dict[str, list[tuple[int | None, ...]]] = {
        "sums": [(P,)],
        "step": [(P,), (P,)],
        "loss": [(None, P)],
        "total": [(P,)],
        "mass": [(P,)],
        "scores": [(P,), (P, P)],
    }
    wanted = shapes[one["kind"]]
    if len(one["arrays"]) != len(wanted):
        raise Fault(f"a question has {len(one['arrays'])} arrays, expected {len(wanted)}")
    arrays = tuple(
        array(values, f"a question of kind {one['kind']!r}", *shape)
        for values, shape in zip(one["arrays"], wanted)
    )
    return Ask(one["kind"], one["dataset"], one["folds"], arrays)


def questions_of(content: Any) -> list[Ask]:
    """Return the questions of a checked round."""
    size = (len(content["features"]) + 1) * content["outputs"]
    return [_asked(one, size) for one in content["questions"]]


def frame_of(content: Any, plan: Plan) -> Frame:
    """Return what the questions of a checked round share."""
    size = len(content["features"])
    matrix = content["matrix"]
    basis = Basis(
        array(content["center"], "'center'", size),
        array(content["scale"], "'scale'", size),
        0.0,
        1.0,
        True,
        None if matrix is None else array(matrix, "'matrix'", size, size),
    )
    return Frame(plan, tuple(content["features"]), basis)


# --- answers at the site -------------------------------------------------------------------------


def answer_round(rows: SiteRows, content: Any, sent: int = 0) -> tuple[dict[str, Any], int]:
    """Return the answer to a round as plain values, and how many numbers it sends at most.

    The number is that of the dataset that is asked most. `sent` are those of earlier rounds.

    Raises
    ------
    DataError
        If the round is not for this site and plan, or an answer would disclose rows.
    """
    if content["plan_checksum"] != rows.plan.checksum:
        raise DataError("The round belongs to another plan; use the plan that came with it.")
    if content["site"] != rows.site:
        raise DataError(
            f"The round is for site {content['site']!r}, but this is {rows.site!r}; answer your "
            "own round."
        )
    frame, asked = frame_of(content, rows.plan), questions_of(content)
    if content["outputs"] != frame.family.m:
        raise DataError("The round is for another number of classes than the plan has.")
    cells = {name: _cells(rows, frame, k) for k, name in enumerate(rows.names)}
    unknown = next((one.dataset for one in asked if one.dataset not in cells), None)
    if unknown is not None:
        raise DataError(f"The round asks for dataset {unknown!r}, which this site does not have.")
    found = [answer(cells[one.dataset], one, FARTHEST) for one in asked]
    count = 0
    for k, name in enumerate(rows.names):
        own = [(one, part) for one, part in zip(asked, found) if one.dataset == name]
        number = sum(_numbers(one, frame, rows.folds[k]) for one, _ in own)
        refuse_answers(rows, k, cells[name], own, sent + number)
        count = max(count, number)
    answers = [_packed(part, one.kind, frame) for part, one in zip(found, asked)]
    return {
        "plan_checksum": content["plan_checksum"],
        "site": rows.site,
        "round": content["round"],
        "round_checksum": checksum(content),
        "answers": answers,
    }, count


def _cells(rows: SiteRows, frame: Frame, k: int) -> GlmRows:
    """Return the rows of one dataset in the coordinates of a round."""
    own = rows.rows(k)
    position = {name: j for j, name in enumerate(rows.plan.schema.features)}
    if not set(frame.features) <= set(position):
        raise DataError("The round asks for features that are not in the plan.")
    X = rows.X[own][:, [position[name] for name in frame.features]]
    y = rows.y[own]
    one = SortedRows.one_dataset(frame.basis.design(X), y, np.ones(len(y)))
    return GlmRows.of(one, rows.dealt[k].fold, rows.folds[k], frame.family)


def _numbers(one: Ask, frame: Frame, folds: int) -> int:
    """Return how many numbers an answer sends."""
    sums = _distinct(frame) + frame.size
    return {"sums": sums * (folds if one.folds else 1), "step": sums + 1, "loss": folds}.get(
        one.kind, 2
    )


def _distinct(frame: Frame) -> int:
    """Return how many numbers of an information matrix are distinct."""
    d, m = frame.columns, frame.family.m
    return d * (d + 1) // 2 * (m * (m + 1) // 2)


def _packed(found: Arrays, kind: str, frame: Frame) -> list[Any]:
    """Return an answer as nested lists; of information matrices the distinct numbers."""
    parts = list(found)
    at = {"sums": 0, "step": 1}.get(kind)
    if at is not None:
        parts[at] = _distinct_of(parts[at], frame.columns)
    return [numbers(one) for one in parts]


def _distinct_of(G: FloatArray, d: int) -> FloatArray:
    """Return the distinct numbers of sums of xx' (x) v (F, d m, d m), with symmetric v (m, m)."""
    F, m = len(G), G.shape[-1] // d
    blocks = G.reshape(F, d, m, d, m).transpose(0, 2, 4, 1, 3)
    return triangle_of(np.moveaxis(triangle_of(blocks), -1, 1)).reshape(F, -1)


def _information(distinct: FloatArray, d: int, m: int) -> FloatArray:
    """Return the matrices (F, d m, d m) whose distinct numbers these are."""
    F = len(distinct)
    pairs = symmetric(distinct.reshape(F, d * (d + 1) // 2, -1), m)
    blocks = symmetric(np.moveaxis(pairs, 1, -1), d)
    return blocks.transpose(0, 3, 1, 4, 2).reshape(F, d * m, d * m)


# --- answers at the coordinator ------------------------------------------------------------------


def check_answer_content(content: Any) -> None:
    """Raise an error if the content of an answer cannot be used."""
    record(
        {"plan_checksum": text, "site": text, "round": whole, "round_checksum": text,
         "answers": list_of(list_of(anything))}
    )(content, "the answer")  # fmt: skip


def answers_of(
    content: Any, asked: Sequence[Ask], frame: Frame, folds: dict[str, int]
) -> list[Arrays]:
    """Return the answers to the questions of a round; `folds` are those of each dataset.

    Raises
    ------
    Fault
        If an answer has another form than its question asks for.
    """
    if len(content["answers"]) != len(asked):
        raise Fault(f"it has {len(content['answers'])} answers to {len(asked)} questions")
    return [
        _unpacked(found, one, frame, folds[one.dataset])
        for found, one in zip(content["answers"], asked)
    ]


def _unpacked(found: Any, one: Ask, frame: Frame, folds: int) -> Arrays:
    F = folds if one.folds else 1
    sums: list[tuple[int, ...]] = [(F, _distinct(frame)), (F, frame.size), (F,)]
    known: dict[str, list[tuple[int, ...]]] = {
        "sums": sums,
        "step": [(1,), *sums],
        "loss": [(folds,)],
        "scores": [(1,), (1,)],
    }
    shapes = known.get(one.kind, [(1,)])
    if len(found) != len(shapes):
        raise Fault(f"an answer of kind {one.kind!r} has {len(found)} parts")
    parts = [
        array(values, f"an answer of kind {one.kind!r}", *shape)
        for values, shape in zip(found, shapes)
    ]
    at = {"sums": 0, "step": 1}.get(one.kind)
    if at is not None:
        parts[at] = _definite(_information(parts[at], frame.columns, frame.family.m))
    if one.kind == "step" and not 0 < parts[0][0] <= 1:
        raise Fault("an answer goes farther than it was asked")
    return tuple(parts)


def _definite(G: FloatArray) -> FloatArray:
    """Return information matrices, if they can be some."""
    values = np.linalg.eigvalsh(G)
    if np.any(values[..., 0] < -1e-6 * np.maximum(values[..., -1], 1e-300)):
        raise Fault("an information matrix is not that of any rows")
    return G
