"""One number, one name: what terminal, JSON, page and notebook show under a name is the same."""

import json
import re
from functools import cache
from html.parser import HTMLParser

import pytest

import conjoin
from conjoin.cli import show
from conjoin.cli.show import show_dataset, show_json, show_partition
from conjoin.report.facts import dataset_facts, facts
from conjoin.report.html import render
from conjoin.report.notebook import notebook_view
from scripts.golden_report import FOLDER
from tests.report import results

PRINTED = 6e-4  # relative: the page shows four digits, the terminal up to five
FRAMES = ("clusters", "datasets", "strategies", "verdicts")
ROUNDED = 0.006  # absolute: weights have two decimals


@cache
def golden(name):
    return results.counts() if name == "counts" else conjoin.load(FOLDER / f"{name}.json")


CASES = ["model", "classes", "counts"]


class Tables(HTMLParser):
    """Tables of a page, by id or class: a list of rows, each a dict of head to text."""

    def __init__(self, text):
        super().__init__()
        self.found, self.rows, self.cell, self.hidden = {}, None, None, 0
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "table":
            name = attrs.get("id") or attrs.get("class") or str(len(self.found))
            self.rows = self.found[name] = []
        elif tag == "tr" and self.rows is not None:
            self.rows.append([])
        elif tag in ("td", "th") and self.rows is not None:
            self.cell = []
        elif tag == "span" and attrs.get("class") in ("words", "badge", "why", "soft"):
            self.hidden += 1
        elif tag == "span" and self.hidden:
            self.hidden += 1

    def handle_endtag(self, tag):
        if tag == "span" and self.hidden:
            self.hidden -= 1
        elif tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append("".join(self.cell).strip())
            self.cell = None
        elif tag == "table":
            self.rows = None

    def handle_data(self, data):
        if self.cell is not None and not self.hidden:
            self.cell.append(data)

    def __getitem__(self, name):
        head, *rows = self.found[name]
        return [dict(zip(head, row)) for row in rows]


