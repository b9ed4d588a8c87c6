"""The first sentences of a result: what to deploy, how good it is, and how sure that is.

Plain values of `report.facts` enter, English sentences leave. Percentages are of the error that is
named, as it is shown, and belong to the models that are named.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from conjoin.report.learners import learner_in_words
from conjoin.report.measure import Measure, error_text, measure_of
from conjoin.report.numbers import percent_of, unsigned
from conjoin.report.paper_answer import (
    is_of_the_paper,
    partition_answer,
    with_second_opinion,
)
from conjoin.report.strategies import plain_name
from conjoin.report.wording import (
    MOST_BEHIND,
    Facts,
    change,
    comparison_in_words,
    models_in_words,
    or_infinite,
)
from conjoin.result.stability import SHAKY
from conjoin.strategies import SEARCHED, reference
from conjoin.text import listed

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

TIE = 0.0005  # share of the error by which two strategies differ and print as "0.0 %"
# Share of the error from which a difference counts, however wide its standard error is: one wild
# dataset makes the standard error itself wild. For RMSE it is half of that, 2.5 %.
AS_GOOD = 0.05
# Percent from which an end of an interval is said in times: 300 % higher is 4 times as high.
MOST_AS_PERCENT = 300.0
# Percent above which the upper end of an interval tells nothing more: 900 % is 10 times as high.
MOST_TOLD = 900.0
# Times by which the mean and the typical ratio of two errors differ where the headline says so.
MOST_APART = 2.0
# What a strategy's models are, for a reader who wants to know which models there will be.
BORROWED = "one model per dataset, with strength borrowed between datasets"
# Said of separate models beside models that are one per dataset, too.
ALONE = " that borrow nothing"
MODELS_OF = {
    "separate": "one model per dataset, each from its own rows only",
    "pooled": "one model for all datasets",
    "intercept": "one model for all datasets, with one level per dataset",
    "linear": BORROWED,
}
# Said of one model of a learner for all: a reader would give the name as one more column.
UNNAMED = " that does not know the dataset's name"
# The same for models of a learner; {} is what it trains.
LEARNED_MODELS_OF = {
    "auto": "{} and lines averaged, with strength borrowed between datasets",
    "corrected": "{}, corrected by a line for each dataset",
    "residual": "lines with strength borrowed between datasets, and {} for what they leave over",
    "curves": "a line and a smooth curve per dataset, with strength borrowed between datasets",
    "learner named": "one model ({}) for all datasets that knows the dataset's name",
    "learner pooled": "one model ({}) for all datasets",
    "learner separate": "one model ({}) per dataset",
}


# What is said where datasets have too few rows for a search (`engine.row_steps`).
TOO_SMALL = (
    "Most datasets have fewer rows than columns: too few to tell them apart, so no clusters were "
    "searched for and all datasets are in one."
)


def headline(facts: Facts) -> list[str]:
    """Return the verdict: what to train, what it brings and how sure that is, sentence by sentence.

    Errors are those on held-out rows.
    """
    strategy, strategies = facts["strategy"], facts["strategies"]
    if len(facts["datasets"]) == 1:
        error = error_in_words(strategies[strategy], measure_of(facts["family"]))
        return [f"There is one dataset, so there is one model (strategy '{strategy}'): {error}."]
    advised = advice(facts)
    plain = advised != strategy
    name = (plain_name(strategies) if advised == "clusters" else advised) if plain else strategy
    found = [*partition_answer(facts), _first(facts, name, advised), _brings(facts, name)]
    found += [
        *_unsearched(facts),
        *_carried(facts, name),
        *_winners(facts, name),
        *(_what_predicts(facts) if plain else _plain_models(facts)),
        *([] if plain and strategy == "auto" else _lowest(facts)),
    ]
    return found


def in_short(result: "Partition") -> str:
    """Return what was found, without errors, which can take long to find."""
    clusters = f"Clusters: {models_in_words(result.clusters)}."
    if result.grouping == "none" and len(result.labels) > 1:
        clusters = TOO_SMALL
    return (
        f"{clusters} Predictions use strategy "
        f"'{result.strategy}'. See errors, ledger() and report(path) for the evidence."
    )


def advice(facts: Facts) -> str:
    """Return the strategy that the headline advises, or the one that was asked for.

    Plain clusters are advised instead of the average if their fair error is at most a standard
    error above the lowest error of all.
    """
    strategies = facts["strategies"]
    key = _plain_key(facts)
    plain = strategies.get(key)
    if facts["strategy"] != "auto" or plain is None:
        return str(facts["strategy"])
    if not is_best(plain):
        return "auto"
    return key if key.startswith("learner") else "clusters"


def _plain_key(facts: Facts) -> str:
    """Return the strategy with plain models: one for each cluster, or one that knows the name."""
    key = plain_name(facts["strategies"])
    if facts.get("learner", "linear") != "linear" and key != "learner clusters":
        return "learner named"
    return key


def is_best(strategy: Facts) -> bool:
    """Say whether a strategy is as good as the best: within its standard error, or it prints so."""
    error, behind, spread = (strategy[key] for key in ("error", "behind", "standard_error"))
    if error is None or behind is None:
        return False
    return bool(behind <= max(TIE * error, min(spread or 0.0, AS_GOOD * error)))


# --- sentences -----------------------------------------------------------------------------------


def _first(facts: Facts, name: str, advised: str) -> str:
    """Say what to train, its error with its interval, and whether the clusters are shaky."""
    line, measure = facts["strategies"][name], measure_of(facts["family"])
    members = _members(facts)
    asked = facts["strategy"] != "auto" or advised == "auto"
    best = is_best(line) if asked else True
    words = f"{_models_of(facts, name)} (strategy '{advised}')"
    if _is_borrowed(facts, name):
        words = f"{BORROWED} (no two are joined; strategy '{advised}')"
    elif advised in ("clusters", "learner clusters"):
        kind = "" if advised == "clusters" else f", {learner_in_words(facts['learner'])} each"
        words = f"{models_in_words(members)}{kind}, strategy '{advised}'"
    again = "the partition searched again in every fold" if name != advised else ""
    error = error_in_words(line, measure, again)
    return f"{'Best choice' if best else 'In use'}: {words}: {error}{shaky_in_words(facts)}."


def _members(facts: Facts) -> list[list[str]]:
    return [c["datasets"] for c in facts["clusters"]]


def _is_borrowed(facts: Facts, name: str) -> bool:
    """Say whether a strategy is that of clusters, and each is one dataset.

    Models of clusters are shrunk towards a common centre, so these are not the separate ones.
    """
    alone = len(facts["clusters"]) == len(facts["datasets"])
    return alone and name in (SEARCHED, "clusters")


def _models_of(facts: Facts, name: str) -> str:
    """Say which models a strategy has."""
    learner = facts.get("learner", "linear")
    if learner != "linear" and name in LEARNED_MODELS_OF:
        return LEARNED_MODELS_OF[name].format(learner_in_words(learner))
    return MODELS_OF.get(name, BORROWED)


def shaky_in_words(facts: Facts) -> str:
    """Return the part of the first sentence that says that clusters are shaky; often empty."""
    stability = facts.get("stability")
    if not stability or not stability["shaky"]:
        return ""
    found = stability.get("with_shown")
    if stability.get("splits"):
        share = f"in {stability['splits']} of {stability['resamples']} random halves of the rows"
        return (
            f"; that one model serves all is shaky, since {share} the search sets some datasets "
            f"apart (adjusted Rand index {stability['agreement']:.2f})"
        )
    if stability["agreement"] >= SHAKY and found is not None:
        few = stability["fewer"]
        does = "put datasets of different clusters together" if few else "find other clusters"
        rows = "; halves have half of the rows, so they can show fewer differences"
        return (
            f"; the clusters are shaky, since searches in random halves of the rows mostly {does} "
            f"(adjusted Rand index {found:.2f} with these clusters{rows if few else ''})"
        )
    return (
        "; the clusters are shaky, since searches in random halves of the rows agree little "
        f"(adjusted Rand index {stability['agreement']:.2f})"
    )


def error_in_words(line: Facts, measure: Measure, how: str = "") -> str:
    """Return an error with its interval, and in a few words how it was found.

    >>> line = {"shown": 338.83, "interval": [331.4, 346.43]}
    >>> error_in_words(line, measure_of("gaussian"))
    'RMSE 338.8 (90 % interval 331.4 to 346.4)'
    """
    text = f"{measure.short} {error_text(line['shown'], 4)}"
    low, high = line.get("interval") or (None, None)
    notes = [] if low is None or high is None else [
        f"90 % interval {error_text(low, 4)} to {error_text(high, 4)}"
    ]  # fmt: skip
    notes += [how] if how else []
    return f"{text} ({'; '.join(notes)})" if notes else text


def _brings(facts: Facts, name: str) -> str:
    """Say how much lower the error is than with separate models and with one model for all."""
    strategies, measure = facts["strategies"], measure_of(facts["family"])
    known = facts.get("improvements", {}).get(name, {}).get("over", {})
    datasets = len(facts["datasets"])
    clusters = name in (SEARCHED, "clusters", "learner clusters")
    words = "" if clusters else _models_of(facts, name)
    confusing = _is_borrowed(facts, name) or ("per dataset" in words and "borrowed" in words)
    others = {
        "separate": f"with {datasets:,} separate models{{}}{ALONE if confusing else ''}",
        "pooled": "with one model{} for all{}",
    }
    # A single cluster is one model for all.
    same = {name} | ({"pooled"} if name == "clusters" and len(facts["clusters"]) == 1 else set())
    errors = {key: or_infinite(line["error"]) for key, line in strategies.items()}
    parts = []
    for other, than in others.items():
        key = reference(errors, other)
        if key not in same:
            one = known.get(other)
            interval = interval_in_words(one["interval"], _way(one["percent"])) if one else ""
            unnamed = UNNAMED if key == "learner pooled" else ""
            text = than.format(_kind_of(facts, key), unnamed)
            parts.append(change(strategies[name]["shown"], strategies[key]["shown"], text))
            parts[-1] += interval
    if not parts:
        return ""
    several = name in (SEARCHED, "clusters") and len(facts["clusters"]) > 1
    return f"{'Their' if several else 'Its'} {measure.short} is {' and '.join(parts)}."


def _kind_of(facts: Facts, key: str) -> str:
    """Say what models of a reference are, where there are two kinds."""
    if facts.get("learner", "linear") == "linear":
        return f" (strategy '{key}')" if key.startswith("learner") else ""
    learner = facts["learner"] if key.startswith("learner") else "linear"
    return f" of {learner_in_words(learner)}" if learner != "linear" else " (lines)"


def interval_in_words(ends: Sequence[float | None], way: str = "lower") -> str:
    """Return the interval of a change in percent, in brackets; empty if it is not known.

    `way` is the way of the change itself. Where the upper end is so far up that the interval says
    next to nothing, that is said instead.

    >>> interval_in_words([-3.0, -0.2]), interval_in_words([-3.0, 0.5])
    (' (90 % interval 0.2 % to 3.0 %)', ' (90 % interval 3.0 % lower to 0.5 % higher)')
    >>> interval_in_words([-100.0, 73300.0])
    ' (how much lower, if at all, cannot be said: the 90 % interval is too wide)'
    """
    low, high = ends
    if low is None or high is None:
        return ""
    if high > MOST_TOLD:
        way, least = (way, f", {_amount(low)} or more") if low > 0 else (f"{way}, if at all,", "")
        return f" (how much {way} cannot be said: the 90 % interval is too wide{least})"
    if high <= 0 or (low >= 0 and high <= MOST_AS_PERCENT):
        near, far = sorted((low, high), key=abs)
        return f" (90 % interval {_amount(near)} to {_amount(far)})"
    top = f"{_amount(high)} higher" if high <= MOST_AS_PERCENT else (
        f"{1 + high / 100:,.0f} times as high"
    )  # fmt: skip
    return f" (90 % interval {_amount(low)} {'lower' if low < 0 else 'higher'} to {top})"


def _way(percent: float | None) -> str:
    return "higher" if percent is not None and percent > 0 else "lower"


def _amount(percent: float) -> str:
    return "0 %" if percent == 0 else unsigned(percent)


def _carried(facts: Facts, name: str) -> list[str]:
    """Name the datasets that carry a comparison, and say what it is without them."""
    known = facts.get("improvements", {}).get(name, {}).get("over", {})
    measure, found = measure_of(facts["family"]), []
    for other, words in (("separate", "separate models"), ("pooled", "one model for all")):
        one = known.get(other)
        if not one or not one["carriers"] or one["percent_without"] is None:
            found += _few_errors(one, words, measure) if one else []
            continue
        several = len(one["carriers"]) > 1
        who = f"{'Datasets' if several else 'Dataset'} {_quoted(one['carriers'])}"
        what = f"{'carry' if several else 'carries'} {100 * one['share']:.0f} % of the error of"
        if one["share"] <= 0.5:  # they carry most of the difference instead
            what = f"{'make' if several else 'makes'} most of the difference to"
        without = one["percent_without"]
        result = f"{unsigned(without)} {_way(without)}"
        sure = interval_in_words(one["interval_without"], _way(without))
        found.append(
            f"{who} {what} {words}: without {'them' if several else 'it'} the {measure.short} "
            f"is {result}{sure}."
        )
    return found


def _few_errors(one: Facts, words: str, measure: Measure) -> list[str]:
    """Say what is typical where a few very large errors carry the mean; often nothing."""
    mean, typical = one["percent"], one.get("percent_typical")
    if mean is None or typical is None:
        return []
    ratio = (100 + mean) / max(100 + typical, 1e-9)  # a thousand millionth stands for zero
    if 1 / MOST_APART < ratio < MOST_APART:
        return []
    whose = words if ratio < 1 else "the models above"
    way = "lower" if typical < 0 else "higher"
    return [
        f"A few very large errors of {whose} carry this figure, as where models extrapolate. In "
        f"the median of all datasets and folds the {measure.short} is {unsigned(typical)} {way} "
        f"than with {words}."
    ]


def _quoted(names: Sequence[str]) -> str:
    return " and ".join(f"'{listed([name])}'" for name in names)


def _winners(facts: Facts, name: str) -> list[str]:
    """Say how many datasets win and lose against separate models, and which most."""
    one = facts.get("improvements", {}).get(name)
    if not one or name == "separate":
        return []
    return [winners_in_words(one, len(facts["datasets"]))]


def winners_in_words(one: Facts, datasets: int) -> str:
    """Say how many datasets have a lower and a higher error than with a separate model."""
    winner, loser = one["winner"], one["loser"]
    if winner is None and loser is None:
        return f"All {datasets:,} datasets have the same error as with a separate model."
    best = f" (most: {_dataset(winner, 'lower')})" if winner else ""
    worst = f" (most: {_dataset(loser, 'higher')})" if loser else ""
    has = "has" if one["lower"] == 1 else "have"
    return (
        f"{one['lower']:,} of {datasets:,} datasets {has} a lower error than with a separate "
        f"model{best}, {one['higher']:,} a higher one{worst}."
    )


def _dataset(one: dict[str, Any], way: str) -> str:
    name, percent = f"'{listed([one['dataset']])}'", one["percent"]
    if one.get("separate_next_to_0") or percent is None:
        return f"{name}, whose separate error is next to 0"
    if percent > MOST_BEHIND:
        return f"{name}, {1 + percent / 100:,.0f} times as high"
    return f"{name}, {unsigned(percent)} {way}"


def _what_predicts(facts: Facts) -> list[str]:
    """Say what predicts where plain models are advised."""
    if facts["strategy"] != "auto":
        return []
    auto, measure = facts["strategies"]["auto"], measure_of(facts["family"])
    plain = facts["strategies"][_plain_key(facts)]
    lower = (plain["error"] or 0.0) > (auto["error"] or 0.0)
    does = "does as well, within the standard error" if lower else "does no better"
    if not lower and not is_best(auto):
        does = "has a higher error here"
    return [
        f"Predictions use strategy 'auto', an average of all strategies that {does} "
        f"({measure.short} {error_text(auto['shown'], 4)}); strategy '{advice(facts)}' predicts "
        f"with {'this model' if advice(facts) == 'learner named' else 'these models'}."
    ]


def _unsearched(facts: Facts) -> list[str]:
    """Say that datasets are too small for a search, where none was made."""
    return [TOO_SMALL] if facts.get("grouping") == "none" else []


def _plain_models(facts: Facts) -> list[str]:
    """Say what plain clusters cost where something else is advised."""
    strategy, strategies = facts["strategy"], facts["strategies"]
    key = _plain_key(facts)
    if strategy in ("clusters", key) or key not in strategies:
        return []
    if facts.get("grouping") == "none" and key != "learner named":
        return []
    clusters = _members(facts)
    datasets, measure = len(facts["datasets"]), measure_of(facts["family"])
    if key == "learner named":
        line = strategies[key]
        than = change(line["shown"], strategies[strategy]["shown"], f"with '{strategy}'")
        return [
            f"If you prefer a plain model, train {_models_of(facts, key)}: {measure.short} "
            f"{error_text(line['shown'], 4)}, {than}."
        ]
    if len(clusters) == 1:  # one model for all has its error in the sentence before
        return [f"The search for clusters puts all {datasets:,} datasets into one."]
    plain, ours = strategies[key], strategies[strategy]
    than = change(plain["shown"], ours["shown"], f"with '{strategy}'")
    again = ", with the partition searched again in every fold" if key == SEARCHED else ""
    found = f"{measure.short} {error_text(plain['shown'], 4)}{again}"
    simpler, borrowed = _better_than_clusters(strategies, key), _is_borrowed(facts, key)
    if simpler is not None:
        lower = strategies[simpler]["shown"]
        than = change(lower, ours["shown"], f"with '{strategy}'")
        words = f"{BORROWED}; no two are joined" if borrowed else models_in_words(clusters)
        return [
            f"If you prefer plain models, train {_without_search(simpler)}: {measure.short} "
            f"{error_text(lower, 4)}, {than}. The clusters ({words}) have a higher error: {found}."
        ]
    if borrowed:  # plain models would be the separate ones, whose error was compared above
        return [
            "The search for clusters joins no two datasets. Its models (strategy 'clusters') "
            f"borrow strength, too: {found}, {than}."
        ]
    words = f"{models_in_words(clusters)}, strategy '{'clusters' if key == SEARCHED else key}'"
    return [f"If you prefer plain models, train {words}: {found}, {than}."]


def _better_than_clusters(strategies: Facts, key: str) -> str | None:
    """Return the strategy without a search that is better than the clusters' (`key`); often None.

    With a learner it is one of those that the first sentences compare with. One model for all is
    simpler, so it need not be better by much. A model for each dataset is not, so it has to be
    better by two standard errors.
    """
    errors = {name: or_infinite(line["error"]) for name, line in strategies.items()}
    pooled, separate = (reference(errors, name) for name in ("pooled", "separate"))
    own, spread = errors[key], strategies[key]["standard_error"] or 0.0
    if errors[separate] < min(errors[pooled], own - 2 * spread):
        return separate
    return pooled if errors[pooled] < own else None


def _without_search(strategy: str) -> str:
    """Say which models a strategy without a search has, lines or a learner's.

    >>> _without_search("learner pooled")
    "one model for all datasets (strategy 'learner pooled')"
    """
    name = strategy.removeprefix("learner ")
    return MODELS_OF[name] if name == strategy else f"{MODELS_OF[name]} (strategy '{strategy}')"


def _lowest(facts: Facts) -> list[str]:
    """Say which strategy has the lowest error, if it is not the one in use."""
    name, strategies = facts["strategy"], facts["strategies"]
    key, measure = plain_name(strategies), measure_of(facts["family"])
    ours = strategies[key if name == "clusters" else name]
    fair = [other for other in strategies if other == key or other not in ("clusters", "plain")]
    lowest = min(fair, key=lambda other: or_infinite(strategies[other]["error"]))
    if is_best(ours) or strategies[lowest] is ours:
        return []
    words = change(strategies[lowest]["shown"], ours["shown"], f"with '{name}'")
    spread = percent_of(ours["standard_error"], ours["error"])
    if spread and measure.root:
        spread /= 2  # of a root, to first order
    sure = f" (standard error {unsigned(spread)})" if spread else ""
    return [f"Strategy '{lowest}' has the lowest error: its {measure.short} is {words}{sure}."]


def comparison_headline(facts: Facts, a: str, b: str) -> str:
    """Say whether to join two datasets; a method of the paper has the first word."""
    if not is_of_the_paper(facts["method"]):
        return comparison_in_words(facts, a, b)
    own = {**facts, "method": "risk", "join": (facts["gain"] or 0) > 0}
    return with_second_opinion(facts, comparison_in_words(own, a, b))
