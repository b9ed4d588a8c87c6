"""Every sentence that is made from a result, in one place: page, terminal, notebook and JSON.

Plain values of `report.facts` enter, English sentences leave. Sentences use straight quotes, so
that terminals without Unicode can print them. What errors are called is in `report.measure`,
and warnings about the data are in `report.cautions`.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from conjoin.report.learners import judged_in_words, verdict_in_words
from conjoin.report.measure import Measure, error_text, measure_of
from conjoin.report.numbers import end, finite, number, percent_change, share, signed, unsigned
from conjoin.result.values import NOT_JUDGED
from conjoin.strategies import SEARCHED
from conjoin.text import listed

Facts = Mapping[str, Any]

# Clusters named in a headline: the rest is in the table right below it.
MOST_CLUSTERS_NAMED = 6
# Times the other error from which a ratio is easier to read than a percentage (400 % higher).
MOST_AS_PERCENT = 3.0
# Percent behind the best from which a table says how many times the error is: 1,000 % is 11 times.
MOST_BEHIND = 1000.0


# What a model is fitted to, as heads of columns and lines of tables say it. "own" is the model in a
# cluster of one, with the prior of clusters. "separate" is what the headline compares with:
# strategy 'separate', with a learner the better of it and 'learner separate'. "all" also predicts
# unknown datasets; with a learner it is the better of strategies 'pooled' and 'learner pooled', so
# it is called neither. All are refitted outside the same folds, with the partition as it is.
MODELS = {
    "own": "own model, borrowing strength",
    "separate": "separate model, borrowing nothing",
    "cluster": "cluster's model",
    "others": "others' model",
    "all": "model for all",
}
IN_USE = "in use"


def common_model(learner: str) -> str:
    """Return what coefficients of clusters are compared with (`View.common`)."""
    return MODELS["all"] if learner == "linear" else "mean of the clusters' models"


# --- the verdict ---------------------------------------------------------------------------------

# What each strategy is, in a few words.
STRATEGIES = {
    "separate": "one model per dataset, from its own rows only",
    "pooled": "one model for all datasets",
    "clusters": "one model per cluster (partition from all rows)",
    SEARCHED: "the same, partition found again in every fold",
    "plain": "one least-squares model per cluster",
    "intercept": "one model for all, with one level per dataset",
    "slopes": "partial pooling, one variance for all slopes",
    "partial": "partial pooling, one variance per slope",
    "full": "partial pooling, full covariance",
    "lowrank": "partial pooling, datasets differ along one to three directions",
    "mixture": "soft clusters: each dataset blends several models",
    "auto": "average of the strategies, weighted by their errors",
    "linear": "average of the linear strategies",
    "corrected": "a line in the columns and the learner's prediction, partially pooled",
    "residual": "the linear average, plus the learner on its residuals",
    "curves": "a line and a smooth curve of one column for each dataset, partially pooled",
    "learner named": "one model of all rows that knows the dataset's name",
    "learner pooled": "one model of all rows without the name",
    "learner separate": "one model of the learner per dataset",
    "learner clusters": "one model of the learner per cluster",
}
FOUND_AGAIN_NOTE = (
    f"'{SEARCHED}' includes the uncertainty of finding the partition: it was searched for again in "
    "every fold. 'clusters' are the models of the clusters; their partition was found from "
    "all rows, so their error is too optimistic beside the others."
)
KEPT_NOTE = (
    "The error of 'clusters' is too optimistic: this method finds the partition once, from all "
    "rows."
)
ONE_CLUSTER_NOTE = "There is one cluster, so 'clusters' and 'pooled' are the same model."
ONE_LEARNER_NOTE = (
    "There is one cluster, so 'clusters' is one line for all in the columns and the learner's "
    "prediction, which knows the names. 'pooled' is one line in the columns alone."
)


def clusters_note(facts: Facts) -> str:
    """Say how the error of 'clusters' was found."""
    if len(facts["clusters"]) == 1:
        return ONE_CLUSTER_NOTE if facts["learner"] == "linear" else ONE_LEARNER_NOTE
    return FOUND_AGAIN_NOTE if facts["found_again"] else KEPT_NOTE


def models_in_words(clusters: Sequence[Sequence[str]]) -> str:
    """Return how many models clusters need, and which datasets are trained together.

    >>> models_in_words([["a", "b"], ["c"]])
    '2 models for 3 datasets ({a, b}, {c})'
    >>> models_in_words([[a, a.upper()] for a in "abcdefg"])[-22:]
    'F} and 1 more cluster)'
    >>> models_in_words([["a"], ["b"]]), models_in_words([["a", "b"]])
    ('one model per dataset (no two are joined)', 'one model for all 2 datasets')
    """
    datasets = sum(map(len, clusters))
    if len(clusters) == 1:
        return "one model" if datasets == 1 else f"one model for all {datasets:,} datasets"
    if len(clusters) == datasets:
        return "one model per dataset (no two are joined)"
    named = ", ".join("{" + listed(names) + "}" for names in clusters[:MOST_CLUSTERS_NAMED])
    more = len(clusters) - MOST_CLUSTERS_NAMED
    named += f" and {more:,} more cluster{'s' * (more > 1)}" if more > 0 else ""
    return f"{len(clusters):,} models for {datasets:,} datasets ({named})"


def change(error: float | None, other: float | None, words: str) -> str:
    """Say how much lower or higher an error is than another one.

    >>> change(0.9, 1.0, "with one model"), change(5.0, 1.0, "with one model")
    ('10.0 % lower than with one model', '5 times as high as with one model')
    """
    percent = percent_change(error, other)
    if error is None or other is None or percent is None:
        return f"not comparable with the error {words}"
    if error > MOST_AS_PERCENT * other:
        return f"{error / other:,.0f} times as high as {words}"
    if percent < -99.5:  # would be written as 100 %
        return f"more than 99 % lower than {words}"
    if unsigned(percent).startswith("less"):
        return f"the same as {words}"
    return f"{unsigned(percent)} {'lower' if percent < 0 else 'higher'} than {words}"


# --- the table of strategies ---------------------------------------------------------------------


def by_error(strategies: Mapping[str, Facts]) -> list[tuple[str, Facts]]:
    """Return strategies with their facts, the lowest error first, unknown errors last.

    Clusters whose partition has seen the held-out rows come right after their fair error.
    """

    def rank(item: tuple[str, Facts]) -> tuple[float, bool]:
        name, line = item
        kept = name in ("clusters", "plain") and SEARCHED in strategies
        return or_infinite((strategies[SEARCHED] if kept else line)["error"]), kept

    return sorted(strategies.items(), key=rank)


def or_infinite(error: float | None) -> float:
    """Return an error, infinite if it is not known."""
    return math.inf if error is None else error


def behind_in_words(strategy: Facts) -> str:
    """Say by how many percent a strategy's error is higher than that of the best one."""
    percent = strategy["percent"]
    if percent is None:
        return "" if strategy.get("kept") else "unknown"
    if percent > MOST_BEHIND:
        return f"{1 + percent / 100:,.0f} times"
    return "best" if percent <= 0 else signed(percent).lstrip("+")


