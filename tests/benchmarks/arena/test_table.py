from pathlib import Path

import pandas as pd
import pytest

from benchmarks.arena import table
from benchmarks.arena.classification.side import PAGE as CLASSIFICATION_PAGE
from benchmarks.arena.learners import SHOWN
from benchmarks.arena.regression.side import PAGE as REGRESSION_PAGE
from benchmarks.arena.results import read_results
from benchmarks.arena.sides import SIDES
from benchmarks.arena.table import render, score, summarise

ROOT = Path(__file__).resolve().parents[3]
HEAD = {"set": "made", "share": 0.5, "seed": 0, "seconds": 1.0}
ROWS = [
    {**HEAD, "contestant": "separate", "error": 0.5, "note": None},
    {**HEAD, "contestant": "pooled", "error": 0.4, "note": None},
    {**HEAD, "contestant": "binary", "error": None, "note": "NotImplementedError: two classes"},
    {**HEAD, "contestant": "broken", "error": None, "note": "ValueError: no"},
]


def test_failures_are_listed_and_sets_that_are_not_run_are_blank() -> None:
    page = render(score(pd.DataFrame(ROWS)), CLASSIFICATION_PAGE)
    assert "| made | 0.5 | pooled | **1.000** | 1.250 |  | failed |" in page
    assert "`broken` on made" in page and "`binary` on made" not in page
    assert "log loss" in page and "MSE" not in page


def test_the_relative_error_is_averaged_over_seeds() -> None:
    second = [{**row, "seed": 1, "error": error} for row, error in zip(ROWS, (0.9, 0.6))]
    scores = score(pd.DataFrame([*ROWS[:2], *second]))
    assert scores.reference.tolist() == ["pooled"]
    assert scores.relative["separate"].tolist() == [pytest.approx((0.5 / 0.4 + 0.9 / 0.6) / 2)]
    summary = summarise(scores, ["separate"]).set_index("contestant")
    assert summary.loc["pooled", "regret"] == pytest.approx(1 / 1.375)


def test_a_contestant_without_all_seeds_has_no_cell() -> None:
    second = [{**row, "seed": 1} for row in ROWS[:2]]
    other = {**HEAD, "contestant": "new", "error": 0.3, "note": None}
    scores = score(pd.DataFrame([*ROWS[:2], *second, other]))
    assert scores.relative["new"].isna().all()


def test_missing_references_and_unknown_strategies_are_named() -> None:
    with pytest.raises(ValueError, match="pooled"):
        score(pd.DataFrame(ROWS[:1]))
    with pytest.raises(ValueError, match="nonsense"):
        summarise(score(pd.DataFrame(ROWS)), ["nonsense"])


def test_regression_has_no_other_references() -> None:
    assert table.other_references(pd.DataFrame(ROWS), REGRESSION_PAGE, ()) == ""


@pytest.mark.parametrize(
    ("side", "page"),
    [("regression", "docs/arena.md"), ("classification", "docs/classification-arena.md")],
)
def test_pages_of_the_documentation_are_written_from_the_stored_results(
    tmp_path: Path, side: str, page: str
) -> None:
    single = ("separate", "pooled", "clusters", "intercept", "slopes", "partial", "full", "mixture")
    strategies = ",".join(f"conjoin-{name}" for name in single)
    output = tmp_path / "page.md"
    assert table.main([side, "--strategies", strategies, "--output", str(output)]) == 0
    assert output.read_text(encoding="utf-8") == (ROOT / page).read_text(encoding="utf-8")


def test_the_page_on_learners_is_written_from_the_stored_results(tmp_path: Path) -> None:
    output = tmp_path / "page.md"
    asked = ["--contestants", ",".join(SHOWN), "--seeds", "0", "--common", "--hindsight"]
    asked += ["--without", "parkinsons_total", "parkinsons_motor"]
    assert table.main(["regression", *asked, "--output", str(output)]) == 0
    page = ROOT / "docs" / "learners-arena.md"
    assert output.read_text(encoding="utf-8") == page.read_text(encoding="utf-8")


def test_a_table_without_some_sets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = tmp_path / "results.csv"
    more = [{**row, "set": "other", "error": row["error"] and 2.0} for row in ROWS]
    pd.DataFrame([*ROWS, *more]).to_csv(stored, index=False)
    asked = ["regression", "--results", str(stored), "--contestants", "all"]
    table.main(asked)
    first = capsys.readouterr().out
    table.main([*asked, "--without", "other"])
    printed = capsys.readouterr().out
    assert printed.startswith(first)
    assert "## Without `other`" in printed[len(first) :]
    assert "| pooled | 1.000 |" in printed[len(first) :]


def test_trees_are_shown_where_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stored = tmp_path / "results.csv"
    tree = {**HEAD, "contestant": "lightgbm-named", "error": 0.2, "note": None}
    later = [{**row, "seed": 1} for row in ROWS[:2]]
    pd.DataFrame([*ROWS, tree, *later]).to_csv(stored, index=False)
    asked = ["regression", "--results", str(stored), "--seeds", "0"]
    table.main(asked)
    assert "lightgbm-named" not in capsys.readouterr().out
    table.main([*asked, "--contestants", "all"])
    printed = capsys.readouterr().out
    assert "| made | 0.5 | pooled | **0.500** | 1.000 | 1.250 |  | failed |" in printed
    assert "regret to all" not in printed
    with pytest.raises(ValueError, match="nobody"):
        table.main([*asked, "--contestants", "nobody"])


def test_regret_to_all_compares_with_contestants_that_are_not_shown() -> None:
    tree = {**HEAD, "contestant": "lightgbm-named", "error": 0.2, "note": None}
    scores = score(pd.DataFrame([*ROWS[:2], tree]))
    shown = table.choose(scores, "lines")
    assert shown == ["separate", "pooled"]
    summary = summarise(scores, shown=shown, hindsight=True).set_index("contestant")
    assert summary.loc["pooled", "regret"] == pytest.approx(1)
    assert summary.loc["pooled", "regret to all"] == pytest.approx(2)
    assert summary.loc["separate", "worst regret to all"] == pytest.approx(2.5)
    assert "that are not on this page" in render(scores, REGRESSION_PAGE, (), shown, True)


def test_common_cells_are_those_that_all_shown_have() -> None:
    other = [{**row, "set": "other"} for row in ROWS[:2]]
    tree = {**HEAD, "contestant": "lightgbm-named", "error": 0.2, "note": None}
    scores = score(pd.DataFrame([*ROWS[:2], *other, tree]))
    assert len(table.common(scores, ["separate"]).relative) == 2
    left = table.common(scores, ["separate", "lightgbm-named"])
    assert left.relative.index.tolist() == left.reference.index.tolist() == [("made", 0.5)]


def test_the_default_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert table.main(["regression"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"# {REGRESSION_PAGE.title}\n")
    scores = score(read_results(SIDES["regression"].results))
    assert printed == render(scores, REGRESSION_PAGE, (), table.choose(scores, "lines"))
