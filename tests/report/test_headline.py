"""The first sentences of a result."""

import pytest

from conjoin.report.facts import facts
from conjoin.report.headline import (
    advice,
    error_in_words,
    headline,
    interval_in_words,
    is_best,
    shaky_in_words,
    winners_in_words,
)
from conjoin.report.measure import measure_of
from conjoin.strategies import SEARCHED
from tests.report import results


def strategy(error, behind=0.0, standard_error=0.0):
    shown = None if error is None else error**0.5
    return {
        "error": error,
        "shown": shown,
        "interval": [None, None] if shown is None else [0.9 * shown, 1.1 * shown],
        "behind": behind,
        "standard_error": standard_error,
    }


def given(name, members=(("a", "b"), ("c",)), **errors):
    """Facts of a headline; the fair error of plain clusters is that of "searched"."""
    known = [e for key, e in errors.items() if e is not None and key != "clusters"]
    lines = {
        key: strategy(e, None if e is None else e - min(known), 0.01 * min(known))
        for key, e in errors.items()
    }
    if "searched" in lines:
        lines[SEARCHED] = lines.pop("searched")
    return {
        "strategy": name,
        "family": "gaussian",
        "datasets": dict.fromkeys(n for names in members for n in names),
        "grouping": "agglomerative",
        "clusters": [{"datasets": list(names)} for names in members],
        "strategies": lines,
    }


USUAL = {"auto": 100.0, "separate": 110.25, "pooled": 196.0, "clusters": 99.0, "searched": 108.16}
OVER = {
    "percent": -4.8, "interval": [-7.0, 1.0], "carriers": [], "share": None,
    "percent_without": None, "interval_without": [None, None],
}  # fmt: skip


def test_the_headline_says_for_which_models_a_percentage_holds():
    first, brings, plain = headline(given("auto", **USUAL))
    assert first == (
        "Best choice: one model per dataset, with strength borrowed between datasets (strategy "
        "'auto'): RMSE 10 (90 % interval 9 to 11)."
    )
    assert brings == (
        "Its RMSE is 4.8 % lower than with 3 separate models that borrow nothing and 28.6 % "
        "lower than with one model for all."
    )
    assert plain == (
        "If you prefer plain models, train 2 models for 3 datasets ({a, b}, {c}), strategy "
        "'clusters': RMSE 10.4, with the partition searched again in every fold, 4.0 % higher than "
        "with 'auto'."
    )


def test_clusters_of_one_dataset_are_not_the_separate_models():
    single = (("a",), ("b",), ("c",))
    first, brings, _ = headline(given("auto", single, **{**USUAL, "searched": 100.9}))
    assert first.startswith(
        "Best choice: one model per dataset, with strength borrowed between datasets (no two are "
        "joined; strategy 'clusters'): RMSE 10.04 ("
    )
    assert brings.startswith(
        "Their RMSE is 4.3 % lower than with 3 separate models that borrow nothing and"
    )
    *_, plain = headline(given("auto", single, **USUAL))
    assert plain == (
        "The search for clusters joins no two datasets. Its models (strategy 'clusters') borrow "
        "strength, too: RMSE 10.4, with the partition searched again in every fold, 4.0 % higher "
        "than with 'auto'."
    )
    *_, plain = headline(given("auto", single, **{**USUAL, "pooled": 104.04}))
    assert plain.startswith("If you prefer plain models, train one model for all datasets: RMSE")
    assert (
        "The clusters (one model per dataset, with strength borrowed between datasets; no two are "
        "joined) have a higher error: RMSE 10.4"
    ) in plain


def test_one_model_of_a_learner_does_not_know_the_name():
    found = given("learner named", **{**USUAL, "learner named": 99.0, "learner pooled": 104.04})
    brings = headline({**found, "learner": "boosting"})[1]
    assert brings.endswith(
        "and 2.5 % lower than with one model of boosted trees for all that does not know the "
        "dataset's name."
    )
    assert "separate models (lines) and" in brings  # one model for all is not one per dataset


def test_of_plain_models_those_with_the_lowest_error_are_named():
    assert headline(
        given("auto", **{**USUAL, "pooled": 110.25, "separate": 196.0, "searched": 121.0})
    )[-1] == (
        "If you prefer plain models, train one model for all datasets: RMSE 10.5, 5.0 % higher "
        "than with 'auto'. The clusters (2 models for 3 datasets ({a, b}, {c})) have a higher "
        "error: RMSE 11, with the partition searched again in every fold."
    )


def test_one_model_of_a_learner_counts_among_plain_models():
    brings, plain = headline(given("auto", **{**USUAL, "learner pooled": 104.04}))[1:]
    assert brings.endswith(
        "and 2.0 % lower than with one model (strategy 'learner pooled') for all that does not "
        "know the dataset's name."
    )
    assert plain.startswith(
        "If you prefer plain models, train one model for all datasets (strategy 'learner pooled'): "
        "RMSE 10.2, 2.0 % higher than with 'auto'. The clusters (2 models for 3 datasets "
    )


