"""Verdicts of the ledger by the learner itself: which lines, and the same number everywhere."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import conjoin
from conjoin.cli.main import app
from conjoin.cli.show import show_partition
from conjoin.criterion.paired import PairedVerdict
from conjoin.engine import learner_verdicts
from conjoin.engine.analysed import OF_LEARNER
from conjoin.engine.learner_verdicts import Judged, LearnerJudge, judged_lines
from conjoin.grouping.merge import rehung
from conjoin.report.facts import dataset_facts, facts
from conjoin.report.notebook import notebook_view
from conjoin.result.values import CROSS_VALIDATION, NOT_JUDGED, THEORY, sides_of
from conjoin.strategies import reference
from tests.bent import QUICK, bent_tables

pytestmark = pytest.mark.learner


@pytest.fixture(scope="module")
def result(learned):
    """Six datasets of one law with levels; boosted trees are better than lines by far."""
    return learned


@pytest.fixture(scope="module")
def pair():
    """Two datasets of one law."""
    return conjoin.partition(bent_tables(datasets=2), target="y", learner=QUICK)


@pytest.fixture(scope="module")
def saved(result, tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "model.json"
    result.save(path)
    return path


def numbers(line):
    return line.left, line.right, line.verdict, line.gain, line.interval, line.judged_by


def test_lines_are_judged_by_the_learner(result):
    assert result.learner == "boosting"
    lines = result.ledger()
    assert len(lines) == 5 and {line.judged_by for line in lines} == {CROSS_VALIDATION}
    first = lines[0]
    assert first.verdict == "join" and first.interval[0] < first.gain < first.interval[1]
    assert first.validated_change == -first.gain and first.standard_error > 0
    assert 0 < first.p_value <= first.adjusted_p < 0.1
    assert {line.judged_by for line in result.linear.ledger()} == {THEORY}


def test_the_gain_is_that_of_models_apart_and_together(result):
    """The same by hand: losses of held-out rows, each dataset counts the same."""
    judge = result.analysis.judge()
    line = max(result.ledger(), key=lambda line: len(line.left) + len(line.right))
    one, two = (tuple(sorted(int(name[1:]) for name in side)) for side in (line.left, line.right))
    judge.on_pairs([(one, two)])
    total = 0.0
    for k in (*one, *two):
        own = judge.rows.dataset == k
        group = one if k in one else two
        errors = []
        for members in (group, tuple(sorted(one + two))):
            rows = judge.rows.dataset[np.isin(judge.rows.dataset, members)]
            errors.append(float(np.mean(judge._known[members][rows == k])))
        assert own.sum() == 80
        total += errors[0] - errors[1]
    assert line.gain == pytest.approx(total / len(one + two))


def test_it_is_computed_once_and_only_when_asked_for(pair, monkeypatch):
    asked = []
    judge = LearnerJudge.judge
    monkeypatch.setattr(
        LearnerJudge, "judge", lambda self, *args: asked.append(1) or judge(self, *args)
    )
    found = replace(pair.analysis, _found={}).using("auto")
    assert found.errors and str(found) and notebook_view(found) and not asked
    seen = []
    found.ledger(1, lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    facts(found)
    found.using("corrected").ledger()
    assert len(asked) == 1


def test_separate_models_of_datasets_are_those_of_the_headline(result):
    errors = {name: one.error for name, one in result.errors.items()}
    details, name = result.analysis.details, reference(errors, "separate")
    assert np.average(details.errors["separate"], weights=details.weights) == pytest.approx(
        errors[name]
    )


def test_every_face_shows_the_same_number(result, saved, capsys):
    lines = result.ledger()
    shown = facts(result, details=True)
    for line, plain in zip(lines, shown["ledger"]):
        assert (plain["gain"], plain["verdict"]) == (line.gain, line.verdict)
        assert plain["interval"] == list(line.interval)
        assert (plain["judged_by"], plain["change"]) == (CROSS_VALIDATION, -line.gain)
    merges = {(m["left"], m["right"]): m for m in shown["details"]["tree"]["merges"]}
    first = lines[0]
    merge = merges[(", ".join(first.left), ", ".join(first.right))]
    assert (merge["gain"], merge["judged_by"]) == (first.gain, CROSS_VALIDATION)
    found = result.analysis.details.map
    place = [found.groups.index((int(side[0][1:]),)) for side in (first.left, first.right)]
    assert found.gain[tuple(place)] == found.gain[tuple(reversed(place))] == first.gain
    assert list(map(numbers, conjoin.load(saved).ledger())) == list(map(numbers, lines))
    again = pickle.loads(pickle.dumps(result))
    assert list(map(numbers, again.ledger())) == list(map(numbers, lines))
    show_partition(result)
    printed = capsys.readouterr().out
    assert f"{first.gain:+.4g}" in printed and "(theory)" not in printed
    assert "boosted trees trained on the two sides apart and together" in " ".join(printed.split())


def test_the_page_says_who_judged(result, tmp_path):
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "judged by" in page and "<td>cross-validation</td>" in page
    assert "Pairs of the map that are no merge of the tree are judged by theory." in page


def test_explain_says_who_judged(result, saved, pair):
    name = result.clusters[0][0]
    own = result.explain(name)[0]
    line = next(line for line in result.ledger() if (name,) in (line.left, line.right))
    assert (own.verdict, own.gain, own.judged_by) == (line.verdict, line.gain, CROSS_VALIDATION)
    assert {(name,), own.others} == {line.left, line.right}
    told = CliRunner().invoke(app, ["explain", str(saved), name])
    assert told.exit_code == 0 and "(theory)" not in told.output
    words = " ".join(told.output.split())
    assert f"It came to them by a join with {', '.join(own.others)}." in words
    plain = json.loads(CliRunner().invoke(app, ["explain", str(saved), name, "--json"]).stdout)
    assert plain["alternatives"][0]["judged_by"] == CROSS_VALIDATION
    line, own = pair.ledger()[0], pair.explain("d1")[0]
    assert (own.verdict, own.gain, own.judged_by) == (line.verdict, line.gain, CROSS_VALIDATION)
    assert "verdict: join (cross-validation of the learner)" in dataset_facts(pair, "d1")["reason"]


def test_lines_beyond_the_bounds_are_labelled(result, monkeypatch, capsys):
    analysis = result.analysis
    fresh = replace(analysis, _found={}).using("auto")
    monkeypatch.setattr(learner_verdicts, "MOST_JUDGED", 2)
    lines = fresh.ledger()
    assert [line.judged_by for line in lines] == [CROSS_VALIDATION] * 2 + [THEORY] * 3
    show_partition(fresh)
    assert "(theory)" in capsys.readouterr().out
    monkeypatch.setattr(learner_verdicts, "MOST_ROWS", 400)
    few = replace(analysis, _found={}).using("auto")
    assert [line.judged_by for line in few.ledger()].count(CROSS_VALIDATION) == 1


def test_clusters_of_the_learner_have_no_verdicts_by_theory(result, monkeypatch, capsys):
    analysis = result.analysis
    main = replace(
        analysis.main, origin=replace(analysis.main.origin, grouping=OF_LEARNER), _found={}
    )
    monkeypatch.setattr(learner_verdicts, "MOST_JUDGED", 2)
    fresh = replace(analysis, main=main, corrected=main, _found={}).using("auto")
    rest = fresh.ledger()[2:]
    assert {(line.judged_by, line.verdict) for line in rest} == {(NOT_JUDGED, "undecided")}
    assert all(math.isnan(line.gain) for line in rest)
    assert facts(fresh)["ledger"][-1]["why"] == "joined: one model is best"
    show_partition(fresh)
    assert "not judged" in capsys.readouterr().out


def test_a_join_that_does_harm_is_asked_again_against_the_whole_cluster(result, monkeypatch):
    """The first pair is said to do harm; the smaller side then comes last."""
    judge, steps = result.analysis.judge(), result.analysis.main.steps
    first = next(step for step in steps if step.joined)
    harm = PairedVerdict("apart", -1.0, (-2.0, -0.5), 0.01, 0.1)
    good = PairedVerdict("join", 1.0, (0.5, 2.0), 0.01, 0.1)

    def say(self, asked, progress=None):
        return {sides_of(s): harm if sides_of(s) == sides_of(first) else good for s in asked}

    monkeypatch.setattr(LearnerJudge, "judge", say)
    found = judge.settle(steps)
    joined = [step for step in found.steps if step.joined]
    assert len(joined) == len(steps) and joined[-1].right == first.left
    assert {found.verdicts[sides_of(step)].verdict for step in joined} == {"join"}
    whole = {name for step in joined for name in (*step.left, *step.right)}
    assert {*joined[-1].left, *joined[-1].right} == whole


def test_joins_in_another_order_have_no_verdict_by_theory(result):
    steps = result.analysis.main.steps
    order = rehung(steps, steps[0].left)
    good = PairedVerdict("join", 1.0, (0.5, 2.0), 0.01, 0.1)
    judged = Judged(order, {sides_of(order[0]): good})
    fresh = replace(result.analysis, judge=None, _found={"judged": judged}).using("auto")
    kept = {sides_of(step) for step in steps}
    lines = fresh.ledger()
    assert lines[0].judged_by == CROSS_VALIDATION
    for line in lines[1:]:
        assert line.judged_by == (THEORY if sides_of(line) in kept else NOT_JUDGED)
    assert lines[-1].judged_by == NOT_JUDGED
    assert math.isnan(lines[-1].p_value)
    assert math.isnan(lines[-1].adjusted_p)
    assert not math.isnan(lines[0].adjusted_p)
    assert facts(fresh)["ledger"][-1]["change"] is None


def test_sides_with_too_few_rows_are_undecided():
    tables = bent_tables(datasets=4, n=100)
    tables["d2"] = {name: values[:20] for name, values in tables["d2"].items()}
    tables["d3"] = {name: values[:7] for name, values in tables["d3"].items()}
    found = conjoin.partition(tables, target="y", learner=QUICK)
    for line in found.ledger():
        few = {name for side in (line.left, line.right) for name in side if len(side) == 1}
        if few & {"d2", "d3"}:
            assert line.verdict == "undecided" and line.interval == (-math.inf, math.inf)
            assert line.p_value == 1.0
        if "d3" in few:
            assert math.isnan(line.gain)
    assert any(line["too_few_rows"] for line in facts(found)["ledger"])


@pytest.mark.parametrize("kind", ["class", "count"])
def test_classes_and_counts(kind):
    rng, tables = np.random.default_rng(0), {}
    for name, table in bent_tables(datasets=2, n=150).items():
        mean = np.asarray(table["y"])
        y = np.where(mean > 0, "yes", "no")
        tables[name] = {**table, "y": y if kind == "class" else rng.poisson(np.exp(mean / 2))}
    family = {"class": "logistic", "count": "poisson"}[kind]
    found = conjoin.partition(tables, target="y", learner=QUICK, family=family)
    assert found.learner == "boosting"
    assert {line.judged_by for line in found.ledger()} == {CROSS_VALIDATION}
    assert found.ledger()[0].gain > 0


def test_order_of_rows_and_datasets_changes_nothing(pair):
    tables = bent_tables(datasets=2)
    order = np.random.default_rng(3).permutation(80)
    mixed = {
        name: {column: np.asarray(values)[order] for column, values in tables[name].items()}
        for name in reversed(list(tables))
    }
    other = conjoin.partition(mixed, target="y", learner=QUICK)
    expected = {sides_of(line): line.gain for line in pair.ledger()}
    found = {sides_of(line): line.gain for line in other.ledger()}
    assert found.keys() == expected.keys()
    for sides, gain in expected.items():
        assert found[sides] == pytest.approx(gain, rel=1e-9)


def test_adjusted_p_values_are_of_all_lines_together(result):
    analysis = result.analysis
    lines = judged_lines(
        analysis.main.ledger(None),
        analysis._judged().verdicts,
        len(analysis.steps),
        analysis._by_theory,
    )
    p = sorted(line.p_value for line in lines)
    assert min(line.adjusted_p for line in lines) == pytest.approx(min(len(p) * p[0], 1.0))


@pytest.mark.filterwarnings("ignore::conjoin.errors.ConjoinWarning")
def test_rows_in_time_are_judged_by_stretches_of_time():
    """Small datasets have no rows before the first origin, and one has a single day."""
    rng = np.random.default_rng(0)
    parts = []
    for k, table in enumerate(bent_tables(datasets=6).values()):
        days = np.arange(len(table["y"])) if k else np.full(len(table["y"]), 79)
        parts.append({**table, "day": days + 20 * (k == 1), "by": np.full(len(days), f"d{k}")})
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    order = rng.permutation(len(columns["y"]))
    rows = {name: values[order] for name, values in columns.items()}
    found = conjoin.partition(rows, target="y", by="by", time="day", learner=QUICK)
    lines = found.ledger()
    judged = [line for line in lines if line.judged_by == CROSS_VALIDATION]
    assert judged and all(math.isfinite(line.gain) for line in judged if "d0" not in line.left)
    dealt = found.analysis.judge().dealt
    assert dealt.unit is not None and len(dealt.fold) == 1