def printed_tables(text):
    """Tables that the terminal shows, by title: a list of rows, each a dict of head to text."""
    found, lines = {}, text.splitlines()
    for i, line in enumerate(lines):
        if not re.fullmatch("[─-]{10,}", line):
            continue
        names = [(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+(?: \S+)*", lines[i - 1])]
        starts, ends, heads = zip(*names)
        rows = found[lines[i - 2]] = []
        for row in lines[i + 1 :]:
            cells = [(m.start(), m.end(), m[0]) for m in re.finditer(r"\S+(?: \S+)*", row)]
            overlap = {
                head: next((c for s, e, c in cells if s < b and e > a), "")
                for head, a, b in zip(heads, starts, ends)
            }
            wide = any(sum(s < b and e > a for a, b in zip(starts, ends)) > 1 for s, e, _ in cells)
            if wide or not overlap[heads[0]] or row.startswith("..."):
                break  # a note below the table, or its end
            rows.append(overlap)
    return found


def value(text):
    """The number that a printed text starts with; words stay words."""
    found = re.match(r"[−+-]?[\d,]+(?:\.\d+)?(?:e[+-]?\d+)?", text)
    return float(found[0].replace(",", "").replace("−", "-")) if found else text


def agree(name, *texts):
    numbers = [value(text) if isinstance(text, str) else text for text in texts]
    for other in numbers[1:]:
        if isinstance(numbers[0], str) or isinstance(other, str):
            assert numbers[0] == other, name
        else:
            assert other == pytest.approx(numbers[0], rel=PRINTED, abs=1e-9), name


@pytest.fixture(params=CASES)
def faces(request, capsys, monkeypatch):
    monkeypatch.setattr(show, "PLAIN_WIDTH", 160)  # no name is folded
    result = golden(request.param)
    show_partition(result)
    terminal = capsys.readouterr().out
    show_json(facts(result))
    found = json.loads(capsys.readouterr().out)
    page = render(facts(result, details=True))
    return result, terminal, found, page, notebook_view(result)


def test_the_verdict_and_the_cautions(faces):
    _, terminal, found, page, notebook = faces
    assert terminal.splitlines()[0] == found["verdict"] == " ".join(found["sentences"])
    plain = page.replace("&#39;", "'")
    assert all(sentence in plain for sentence in found["sentences"])
    assert found["verdict"] in notebook.replace("&#x27;", "'")
    for text in found["cautions"]:
        assert text in " ".join(terminal.split())
        assert text in plain
        assert text in notebook


def test_strategies(faces):
    _, terminal, found, page, notebook = faces
    title = f"Strategies ('{found['strategy']}' is used)"
    printed = {row["strategy"]: row for row in printed_tables(terminal)[title]}
    shown = {row["strategy"]: row for row in Tables(page)["strategies"]}
    cells = {row["strategy"]: row for row in Tables(notebook)["0"]}
    assert set(printed) == set(shown) == set(cells) == set(found["strategies"])
    assert list(printed) == list(shown) == list(cells)
    for name, line in found["strategies"].items():
        three = (printed[name], shown[name], cells[name])
        head = next(h for h in three[0] if h.startswith(("error", "log loss", "half deviance")))
        agree((name, head), line["shown"], *(row[head] for row in three))
        agree((name, "behind"), *(row["behind the best"] for row in three[:2]))
        if isinstance(value(three[0]["behind the best"]), float):
            at = value(three[0]["behind the best"])
            digits = 1 if "." in three[0]["behind the best"] else 0
            assert at == round(line["percent"], digits)
        agree((name, "weight"), *(row["weight in auto"] for row in three))
        assert (value(three[0]["weight in auto"]) or 0.0) == (
            "< 0.01" if 0 < (line["weight"] or 0) < 0.005
            else pytest.approx(line["weight"] or 0.0, abs=ROUNDED)
        )  # fmt: skip


def test_clusters(faces):
    _, terminal, found, page, notebook = faces
    printed = printed_tables(terminal)["Clusters, one model each"]
    shown, cells = Tables(page)["cluster-table"], Tables(notebook)["1"]
    assert len(printed) == len(shown) == len(cells) == len(found["clusters"])
    for one, a, b, c in zip(found["clusters"], printed, shown, cells):
        agree("number", one["number"], a["cluster"], b["cluster"], c["cluster"])
        assert a["datasets"] == b["members"] == c["datasets"] == ", ".join(one["datasets"])
        agree("rows", one["rows"], a["rows"], b["rows"])
        known = ("cluster", "datasets", "rows", "when resampled")
        error = [text for head, text in a.items() if head not in known]
        agree("error", one["shown"], *error, b["cluster's model"])


def test_datasets(faces, capsys):
    result, terminal, found, page, _ = faces
    shown = {row["dataset"]: row for row in Tables(page)["dataset-table"]}
    for name, line in found["datasets"].items():
        explained = dataset_facts(result, name)
        show_dataset(explained)
        printed = printed_tables(capsys.readouterr().out)["Errors on its held-out rows"]
        errors = {row["model"]: list(row.values())[1] for row in printed}
        used = errors.pop(f"in use (strategy '{found['strategy']}')")
        agree((name, "in use"), line["shown"], used, shown[name]["in use"],
              explained["models"]["in_use"]["shown"])  # fmt: skip
        heads = {
            "own": "own model, borrowing strength",
            "separate": "separate model, borrowing nothing",
            "cluster": "cluster's model",
            "others": "others' model",
            "all": "model for all",
        }
        if "separate" not in explained["models"]:  # files of older versions lack it
            del heads["separate"]
            assert "separate model, borrowing nothing" not in shown[name]
        assert list(errors) == list(heads.values())
        for (head, text), key in zip(errors.items(), heads):
            agree((name, head), explained["models"][key]["shown"], text, shown[name][head])
        agree((name, "rows"), line["rows"], explained["rows"], shown[name]["rows"])
        agree((name, "cluster"), line["number"], explained["number"], shown[name]["cluster"])


def test_probabilities(faces):
    _, terminal, found, page, notebook = faces
    if "classes" not in found:
        assert "score-table" not in Tables(page).found
        return
    title = f"Probabilities on held-out rows ('{found['strategy']}' is used)"
    printed = {row["dataset"]: row for row in printed_tables(terminal)[title]}
    shown = {row["dataset"]: row for row in Tables(page)["score-table"]}
    heads = {"log_loss": "log loss", "brier": "Brier score", "auc": "AUC"}
    for name, line in found["datasets"].items():
        for key, head in heads.items():
            agree((name, head), line["scores"][key], printed[name][head], shown[name][head])
    for key, head in heads.items():
        agree(head, found["scores"][key], printed["mean of datasets"][head])
        about = notebook[notebook.index("Probabilities on held-out rows") :]
        said = re.search(rf"{head} ([\d.]+\d)", about)[1]
        assert float(said) == pytest.approx(found["scores"][key], abs=6e-4)
        on_page = re.search(rf"<dt>{head}</dt><dd>([^<]+)</dd>", page)[1]
        assert float(on_page) == pytest.approx(found["scores"][key], abs=6e-4)


def test_joins(faces):
    _, terminal, found, page, _ = faces
    merges = [row for name, rows in Tables(page).found.items() if name.isdigit()
              for row in rows if row[-1].startswith(("Joined", "Kept apart"))]  # fmt: skip
    on_page = {frozenset(row[:2]): row for row in merges}
    printed = printed_tables(terminal)["Ledger of joins"]
    assert len(printed) == min(len(found["ledger"]), 12)
    shared = 0
    for line, row in zip(found["ledger"], printed):
        sides = (", ".join(line["left"]), ", ".join(line["right"]))
        assert (row["join"], row["with"]) == sides
        agree((sides, "gain"), line["gain"], row["gain"])
        ends = [value(end) for end in row["interval"].split(" to ")]
        if None not in line["interval"]:
            assert ends == pytest.approx(line["interval"], rel=6e-3)
            inside = line["interval"][0] <= line["gain"] <= line["interval"][1]  # not in old files
            assert (ends[0] <= value(row["gain"]) <= ends[1]) is inside
        assert row["verdict"] == line["verdict"] + " *" * line["holds_for_all"]
        assert row["decision and reason"] == line["why"]
        if frozenset(sides) in on_page:
            shared += 1
            agree((sides, "gain"), line["gain"], on_page[frozenset(sides)][3])
            said = re.search(r"\((.+) to (.+)\)", on_page[frozenset(sides)][3])
            for end, text in zip(line["interval"], said.groups() if said else ()):
                agree((sides, "interval"), end, text)
            assert on_page[frozenset(sides)][4] == line["verdict"]
            assert on_page[frozenset(sides)][-1] == line["reason"]
    assert shared >= sum(line["joined"] for line in found["ledger"])


def test_explain_has_the_lines_of_the_ledger(faces):
    """What a dataset's own join says is the line that joined it first; others are no lines."""
    result, _, found, _, _ = faces
    for name in found["datasets"]:
        first = next((m for m in found["ledger"] if name in m["left"] + m["right"]), None)
        for line in dataset_facts(result, name)["alternatives"]:
            if not line["own"] or first is None or not first["joined"]:
                continue
            for key in ("gain", "interval", "verdict", "change", "change_standard_error", "why"):
                assert line[key] == first[key], (name, key)


def test_frames_have_the_numbers_of_json(faces):
    result, _, found, _, _ = faces
    parts = {what: result.to_frame(what).to_dict("records") for what in FRAMES}
    for row, one in zip(parts["clusters"], found["clusters"], strict=True):
        assert (row["rows"], row["error"], row["shown"]) == (
            one["rows"],
            one["error"],
            one["shown"],
        )
    for row in parts["datasets"]:
        one = found["datasets"][row["dataset"]]
        assert (row["error"], row["shown"]) == (one["error"], one["shown"])
    for row in parts["strategies"]:
        one = found["strategies"][row["strategy"]]
        assert (row["error"], row["shown"]) == (one["error"], one["shown"])
        assert [row["low"], row["high"]] == pytest.approx(one["interval"], nan_ok=True)
    for row, one in zip(parts["verdicts"], found["ledger"], strict=True):
        assert (row["verdict"], row["gain"], row["why"]) == (
            one["verdict"],
            one["gain"],
            one["why"],
        )
    flat = result.metrics()
    used = found["strategies"][found["strategy"]]
    assert (flat["error"], flat["shown"]) == (used["error"], used["shown"])