def test_plain_models_that_are_as_good_are_the_advice():
    found = given("auto", **{**USUAL, "searched": 100.9})
    assert advice(found) == "clusters"
    first, brings, predicts = headline(found)
    assert first == (
        "Best choice: 2 models for 3 datasets ({a, b}, {c}), strategy 'clusters': RMSE 10.04 (90 % "
        "interval 9.04 to 11.05; the partition searched again in every fold)."
    )
    assert brings.startswith("Their RMSE is 4.3 % lower than with 3 separate models")
    assert predicts == (
        "Predictions use strategy 'auto', an average of all strategies that does as well, within "
        "the standard error (RMSE 10); strategy 'clusters' predicts with these models."
    )
    assert advice(given("auto", **{**USUAL, "searched": 101.1})) == "auto"
    *_, predicts = headline(given("auto", **{**USUAL, "auto": 105.0, "searched": 100.0}))
    assert "an average of all strategies that has a higher error here (RMSE 10.25)" in predicts
    assert advice(given("partial", **{**USUAL, "partial": 105.0, "searched": 100.0})) == "partial"


def test_a_wild_standard_error_makes_nothing_as_good_as_the_best():
    assert is_best(strategy(100.0, 0.9, 1.0))
    assert not is_best(strategy(100.0, 20.0, 30.0))
    assert not is_best(strategy(100.0, 1.1, 1.0))
    assert is_best(strategy(100.0, 0.01, 0.0))
    assert not is_best(strategy(None, None))


def test_a_single_cluster_is_one_model_for_all():
    one = given("auto", (("a", "b", "c"),), auto=100.0, separate=110.25, pooled=100.0, clusters=100)
    first, brings, _ = headline(one)
    assert first.startswith("Best choice: one model for all 3 datasets, strategy 'clusters': RMSE")
    assert "searched" not in first
    assert brings == "Its RMSE is 4.8 % lower than with 3 separate models."
    worse = {**one["strategies"], "clusters": strategy(150.0, 50.0, 1.0)}
    assert headline({**one, "strategies": worse})[-1] == (
        "The search for clusters puts all 3 datasets into one."
    )


def test_a_strategy_that_is_not_the_best_is_not_called_so():
    found = headline(given("pooled", auto=100.0, separate=110.0, pooled=200.0, clusters=90))
    assert found[0].startswith("In use: one model for all datasets (strategy 'pooled'): RMSE 14.14")
    assert found[1] == "Its RMSE is 34.8 % higher than with 3 separate models."
    other = headline(given("clusters", separate=50.0, auto=80.0, pooled=90.0, clusters=100))
    assert other[0].startswith(
        "In use: 2 models for 3 datasets ({a, b}, {c}), strategy 'clusters': RMSE 10 ("
    )
    assert other[-1] == (
        "Strategy 'separate' has the lowest error: its RMSE is 29.3 % lower than with 'clusters' "
        "(standard error 0.2 %)."
    )


def test_the_headline_of_one_dataset_and_of_unknown_errors():
    one = given("auto", (("a",),), auto=4.0, separate=4.0, pooled=4.0, clusters=4.0)
    assert headline(one) == [
        "There is one dataset, so there is one model (strategy 'auto'): RMSE 2 (90 % interval 1.8 "
        "to 2.2)."
    ]
    unknown = given("auto", auto=1.0, separate=None, pooled=2.0, clusters=1.0)
    assert "not comparable with the error with 3 separate" in headline(unknown)[1]


def test_a_few_very_large_errors_do_not_make_the_headline_alone():
    one = {**OVER, "percent": -98.5, "percent_typical": -12.0}
    won = {"lower": 3, "higher": 0, "winner": {"dataset": "c", "percent": -99.0}, "loser": None}
    facts = given("auto", **{**USUAL, "separate": 440000.0})
    found = headline({**facts, "improvements": {"auto": {"over": {"separate": one}, **won}}})
    assert found[2] == (
        "A few very large errors of separate models carry this figure, as where models "
        "extrapolate. In the median of all datasets and folds the RMSE is 12.0 % lower than with "
        "separate models."
    )
    usual = {**one, "percent": -20.0}
    found = headline({**facts, "improvements": {"auto": {"over": {"separate": usual}, **won}}})
    assert not any("very large errors" in sentence for sentence in found)


def test_datasets_that_carry_a_comparison_are_named():
    over = {
        "separate": {
            **OVER, "carriers": ["c"], "share": 0.86, "percent_without": 0.5,
            "interval_without": [-1.0, 2.0],
        },
        "pooled": {
            **OVER, "carriers": ["a", "b"], "share": 0.4, "percent_without": -2.0,
            "interval_without": [-3.0, -1.0],
        },
    }  # fmt: skip
    won = {"lower": 2, "higher": 1, "winner": {"dataset": "c", "percent": -60.0},
           "loser": {"dataset": "a", "percent": 2.0}}  # fmt: skip
    found = headline({**given("auto", **USUAL), "improvements": {"auto": {"over": over, **won}}})
    assert found[1].startswith(
        "Its RMSE is 4.8 % lower than with 3 separate models that borrow nothing (90 % interval "
        "7.0 % lower to 1.0 % higher) and"
    )
    assert found[2] == (
        "Dataset 'c' carries 86 % of the error of separate models: without it the RMSE is 0.5 % "
        "higher (90 % interval 1.0 % lower to 2.0 % higher)."
    )
    assert found[3] == (
        "Datasets 'a' and 'b' make most of the difference to one model for all: without them the "
        "RMSE is 2.0 % lower (90 % interval 1.0 % to 3.0 %)."
    )
    assert found[4] == (
        "2 of 3 datasets have a lower error than with a separate model (most: 'c', 60.0 % lower), "
        "1 a higher one (most: 'a', 2.0 % higher)."
    )