def behind_interval(strategy: Facts) -> str:
    """Return the interval of that percentage, which can begin below 0; empty for the best."""
    low, high = strategy["percent_interval"]
    if low is None or high is None or not 0 < strategy["percent"] <= MOST_BEHIND:
        return ""
    return f"{end(low)} to {end(high)}"


def behind_with_error(strategy: Facts) -> str:
    """Say the same with its standard error."""
    text, spread = behind_in_words(strategy), strategy["percent_standard_error"]
    if spread is None or not text.endswith("%"):
        return text
    decimals = 1 if "." in text else 0
    return f"{text.removesuffix(' %')} ± {spread:,.{decimals}f} %"


def weight_in_words(weight: float | None) -> str:
    """Return the weight of a strategy in 'auto'; empty where it has none."""
    if not weight:
        return ""
    return f"{weight:.2f}" if weight >= 0.005 else "< 0.01"  # 0.00 would look like none


# --- joins ---------------------------------------------------------------------------------------

TOGETHER = (
    "The clusters are chosen for all datasets together, so one join judged by itself can point the "
    "other way."
)


def effect(gain: float | None, percent: float | None, measure: Measure) -> str:
    """Say what a join does to the expected error.

    >>> effect(-24.97, -0.5, measure_of("gaussian"))
    'raises the expected squared error by 24.97 (0.5 %)'
    """
    if gain is None:
        return f"has an effect that cannot be estimated, because there are {measure.few}"
    amount = f"{abs(gain):.4g}" + ("" if percent is None else f" ({unsigned(percent)})")
    return f"{'lowers' if gain >= 0 else 'raises'} the expected {measure.name} by {amount}"


