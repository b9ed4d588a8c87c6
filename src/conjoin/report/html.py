"""The page: plain values through a template into one self-contained HTML text.

The dict of `facts(result, details=True)` enters, HTML leaves. Everything from the data goes through
autoescaping, or as JSON into a block that is never run. The page's policy allows its one script, by
hash, and nothing from elsewhere.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conjoin.files import path_of, write_text
from conjoin.report import cautions, common_model, figures, panels, representation, wording
from conjoin.report.course import course_figure
from conjoin.report.facts import facts
from conjoin.report.learners import judged_note
from conjoin.report.numbers import number, p_value, share, signed, unsigned
from conjoin.report.strategies import ON_THESE_ROWS
from conjoin.result.values import NOT_JUDGED

if TYPE_CHECKING:
    from conjoin.result.partition import Partition

TEMPLATES = "conjoin.report"
DIGITS = 3  # significant ones of gains in the block for the script, which shows no more


def write_report(result: "Partition", path: str | Path, *, title: str | None = None) -> None:
    """Write the page of a result to a file, whole or not at all."""
    write_text(path_of(path, "path"), render(facts(result, details=True), title=title))


def render(found: Mapping[str, Any], *, title: str | None = None) -> str:
    """Return the page that plain values (`facts(result, details=True)`) make."""
    environment = _environment()
    details, sentences = found["details"], found["sentences"]
    text = environment.get_template("report.html").render(
        {
            **found,
            **details,
            "title": title or wording.title_of(found["target"]),
            "headline": sentences[0],
            "reasons": sentences[1:],
            "found_note": wording.clusters_note(found),
            "on_these_rows": ON_THESE_ROWS,
            "models": wording.MODELS,
            "known_models": _known_models(details["datasets"]),
            "common_model": wording.common_model(found["learner"]),
            "no_cautions": cautions.none(
                outliers=bool(found["outliers"]["rows"]), hints=bool(details["hints"])
            ),
            **_strategies(found["strategies"]),
            "clusters": [{**a, **b} for a, b in zip(found["clusters"], details["clusters"])],
            "datasets": {
                name: {**line, **details["datasets"][name]}
                for name, line in found["datasets"].items()
            },
            **_map(details, found["learner"]),
            "coefficients": _panels(details["coefficients"]),
            **_probabilities(found),
            "picture_svg": _picture(details["picture"]),
            "course_svg": Markup(course_figure(details["course"]) if details["course"] else ""),
            "common": common_model.drawn(details["common"]),
            **_static(environment),
            "facts": _json(_script_facts(details)),
        }
    )
    return text if text.endswith("\n") else text + "\n"


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=False,
    )
    environment.filters |= {
        "number": number,
        "signed": signed,
        "unsigned": unsigned,
        "share": share,
        "p": p_value,
        "count": lambda value: f"{value:,}",
    }
    return environment


# --- parts of the template's values --------------------------------------------------------------


def _static(environment: Environment) -> dict[str, Markup]:
    """Return style, script and the policy under which the page loads nothing else."""
    loader = environment.loader
    assert loader is not None
    style, script = (
        Markup(loader.get_source(environment, name)[0].strip())
        for name in ("style.css", "script.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )
    return {"style": style, "script": script, "policy": Markup(policy)}


def _known_models(datasets: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Return the heads of the errors of datasets; older files know no separate models."""
    none = all(line["models"]["separate"] is None for line in datasets.values())
    return {k: head for k, head in wording.MODELS.items() if not (none and k == "separate")}


