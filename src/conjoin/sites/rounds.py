"""A round: questions of a coordinator about a site's rows, and the site's answers.

For classes and counts, sums of products are not enough: information and score of the likelihood
depend on the coefficients. The coordinator asks for them in rounds (`models.remote_glm`). Each site
gets a round of its own, since it holds coefficients that other sites need not see.

At the site, questions enter and answers leave, after the disclosure rules: coefficients may not
leave weight on few rows only, and all rounds together may not send more numbers than the rules
allow (`sites.check.check_round`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import DataError
from conjoin.models.glm_families import family_of
from conjoin.models.glm_rows import GlmRows
from conjoin.models.likelihood import FARTHEST
from conjoin.models.padded_rows import SortedRows
from conjoin.models.remote_glm import KINDS, Arrays, Ask, answer
from conjoin.moments import Basis
from conjoin.result.checked import Fault, anything, boolean, list_of, one_of, record, text, whole
from conjoin.result.document import checksum
from conjoin.sites.check import check_round
from conjoin.sites.document import array, numbers, symmetric, triangle_of
from conjoin.sites.plan import Plan
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
    def size(self) -> int:
        """Number of coefficients."""
        return len(self.features) + int(self.basis.intercept)


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
         "center": anything, "scale": anything, "matrix": anything,
         "questions": list_of(question)}
    )(content, "the round")  # fmt: skip
    if not 0 < len(content["questions"]) <= MOST_QUESTIONS:
        raise Fault(f"it has {len(content['questions'])} questions")
    size = len(content["features"])
    array(content["center"], "'center'", size)
    if not np.all(array(content["scale"], "'scale'", size) > 0):
        raise Fault("a scale is not above zero")
    if content["matrix"] is not None:
        array(content["matrix"], "'matrix'", size, size)
    for one in content["questions"]:
        _asked(one, size + 1)


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
    return [_asked(one, len(content["features"]) + 1) for one in content["questions"]]


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
    cells = {name: _cells(rows, frame, k) for k, name in enumerate(rows.names)}
    unknown = next((one.dataset for one in asked if one.dataset not in cells), None)
    if unknown is not None:
        raise DataError(f"The round asks for dataset {unknown!r}, which this site does not have.")
    found = [answer(cells[one.dataset], one, FARTHEST) for one in asked]
    count = 0
    for k, name in enumerate(rows.names):
        own = [(one, part) for one, part in zip(asked, found) if one.dataset == name]
        number = sum(_numbers(one, frame.size, rows.folds[k]) for one, _ in own)
        _check(rows, k, cells[name], own, sent + number)
        count = max(count, number)
    answers = [_packed(part, one.kind) for part, one in zip(found, asked)]
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
    family = family_of(rows.plan.schema.response)
    assert family is not None  # plans of numbers have no rounds
    one = SortedRows.one_dataset(frame.basis.design(X), y, np.ones(len(y)))
    return GlmRows.of(one, rows.dealt[k].fold, rows.folds[k], family)


def _numbers(one: Ask, P: int, folds: int) -> int:
    """Return how many numbers an answer sends."""
    sums = P * (P + 1) // 2 + P
    return {"sums": sums * (folds if one.folds else 1), "step": sums + 1, "loss": folds}.get(
        one.kind, 2
    )


def _check(
    rows: SiteRows, k: int, cells: GlmRows, asked: Sequence[tuple[Ask, Arrays]], sent: int
) -> None:
    """Raise an error if the answers of one dataset would disclose rows."""
    part, own = rows.leaving().of_dataset(k), cells.sorted_rows
    for one, found in asked:
        if one.kind not in ("sums", "step"):
            continue
        b = one.arrays[0] if one.kind == "sums" else one.arrays[0] + found[0] * one.arrays[1]
        weights = cells.family.derivatives(own.y, own.X @ b).curvature
        folds = rows.folds[k] if one.folds else 1
        leaving = part if one.folds else part.without_folds()
        broken = check_round(leaving, weights, -(-sent // folds), rows.rules)
        if broken:
            raise DataError(
                f"The round was not answered, because it would disclose rows. {broken[0].sentence}"
            )


def _packed(found: Arrays, kind: str) -> list[Any]:
    """Return an answer as nested lists; of symmetric matrices the lower triangle."""
    parts = list(found)
    at = {"sums": 0, "step": 1}.get(kind)
    if at is not None:
        parts[at] = triangle_of(parts[at])
    return [numbers(one) for one in parts]


# --- answers at the coordinator ------------------------------------------------------------------


def check_answer_content(content: Any) -> None:
    """Raise an error if the content of an answer cannot be used."""
    record(
        {"plan_checksum": text, "site": text, "round": whole, "round_checksum": text,
         "answers": list_of(list_of(anything))}
    )(content, "the answer")  # fmt: skip


def answers_of(content: Any, asked: Sequence[Ask], P: int, folds: dict[str, int]) -> list[Arrays]:
    """Return the answers to the questions of a round; `folds` are those of each dataset.

    Raises
    ------
    Fault
        If an answer has another form than its question asks for.
    """
    if len(content["answers"]) != len(asked):
        raise Fault(f"it has {len(content['answers'])} answers to {len(asked)} questions")
    return [
        _unpacked(found, one, P, folds[one.dataset])
        for found, one in zip(content["answers"], asked)
    ]


def _unpacked(found: Any, one: Ask, P: int, folds: int) -> Arrays:
    F, size = folds if one.folds else 1, P * (P + 1) // 2
    sums: list[tuple[int, ...]] = [(F, size), (F, P), (F,)]
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
        parts[at] = _definite(symmetric(parts[at], P))
    if one.kind == "step" and not 0 < parts[0][0] <= 1:
        raise Fault("an answer goes farther than it was asked")
    return tuple(parts)


def _definite(G: FloatArray) -> FloatArray:
    """Return information matrices, if they can be some."""
    values = np.linalg.eigvalsh(G)
    if np.any(values[..., 0] < -1e-6 * np.maximum(values[..., -1], 1e-300)):
        raise Fault("an information matrix is not that of any rows")
    return G