def reason(facts: Facts) -> str:
    """Say why a dataset is in its cluster, from the facts of `facts.dataset_facts`."""
    name, measure = facts["dataset"], measure_of(facts["family"])
    others = [n for n in facts["members"] if n != name]
    lines = facts["alternatives"]
    own = next((line for line in lines if line["own"]), None)
    nearest = next((line for line in lines if not line["own"]), None)
    text = f"{name} is trained {decision(others)}."
    if not others:  # the headline calls another model separate
        text = f"{name} is alone in its cluster, where its model still borrows strength."
    if own is not None:
        if sorted(own["datasets"]) != sorted(others):
            text += f" It came to them by a join with {listed(own['datasets'])}."
        text += f" {own['reason']}"
        if own["judged_by"] != NOT_JUDGED:
            verdict = f"verdict: {own['verdict']}{judged_in_words(own)}"
            text += f" {_own_effect(own, measure)}; {verdict}."
    if nearest is not None:
        words = effect(nearest["gain"], nearest["percent"], measure)
        words += f"; verdict: {nearest['verdict']}{judged_in_words(nearest)}"
        words = "was not judged" if nearest["judged_by"] == NOT_JUDGED else words
        members = listed(nearest["datasets"])
        text += f" The nearest other cluster is {{{members}}}. Joining it {words}."
    gains = [own and own["gain"], nearest and nearest["gain"]]
    if (gains[0] or 0.0) < 0 or (gains[1] or 0.0) > 0:
        text += f" {TOGETHER}"
    return text


def _own_effect(own: Facts, measure: Measure) -> str:
    """Say what joining a dataset with its cluster does by the estimate from all rows."""
    gain, change = own["gain"], own.get("change")
    if gain is not None and change is not None and gain * change > 0:
        # Two estimates of one effect; the one from held-out rows stands in the reason.
        return f"The estimate from all rows points the other way by {abs(gain):.4g} {measure.gain}"
    return f"Joining them {effect(gain, own['percent'], measure)}"


def others_note(facts: Facts) -> str:
    """Say why a model of the other datasets can be better than that of the cluster; often empty."""
    models, measure = facts["models"], measure_of(facts["family"])
    known = [models.get(key, {}).get("error") for key in ("others", "cluster")]
    if None in known or not known[0] < known[1]:
        return ""
    errors = [error_text(models[key]["shown"]) for key in ("others", "cluster")]
    why = (
        "It was fitted to all rows of the other datasets, later ones too, so it has seen what a "
        "forecast cannot see."
        if facts["time"]
        else "Clusters are chosen for all datasets together, so another model can be better for a "
        "single one; a small difference may be chance."
    )
    return (
        f"The {MODELS['others']} has a lower {measure.short} here than the {MODELS['cluster']} "
        f"({errors[0]} against {errors[1]}). {why}"
    )


def decision(others: Sequence[str], most: int | None = None) -> str:
    """Say with which datasets one is trained."""
    names = listed(others) if most is None else listed(others, most)
    return f"with {names}" if others else "alone"


def brief_reason(own: Facts | None, runner_up: Facts | None, measure: Measure) -> str:
    """Say in a table cell why a dataset is in its cluster; `runner_up` is the best other one.

    >>> brief_reason(None, {"gain": 3.0}, measure_of("gaussian"))
    'kept alone by the search over all datasets'
    """
    if own is None:
        # The runner-up stands beside this cell, maybe with a gain.
        gains = runner_up is not None and (runner_up["gain"] or 0.0) > 0
        return "kept alone by the search over all datasets" if gains else "no join has a gain"
    if own["judged_by"] == NOT_JUDGED:
        return "one model predicts best"
    if own["gain"] is None:
        return f"{measure.few} for a model of its own"
    return f"joining {own.get('with', '')}{brief_effect(own['percent'], measure)}"


