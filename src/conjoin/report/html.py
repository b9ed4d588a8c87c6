"""The page: plain values through a template into one self-contained HTML text.

Everything from the data goes through autoescaping, or as JSON into a block that is never run; the
page's policy allows its one script, by hash, and nothing from elsewhere.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from conjoin.report import figures, representation
from conjoin.report.sections import LEVEL, describe, signed
from conjoin.result.partition import Partition

TEMPLATES = "conjoin.report"


def write_report(result: Partition, path: str | Path, *, title: str | None = None) -> None:
    """Write the page of a result to a file, whole or not at all."""
    from conjoin.files import write_text

    write_text(Path(path), render(describe(result, title)))


def render(page: Mapping[str, Any]) -> str:
    """Return the page that plain values (`sections.describe`) make."""
    environment = _environment()
    script = Markup(_source(environment, "script.js"))
    bar_end, dot_end = figures.strategy_scales(page["strategies"])
    found, scores = page["map"], page["scores"]
    text = environment.get_template("report.html").render(
        {
            **page,
            "strategies": [
                {
                    **line,
                    "bar": Markup(figures.error_bar(line, bar_end)),
                    "dot": Markup(figures.behind_dot(line, dot_end)),
                }
                for line in page["strategies"]
            ],
            "bar_end": bar_end,
            "dot_end": dot_end,
            "level": round(100 * LEVEL),
            "datasets": [{**line, "best": _best(line["errors"])} for line in page["datasets"]],
            "reduced": found is not None and any(g["size"] > 1 for g in found["groups"]),
            "map_missing": found is None,
            "tree_svg": Markup(figures.tree(page["tree"], page["words"]["gain"]))
            if page["tree"]
            else None,
            "heat_svg": Markup(figures.heat_map(found)) if found else None,
            "legend_svg": Markup(figures.legend()),
            "map_words": _map_words(found) if found else "",
            "coefficients": _panels(page["coefficients"]),
            "calibration_svg": Markup(figures.calibration(scores))
            if scores and scores["known"]
            else None,
            "picture_svg": Markup(representation.draw(page["picture"]))
            if page["picture"]
            else None,
            "style": Markup(_source(environment, "style.css")),
            "script": script,
            "policy": _policy(script),
            "facts": _json(_facts(page)),
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
        "number": figures.number,
        "signed": signed,
        "percent": lambda share: signed(share).lstrip("+"),
        "share": figures.share,
    }
    return environment


def _source(environment: Environment, name: str) -> str:
    loader = environment.loader
    assert loader is not None
    return loader.get_source(environment, name)[0].strip()


def _policy(script: str) -> str:
    """Return a policy under which nothing is loaded and no other script runs."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    )


def _best(errors: Mapping[str, float | None]) -> str | None:
    known = {name: e for name, e in errors.items() if e is not None}
    return min(known, key=lambda name: known[name]) if known else None


def _map_words(found: Mapping[str, Any]) -> str:
    gains = np.asarray(found["percent"])[np.triu_indices(len(found["groups"]), 1)]
    helps = int(np.sum(gains > 0))
    return f"Joining helps in {helps:,} of {len(gains):,} pairs."


def _panels(facts: Mapping[str, Any] | None) -> dict[str, Any] | None:
    if facts is None:
        return None
    drawn = [
        {
            **feature,
            "svg": Markup(figures.panel(feature, dict(facts), i)),
            "label": _panel_words(feature),
        }
        for i, feature in enumerate(facts["features"])
    ]
    blocks: dict[str | None, list[Any]] = {}
    for feature in drawn:
        blocks.setdefault(feature["block"], []).append(feature)
    return {**facts, "blocks": [{"title": key, "features": f} for key, f in blocks.items()]}


def _panel_words(feature: Mapping[str, Any]) -> str:
    low, high = (figures.number(float(f(feature["model"]))) for f in (np.min, np.max))
    return f"Models of clusters lie between {low} and {high}."


# --- what the script reads -----------------------------------------------------------------------


def _facts(page: Mapping[str, Any]) -> dict[str, Any]:
    found, coefficients = page["map"], page["coefficients"]
    return {
        "map": _map_facts(found) if found else None,
        "names": coefficients["names"] if coefficients else [],
        "cluster": coefficients["cluster"] if coefficients else [],
        "panels": [
            {
                "name": feature["name"],
                **{
                    key: [None if x == "unknown" else x for x in map(figures.number, feature[key])]
                    for key in ("value", "low", "high", "model")
                },
            }
            for feature in (coefficients["features"] if coefficients else [])
        ],
    }


def _map_facts(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the upper triangle of the map, row by row; intervals only where they are known."""
    above = np.triu_indices(len(found["groups"]), 1)
    low, high = found["low"][above], found["high"][above]
    known = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    return {
        "names": [
            group["name"] if group["size"] == 1 else f"{group['size']} datasets: {group['name']}"
            for group in found["groups"]
        ],
        "cluster": [group["cluster"] for group in found["groups"]],
        "gain": _rounded(found["percent"][above]),
        "verdict": "".join(map(str, found["verdict"][above].tolist())),
        "verdicts": found["verdicts"],
        "ends": {int(i): _rounded([low[i], high[i]]) for i in known},
    }


def _rounded(values: Sequence[float] | Any) -> list[float | None]:
    """Return numbers short enough for a page; None where they are not finite."""
    return [float(f"{x:.3g}") if np.isfinite(x) else None for x in values]


def _json(facts: Mapping[str, Any]) -> Markup:
    """Return JSON that cannot end the block it stands in."""
    text = json.dumps(facts, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
