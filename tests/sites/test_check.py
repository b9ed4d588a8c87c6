import numpy as np
import pytest

from conjoin.sites.check import check, check_round
from conjoin.sites.rules import Rules
from tests.sites.rows import flag, leaving

RNG = np.random.default_rng(0)


def plain(n=400, **columns):
    """Return a site of ordinary rows: numbers and a flag that half of the rows have."""
    rng = np.random.default_rng(n)
    base = {
        "age": rng.normal(50, 10, n),
        "dose": rng.gamma(2.0, size=n),
        "sex": rng.permutation(flag(n, n // 2)),
    }
    return {**base, **columns}, rng.normal(size=n)


def found(site, **rules):
    return {(f.rule, f.columns) for f in check(site, Rules(**rules))}


def test_ordinary_rows_may_leave_with_ten_folds():
    columns, y = plain(400)
    assert check(leaving(columns, y, folds=10), Rules()) == ()


def test_too_few_rows():
    columns, y = plain(400)
    few = leaving({k: v[:9] for k, v in columns.items()}, y[:9])
    assert ("rows", ()) in found(few)
    assert ("columns", ()) in found(few)


def test_as_many_columns_as_a_third_of_the_rows():
    n = 30
    columns = {f"x{j}": RNG.normal(size=n) for j in range(10)}
    assert found(leaving(columns, RNG.normal(size=n))) == {("columns", ())}
    columns.pop("x9")
    assert found(leaving(columns, RNG.normal(size=n))) == set()


@pytest.mark.parametrize("ones", [1, 10, 390])
def test_rare_level_and_rare_complement(ones):
    columns, y = plain(400, smoker=flag(400, ones))
    assert ("level", ("smoker",)) in found(leaving(columns, y))


def test_a_level_of_eleven_rows_may_leave_but_not_in_two_folds():
    columns = {"age": RNG.normal(size=400), "smoker": flag(400, 11)}
    y = RNG.normal(size=400)
    assert found(leaving(columns, y)) == set()
    (finding,) = [f for f in check(leaving(columns, y, folds=2), Rules()) if f.rule == "level"]
    assert finding.fewer_folds and not finding.merge
    assert finding.folds == (0, 1)
    assert finding.value == 5
    assert "fewer folds" in finding.advice()


def test_rare_crossing_of_two_flags_and_of_flag_and_level():
    n = 200
    a = flag(n, 100)
    b = flag(n, 100, 97)  # a and b share 3 rows at one end and 100 - 97 complement rows
    assert found(leaving({"a": a, "b": b}, RNG.normal(size=n))) == {("crossing", ("a", "b"))}
    wards = {"ward=B": flag(n, 60), "ward=C": flag(n, 60, 60), "smoker": flag(n, 65)}
    (finding,) = check(leaving(wards, RNG.normal(size=n)), Rules())
    assert finding.columns == ("ward", "smoker")
    assert finding.value == 5
    assert finding.merge
    assert "ward=C and smoker = 1" in finding.sentence


def test_crossings_with_a_target_of_two_classes_count():
    n = 200
    y = flag(n, 100)
    died = leaving({"treated": flag(n, 96)}, y)
    died.X[:] = np.where(np.arange(n) < 4, 1 - died.X[:, 0], died.X[:, 0])[:, None]
    assert ("crossing", ("treated", "cost")) in found(died)


def test_a_rare_value_of_a_number_and_a_sum_over_few_rows():
    n = 300
    stage = np.where(np.arange(n) < 150, 1.0, 2.0)
    stage[:4] = 3.0
    assert ("level", ("stage",)) in found(leaving({"stage": stage}, RNG.normal(size=n)))
    income = np.where(np.arange(n) < 40, 1.0 + np.arange(n), 0.0)
    ward = flag(n, 100, 35)  # five rows of the ward have an income
    assert ("crossing", ("income", "ward")) in found(
        leaving({"income": income, "ward": ward}, RNG.normal(size=n))
    )


def test_a_column_that_is_constant_but_for_one_value():
    x = np.full(100, 7.0)
    x[3] = 9.0
    assert ("level", ("x",)) in found(leaving({"x": x}, RNG.normal(size=100)))


def test_one_value_that_makes_up_a_sum_of_squares():
    columns, y = plain(400)
    columns["dose"][5] = 1e4
    rows = leaving(columns, y)
    (finding,) = check(rows, Rules())
    assert (finding.rule, finding.columns) == ("dominance", ("dose",))
    assert "limits" in finding.advice()


def test_an_outlying_target_counts_too():
    columns, y = plain(400)
    y[5] = 1e5
    assert found(leaving(columns, y)) == {("dominance", ("cost",))}


def test_columns_that_add_up_in_all_but_few_rows():
    columns, y = plain(400)
    columns["total"] = columns["age"] + columns["dose"]
    assert check(leaving(columns, y), Rules()) == ()
    columns["total"][[3, 50, 200]] += [1.0, -2.0, 3.0]
    (finding,) = check(leaving(columns, y), Rules())
    assert finding.rule == "few rows"
    assert finding.value == 3


def test_a_perfect_fit():
    columns, _ = plain(400)
    assert found(leaving(columns, 2 * columns["age"] - columns["dose"])) == {
        ("perfect fit", ("cost",))
    }


def test_every_dataset_is_checked():
    columns, y = plain(400, smoker=flag(400, 30))
    rows = leaving(columns, y, dataset=np.arange(400) // 200)
    assert {f.dataset for f in check(rows, Rules()) if f.rule == "level"} == set()
    rows = leaving(columns, y, dataset=(np.arange(400) >= 25).astype(int))
    assert {f.dataset for f in check(rows, Rules()) if f.rule == "level"} == {"ward 2"}


def test_stricter_rules_find_more():
    columns, y = plain(400, smoker=flag(400, 40))
    assert found(leaving(columns, y)) <= found(leaving(columns, y), rows=50)
    assert ("level", ("smoker",)) in found(leaving(columns, y), rows=50)


def test_rounds_with_usual_weights_pass_and_extreme_coefficients_do_not():
    columns, _ = plain(400)
    rows = leaving(columns, flag(400, 150), target="died")
    mu = 1 / (1 + np.exp(-(columns["age"] - 50) / 10))
    assert check_round(rows, mu * (1 - mu), 14 * 6, Rules()) == ()
    # A coefficient so large that only the row at the edge keeps any weight.
    edge = np.sort(columns["age"])[200]
    eta = 1e4 * (columns["age"] - edge)
    mu = 1 / (1 + np.exp(-np.clip(eta, -700, 700)))
    broken = {f.rule for f in check_round(rows, mu * (1 - mu), 14, Rules())}
    assert {"weights", "dominance"} <= broken


def test_too_many_rounds_give_too_many_numbers():
    columns, _ = plain(400)
    rows = leaving(columns, flag(400, 150), folds=2)
    w = np.full(400, 0.25)
    assert check_round(rows, w, 400, Rules()) == ()
    (one, two) = check_round(rows, w, 401, Rules())
    assert one.rule == two.rule == "numbers"


def classes_of(n=400, seed=0):
    """Return columns, and the numbers of three classes that half depend on age."""
    columns, y = plain(n)
    scores = np.stack([0 * y, (columns["age"] - 50) / 10, 0 * y - 0.5], axis=1)
    gumbel = np.random.default_rng(seed).gumbel(size=scores.shape)
    return columns, np.argmax(scores + gumbel, axis=1).astype(float)


def test_every_one_of_several_classes_counts_as_a_level():
    columns, y = classes_of()
    names = ("home", "ward", "other")
    assert found(leaving(columns, y, folds=2, target="fate", classes=names)) == set()
    y[y == 0] = 1.0
    y[:4] = 0.0  # the first class is no column, but its number can be read off all the same
    (finding,) = check(leaving(columns, y, target="fate", classes=names), Rules())
    assert finding.rule == "level"
    assert "has only 4 rows with fate=home" in finding.sentence
    assert finding.advice() == "ask for a plan that joins classes of fate"
    columns, y = classes_of()
    columns["sex"][:] = 0.0
    columns["sex"][np.flatnonzero(y == 1)[:40]] = 1.0
    columns["sex"][np.flatnonzero(y == 2)[:5]] = 1.0
    (finding,) = check(leaving(columns, y, target="fate", classes=names), Rules())
    assert finding.rule == "crossing"
    assert "5 rows with fate=other and sex = 1" in finding.sentence


def test_a_class_that_columns_give_exactly():
    columns, y = classes_of()
    columns["bill"] = 100.0 * (y == 1) + columns["age"] - 2 * columns["dose"]
    several = leaving(columns, y, target="fate", classes="abc")
    assert ("perfect fit", ("fate",)) in found(several)


def test_coefficients_of_several_classes_need_more_rows():
    columns, y = classes_of(90)
    fewer = {name: columns[name] for name in ("age", "dose")}
    numbers = {f"x{j}": RNG.normal(size=90) for j in range(13)}
    assert found(leaving({**fewer, **numbers}, y)) == set()
    one = leaving({**fewer, **numbers}, y, target="fate", classes="abc")
    assert found(one) >= {("columns", ())}  # 16 coefficients for 90 rows, but of two classes each


def test_no_combination_of_the_weights_of_classes_is_left_on_one_row():
    columns, y = classes_of()
    one = leaving(columns, y, target="fate", classes="abc")
    P = np.full((400, 3), 1 / 3)
    P[11] = [0.3, 0.3, 0.4]
    weights = P[:, [0, 0, 1]] * P[:, [1, 2, 2]]
    assert not any(check_round(one, w, 6, Rules(), P) for w in weights.T)
    # The first two sums are the same but for row 11, so their difference is this row.
    assert {f.rule for f in check_round(one, weights, 6, Rules(), P)} == {"dominance"}


def test_the_probabilities_of_a_class_may_not_be_left_on_few_rows():
    columns, y = classes_of()
    one = leaving(columns, flag(400, 150), target="died")
    w, mean = np.full(400, 0.1), np.full((400, 2), [1.0, 0.0])
    mean[7] = [0.0, 1.0]
    assert check_round(one, w, 6, Rules()) == ()
    assert {f.rule for f in check_round(one, w, 6, Rules(), mean)} == {"weights"}