def brief_effect(percent: float | None, measure: Measure, judged_by: str = "") -> str:
    """Say in a table cell what a join does to the error."""
    if percent is None:
        return "no estimate" if judged_by == NOT_JUDGED else "has an unknown effect"
    return f"{'lowers' if percent >= 0 else 'raises'} the {measure.name} by {unsigned(percent)}"


def brief_verdict(line: Facts) -> str:
    """Return a verdict for a table cell, or that there is none."""
    return verdict_in_words(line)


def merge_in_words(merge: Facts, unit: str) -> list[str]:
    """Say what a fork of the merge tree shows, line by line; `unit` is that of gains."""
    percent, gain, (low, high) = merge["percent"], merge["gain"], merge["interval"]
    text = f"gain not known: {merge['few'] or 'not judged'}"
    if gain is not None and percent is not None:
        text = f"gain {signed(percent)} of the error ({unit} {number(gain)}"
        if low is not None and high is not None:
            text += f", between {number(low)} and {number(high)}"
        elif low is not None:
            text += f", at least {number(low)}"
        elif high is not None:
            text += f", at most {number(high)}"
        text += ")"
    verdict = f"verdict: {verdict_in_words(merge)}{judged_in_words(merge)}"
    lines = [f"{merge['left']}  +  {merge['right']}", text, verdict]
    if merge["together"] is not None:
        lines.append(f"together in {100 * merge['together']:.0f} % of the resamples")
    return [*lines, merge["reason"]]


# --- probabilities of classes --------------------------------------------------------------------

UNKNOWN_SCORES = (
    "The quality of the probabilities is not known: it needs single rows, which are not here. "
    "Model files and files of sites have none, and rows of an engine stay there."
)


def scores_in_words(means: Mapping[str, float | None] | None) -> str:
    """Say how good the probabilities of classes are, from scores averaged over datasets."""
    if means is None:
        return UNKNOWN_SCORES
    log_loss, brier, auc = score_texts(means)
    return (
        f"Probabilities on held-out rows, averaged over datasets: log loss {log_loss}, Brier score "
        f"{brier}, AUC {auc}."
    )


