import pytest

from conjoin.errors import ArgumentError
from conjoin.sites.rules import Rules


def test_default_rules_pass_and_stricter_ones_too():
    Rules().check()
    Rules(rows=30, share=0.1, dominance=0.5, numbers=0.2, zeros=False).check()


@pytest.mark.parametrize(
    "looser",
    [
        {"rows": 10},
        {"share": 0.5},
        {"dominance": 0.95},
        {"numbers": 0.6},
    ],
)
def test_looser_rules_need_a_word(looser):
    with pytest.raises(ArgumentError, match=f"only be made stricter: {next(iter(looser))} is"):
        Rules(**looser).check()
    Rules(**looser).check(i_know=True)


@pytest.mark.parametrize(
    "wrong", [{"rows": 0}, {"rows": 2.5}, {"rows": True}, {"share": 0}, {"dominance": 1.5},
              {"numbers": "many"}, {"zeros": 1}, {"share": float("nan")}]
)  # fmt: skip
def test_values_a_rule_cannot_have(wrong):
    with pytest.raises(ArgumentError, match=f"Rule '{next(iter(wrong))}' must be"):
        Rules(**wrong)


def test_rules_go_to_a_file_and_back():
    rules = Rules(rows=20, zeros=False)
    assert Rules.from_plain(rules.to_plain()) == rules
    with pytest.raises(ArgumentError, match="Unknown disclosure rule 'row'"):
        Rules.from_plain({"row": 3})


def test_the_stricter_of_two_sets_of_rules_allows_no_more_than_either():
    a, b = Rules(rows=20, share=0.3), Rules(rows=15, dominance=0.5, zeros=False)
    both = a.strictest(b)
    assert both == b.strictest(a)
    assert not both.looser(a) and not both.looser(b)
    assert (both.rows, both.share, both.dominance, both.zeros) == (20, 0.3, 0.5, False)