def test_an_interval_that_says_nothing_is_no_numbers():
    wide = {
        **OVER, "percent": -97.2, "interval": [-99.99, 73300.0], "carriers": ["c"], "share": 0.86,
        "percent_without": -3.0, "interval_without": [-99.0, 2000.0],
    }  # fmt: skip
    won = {"lower": 3, "higher": 0, "winner": None, "loser": None}
    facts = given("auto", **{**USUAL, "separate": 100.0 / 0.028**2})
    found = headline({**facts, "improvements": {"auto": {"over": {"separate": wide}, **won}}})
    assert found[1].startswith(
        "Its RMSE is 97.2 % lower than with 3 separate models that borrow nothing (how much lower, "
        "if at all, cannot be said: the 90 % interval is too wide) and"
    )
    assert found[2] == (
        "Dataset 'c' carries 86 % of the error of separate models: without it the RMSE is 3.0 % "
        "lower (how much lower, if at all, cannot be said: the 90 % interval is too wide)."
    )


def test_winners_that_are_not_there():
    none = {"lower": 0, "higher": 0, "winner": None, "loser": None}
    assert winners_in_words(none, 4) == (
        "All 4 datasets have the same error as with a separate model."
    )


def test_no_percentage_of_an_error_next_to_0():
    lost = {"dataset": "S08", "percent": 3.7e9, "separate_next_to_0": True}
    one = {"lower": 3, "higher": 1, "winner": None, "loser": lost}
    assert winners_in_words(one, 4).endswith(
        "1 a higher one (most: 'S08', whose separate error is next to 0)."
    )
    far = {**one, "loser": {**lost, "percent": 1900.0, "separate_next_to_0": False}}
    assert winners_in_words(far, 4).endswith("1 a higher one (most: 'S08', 20 times as high).")


def test_shaky_clusters_are_in_the_first_sentence():
    shaky = {"stability": {"shaky": True, "agreement": 0.314}}
    first = headline({**given("auto", **USUAL), **shaky})[0]
    assert first.endswith("; the clusters are shaky, since searches in random halves of the rows "
                          "agree little (adjusted Rand index 0.31).")  # fmt: skip
    others = {"shaky": True, "agreement": 0.64, "with_shown": 0.0, "fewer": True}
    assert shaky_in_words({"stability": others}) == (
        "; the clusters are shaky, since searches in random halves of the rows mostly put "
        "datasets of different clusters together (adjusted Rand index 0.00 with these clusters; "
        "halves have half of the rows, so they can show fewer differences)"
    )
    more = shaky_in_words({"stability": {**others, "fewer": False}})
    assert "mostly find other clusters (adjusted Rand index 0.00 with these clusters)" in more
    one = {"shaky": True, "agreement": 0.17, "splits": 13, "resamples": 20}
    assert shaky_in_words({"stability": one}) == (
        "; that one model serves all is shaky, since in 13 of 20 random halves of the rows the "
        "search sets some datasets apart (adjusted Rand index 0.17)"
    )
    assert shaky_in_words({"stability": None}) == ""
    assert shaky_in_words({"stability": {"shaky": False, "agreement": 0.9}}) == ""


def test_intervals_of_changes():
    assert interval_in_words([None, 1.0]) == ""
    assert interval_in_words([-20.0, 900.0]) == (
        " (90 % interval 20.0 % lower to 10 times as high)"
    )
    assert interval_in_words([-99.99, 73300.0]) == (
        " (how much lower, if at all, cannot be said: the 90 % interval is too wide)"
    )
    assert interval_in_words([40.0, 901.0], "higher") == (
        " (how much higher cannot be said: the 90 % interval is too wide, 40.0 % or more)"
    )
    assert interval_in_words([1.0, 2.0]) == " (90 % interval 1.0 % to 2.0 %)"
    assert interval_in_words([-2.0, 0.0]) == " (90 % interval 0 % to 2.0 %)"
    line = {"shown": 2.0, "interval": [None, None]}
    assert error_in_words(line, measure_of("logistic")) == "log loss 2"


@pytest.mark.parametrize("result", [results.hostile, results.counts, lambda: results.choices(3)])
def test_every_strategy_has_a_headline(result):
    for name in result().errors:
        if name == SEARCHED:
            continue
        text = facts(result().using(name))["verdict"]
        assert f"trategy '{name}'" in text
        assert "None" not in text and "nan" not in text