def score_texts(scores: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return log loss, Brier score and AUC as text."""
    area = finite(scores["auc"])
    return (
        f"{scores['log_loss']:.4g}",
        f"{scores['brier']:.4g}",
        "none" if area is None else f"{area:.3f}",
    )


def brier_note(classes: int) -> str:
    """Say what the Brier score is."""
    kind = "of one of the two classes" if classes == 2 else "summed over the classes"
    return f"Brier score: mean squared difference between probability and outcome, {kind}."


def shares_in_words(shares: Mapping[str, float | None]) -> str:
    """Return the share of each class in the rows of a dataset."""
    parts = (f"{label} {100 * (x or 0.0):.0f} %" for label, x in shares.items())
    return f"Shares of classes: {', '.join(parts)}."


def log_odds_note(classes: Sequence[Any]) -> str:
    """Say what coefficients of two classes are."""
    first, second = classes
    return f"Coefficients add to the log-odds of {second!r} against {first!r}."


def bin_in_words(b: Facts, positive: str | None) -> list[str]:
    """Say what a dot of the calibration shows, line by line; `positive` is the class predicted."""
    low, high = (share(end) for end in b["interval"])
    what = "a class" if positive is None else f"'{positive}'"
    return [
        f"{share(b['predicted'])} predicted for {what}",
        f"{share(b['observed'])} came true, between {low} and {high}",
        f"{b['rows']:,} {'rows' if positive is not None else 'predictions'}",
    ]


# --- two datasets --------------------------------------------------------------------------------


def comparison_in_words(facts: Facts, a: str, b: str) -> str:
    """Say whether to join two datasets, what that brings and how sure it is."""
    measure = measure_of(facts["family"])
    first = {
        "join": f"Join {a} and {b}",
        "apart": f"Keep {a} and {b} apart",
        "undecided": f"Undecided on {a} and {b}",
    }[facts["verdict"]]
    joined, separate = (error_text(facts[f"shown_{how}"]) for how in ("joined", "separate"))
    learned = facts["learner"] != "linear"
    first += f" with {facts['learner']}" * learned
    found = [
        f"{first}: joining {effect(facts['gain'], None, measure)}"
        f"{_ends(facts['interval'], facts['delta'])}.",
        f"The {measure.short} is {joined} joined and {separate} separate{_validated(facts)}.",
        *_chosen_learner(facts, measure),
    ]
    if learned:
        return " ".join([*found, *_learner_reasons(facts)])
    if facts["few_rows_decide"]:
        found.append(
            "A few rows with extreme values carry these fits, so the gain on new rows can be "
            "larger than the rows at hand show."
        )
    guess = "join them" if facts["join"] else "keep them apart"
    if facts["verdict"] == "undecided":
        found.append(_more_rows(facts))
        found.append(f"The better guess (method {facts['method']}) is to {guess}.")
    elif facts["join"] != (facts["verdict"] == "join") or facts["method"] != "risk":
        score = "unknown" if facts["score"] is None else f"{facts['score']:+.3f}"
        found.append(f"Method {facts['method']} says to {guess} (score {score}).")
    return " ".join(found)


def _validated(facts: Facts) -> str:
    """Say how errors were found, unless they are those that the gain is the difference of."""
    if not facts["folds"]:
        return "" if facts["family"] == "gaussian" else " on held-out rows"
    share = 100 * (1 - 1 / facts["folds"])
    times = f", repeated {facts['repeats']} times" if facts["repeats"] > 1 else ""
    return (
        f" ({facts['folds']}-fold cross-validation{times}: models trained on {share:.0f} % of the "
        "rows)"
    )


def _chosen_learner(facts: Facts, measure: Measure) -> list[str]:
    """Say which learner was chosen, if there was a choice."""
    errors = facts["learner_errors"]
    if not errors:
        return []
    chosen = facts["learner"]
    others = ", ".join(f"{error_text(e)} with {n}" for n, e in errors.items() if n != chosen)
    return [
        f"The learner is {chosen} because its cross-validated {measure.short} is lower: "
        f"{error_text(errors[chosen])}, {others}."
    ]


def _learner_reasons(facts: Facts) -> list[str]:
    """Say why held-out rows of a learner leave it undecided, and what the better guess is."""
    few = ["A few rows carry most of the difference, so the interval is wide."]
    found = few if facts["few_rows_decide"] and not facts["reason"] else []
    if facts["verdict"] != "undecided":
        return found
    guess = "join them" if facts["join"] else "keep them apart"
    why = facts["reason"] or "The interval contains zero, so these rows cannot settle it."
    return [*found, why, f"The better guess is to {guess}."]


def _ends(interval: Sequence[float | None], delta: float) -> str:
    """Return the interval of a gain; each of its ends holds with the confidence of the level."""
    low, high = interval
    sure = f"with {100 * (1 - delta):g} % confidence"
    if low is not None and high is not None:
        return f" (gain between {low:+.4g} and {high:+.4g}, each end {sure})"
    if low is not None:
        return f" (gain at least {low:+.4g} {sure})"
    return "" if high is None else f" (gain at most {high:+.4g} {sure})"


def _more_rows(facts: Facts) -> str:
    """Say how many more rows would settle an undecided comparison."""
    factor = facts["rows_to_settle"]
    if factor is None and facts["family"] == "logistic":
        return "One of them has too few rows of a class for a verdict."
    if factor is None:
        return "Even a thousand times the rows would not settle it."
    more = [math.ceil((factor - 1) * facts["models"][side]["rows"]) for side in ("a", "b")]
    return (
        f"About {factor:.1f} times the rows would settle it ({more[0]:,} more of the first, "
        f"{more[1]:,} more of the second)."
    )


# --- the page ------------------------------------------------------------------------------------


def title_of(target: str) -> str:
    """Return the title of a page that was given none."""
    return f"Which datasets to train together: {target}"


def rows_drawn(rows: int, taught: int, used: int) -> str:
    """Say which rows the picture of a representation shows."""
    if used == rows:
        return f"all {rows:,} rows"
    return (
        f"all {rows:,} rows, including the {taught:,} that trained the features; the models and "
        f"tables on this page use the other {used:,}"
    )
