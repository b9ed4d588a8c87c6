import numpy as np
import pytest

from conjoin.errors import DataError
from conjoin.models.remote_glm import KINDS, Ask
from conjoin.moments import Basis
from conjoin.sites.rounds import Frame, answer_round, round_to_plain
from conjoin.sites.rows import read_rows
from tests.sites.clinics import clinics, plan_of


@pytest.fixture(scope="module", params=["logistic", "poisson", "classes"])
def site(request):
    """The rows of a clinic, and what rounds about it share."""
    plan = plan_of(request.param, folds=2)
    rows = read_rows(clinics(request.param, sites=1, rows=600)["clinic_1"], plan, "clinic_1")
    X = rows.X
    basis = Basis(X.mean(axis=0), X.std(axis=0), 0.0, 1.0, True)
    return rows, Frame(plan, plan.schema.features, basis)


def ask(frame, kind, b):
    """Return a question of a kind at coefficients b (P,)."""
    P = len(b)
    arrays = {"step": (b, np.zeros(P)), "loss": (np.stack([b, b]),), "scores": (b, np.eye(P))}
    return Ask(kind, "clinic_1", kind == "loss", arrays.get(kind, (b,)))


def answered(site, *asked, sent=0):
    rows, frame = site
    return answer_round(rows, round_to_plain(frame, "clinic_1", 1, asked), sent)


@pytest.mark.parametrize("kind", KINDS)
def test_no_question_may_leave_weight_on_few_rows(site, kind):
    rows, frame = site
    b = np.zeros(frame.size)
    assert answered(site, ask(frame, kind, b))[1] > 0
    oldest = frame.basis.design(rows.X)[:, 1].max()
    b[0], b[frame.family.m] = -2000.0 * oldest, 2000.0
    with pytest.raises(DataError, match="at the coefficients asked"):
        answered(site, ask(frame, kind, b))


@pytest.mark.parametrize("kind", ["sums", "loss", "total"])
def test_all_numbers_count_whatever_is_asked(site, kind):
    with pytest.raises(DataError, match="numbers in all rounds"):
        answered(site, ask(site[1], kind, np.zeros(site[1].size)), sent=3000)


def test_squared_scores_may_not_be_those_of_one_row(site):
    rows, frame = site
    b = np.zeros(frame.size)
    Z = np.column_stack([np.ones(len(rows.y)), frame.basis.design(rows.X)[:, 1:]])
    # A direction in which the scores of all other rows of its kind are small.
    far = np.zeros(frame.size)
    v = np.linalg.solve(Z.T @ Z, Z[int(np.argmax(np.abs(Z[:, 1])))])
    far[:: frame.family.m] = v / np.linalg.norm(v)
    found = answered(site, Ask("scores", "clinic_1", False, (b, np.outer(far, far))))
    assert np.isfinite(found[0]["answers"][0]).all()  # ordinary rows do not stand out
    X = rows.X.copy()
    X[5, 0] += 40 * X[:, 0].std()
    outlying = type(rows)(**{**vars(rows), "X": X})
    with pytest.raises(DataError, match=r"% of a sum over squared scores|weighted sum of squares"):
        answered((outlying, frame), Ask("scores", "clinic_1", False, (b, np.outer(far, far))))