def _strategies(strategies: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the lines of the table of strategies, the lowest error first, with their figures."""
    lines = [{"name": name, **line} for name, line in wording.by_error(strategies)]
    bar_end, dot_end = figures.strategy_scales(lines)
    return {
        "bar_end": bar_end,
        "dot_end": f"{float(f'{dot_end:.2g}'):,g} %",
        "strategies": [
            {
                **line,
                "bar": Markup(figures.error_bar(line, bar_end)),
                "dot": Markup(figures.behind_dot(line, dot_end)),
                "behind_text": wording.behind_in_words(line),
                "interval_text": wording.behind_interval(line),
                "weight_text": wording.weight_in_words(line["weight"]),
            }
            for line in lines
        ],
    }


def _map(details: Mapping[str, Any], learner: str) -> dict[str, Any]:
    """Return the tree and the map of gains as figures, and what is said of them."""
    found, tree = details["map"], details["tree"]
    helped = f"Joining helps in {found['helped']:,} of {found['pairs']:,} pairs." if found else ""
    judged = judged_note(tree["merges"], learner) if tree else ""
    if judged:
        judged += " Pairs of the map that are no merge of the tree are judged by theory."
        if any(line["judged_by"] == NOT_JUDGED for line in tree["merges"]):
            judged += " Merges that were not judged are empty in the map."
    return {
        "judged": judged,
        "reduced": found is not None and any(g["size"] > 1 for g in found["groups"]),
        "tree_svg": Markup(figures.tree(tree, details["words"]["gain"])) if tree else None,
        "heat_svg": Markup(figures.heat_map(found)) if found else None,
        "legend_svg": Markup(figures.legend()),
        "map_words": helped,
    }


def _panels(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the panels of coefficients, class by class where there are more than two."""
    if found is None:
        return None
    blocks: dict[str | None, list[Any]] = {}
    for i, feature in enumerate(found["features"]):
        low, high = (number(f(feature["model"])) for f in (min, max))
        drawn = {
            "name": feature["name"],
            "svg": Markup(panels.panel(feature, dict(found), i)),
            "label": f"Models of clusters lie between {low} and {high}.",
        }
        blocks.setdefault(feature["block"], []).append(drawn)
    return {**found, "blocks": [{"title": key, "features": f} for key, f in blocks.items()]}


def _probabilities(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the figure of the calibration, where there is one."""
    section = found["details"]["probabilities"]
    if not section or not section["known"]:
        return {"calibration_svg": None}
    drawn = panels.calibration(found["calibration"], section["positive"])
    return {"calibration_svg": Markup(drawn)}


def _picture(picture: Mapping[str, Any] | None) -> Markup | None:
    if picture is None:
        return None
    return Markup(representation.draw(representation.picture_from(picture)))


# --- what the script reads -----------------------------------------------------------------------


def _script_facts(details: Mapping[str, Any]) -> dict[str, Any]:
    found, coefficients = details["map"], details["coefficients"]
    return {
        "map": _map_facts(found) if found else None,
        "names": coefficients["names"] if coefficients else [],
        "cluster": coefficients["number"] if coefficients else [],
        "panels": [
            {
                "name": feature["name"],
                **{
                    key: [None if x is None else number(x) for x in feature[key]]
                    for key in ("value", "low", "high", "model")
                },
            }
            for feature in (coefficients["features"] if coefficients else [])
        ],
    }


def _map_facts(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the upper triangle of the map, row by row; intervals only where they are known."""
    above = np.triu_indices(len(found["groups"]), 1)
    gain, low, high = (
        np.array(found[key], dtype=np.float64)[above] for key in ("percent", "low", "high")
    )
    known = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    return {
        "names": [
            group["name"] if group["size"] == 1 else f"{group['size']} datasets: {group['name']}"
            for group in found["groups"]
        ],
        "cluster": [group["number"] for group in found["groups"]],
        "gain": _rounded(gain),
        "verdict": "".join(map(str, np.array(found["verdict"])[above].tolist())),
        "verdicts": found["verdicts"],
        "ends": {int(i): _rounded([low[i], high[i]]) for i in known},
    }


def _rounded(values: Sequence[float] | Any) -> list[float | None]:
    """Return numbers short enough for a page; None where they are not finite."""
    return [float(f"{x:.{DIGITS}g}") if np.isfinite(x) else None for x in values]


def _json(found: Mapping[str, Any]) -> Markup:
    """Return JSON that cannot end the block it stands in."""
    text = json.dumps(found, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
