"""What the page shows, section by section, as plain values: a result in, a dict out.

Figures come from the result and its evidence; nothing is fitted or judged here. What a model file
lacks is None, and the page says so.
"""

import math
import platform
import shlex
from collections.abc import Mapping, Sequence
from importlib import metadata
from typing import Any

import numpy as np
from scipy.special import stdtrit

from conjoin._typing import FloatArray
from conjoin.report import probabilities
from conjoin.report.measure import measure_of
from conjoin.report.summarize import cautions, change
from conjoin.representations.networks import NAMES as NETWORKS
from conjoin.representations.picture import Picture, take_picture
from conjoin.result.details import VERDICTS, Details, Node, cut, whole_tree
from conjoin.result.fits import Fit
from conjoin.result.partition import Alternative, MergeVerdict, Partition
from conjoin.text import listed
from conjoin.version import __version__

LEVEL = 0.9  # of intervals for coefficients, and for how far strategies are behind the best
COLOURS = 8  # clusters with a colour of their own; the others are grey
MOST_PANELS = 12  # features whose coefficients are drawn, and classes that have panels
FEWEST_PANELS = 2  # of a class
MOST_SHIFTS = 3  # coefficients told of a cluster
NOISY = 9.0  # times the median noise variance from which a dataset is told
LEVEL_NAME = "level"

STRATEGY_WORDS = {
    "separate": "every dataset its own model",
    "pooled": "one model for all",
    "clusters": "one model a cluster",
    "intercept": "one model, levels differ",
    "slopes": "partial pooling, one variance for slopes",
    "partial": "partial pooling, a variance for each slope",
    "full": "partial pooling, a full covariance",
    "mixture": "soft clusters",
    "auto": "average of strategies by validated error",
}


def describe(
    result: Partition, title: str | None = None, panels: int | None = MOST_PANELS
) -> dict[str, Any]:
    """Return all that the page shows, at most so many `panels`; what is not known is None.

    `representation` is None, or says what the rows of `picture` are: a `Picture`, or None if the
    result came from a file, which has no rows.
    """
    target = result.schema.roles.target
    view = _View(result)
    return {
        "title": title or f"Which datasets to train together: {target}",
        "conjoin": __version__,
        "target": target,
        "by": list(result.schema.roles.by),
        "strategy": result.strategy,
        "words": words(result),
        "verdict": sentence(result),
        "note": _note(result),
        "counts": {
            "datasets": len(result.labels),
            "clusters": len(result.clusters),
            "rows": result.pooled.rows,
            "features": len(result.features),
        },
        "strategies": strategies(result),
        "clusters": view.clusters(),
        "tree": view.tree(),
        "map": view.map(),
        "coefficients": view.coefficients(panels),
        "scores": probabilities.section(result),
        "datasets": view.datasets(),
        "columns": dict(result.columns),
        "cautions": cautions(result) + _more_cautions(result),
        "settings": _settings(result),
        "versions": versions(),
        "commands": commands(result),
        "representation": _representation(result),
        "picture": _picture(result),
    }


def _representation(result: Partition) -> dict[str, Any] | None:
    """Return what the section on a representation says; None where it has nothing to show."""
    learned = result.representation
    if learned is None or len(result.features) < 2:
        return None
    if learned.used == learned.rows:
        which = f"all {learned.rows:,} rows"
    else:
        which = (
            f"all {learned.rows:,} rows, the {learned.taught:,} that taught the features among "
            f"them; the models, and the tables on this page, are of the other {learned.used:,}"
        )
    return {"learned": learned.learns_from_target, "which": which}


def _picture(result: Partition) -> Picture | None:
    learned = result.representation
    if learned is None or learned.projection is None or len(result.features) < 2:
        return None
    return take_picture(learned.projection, [*result.labels], np.array([*result.labels.values()]))


def sentence(result: Partition) -> str:
    """Return the verdict in one sentence."""
    count, datasets = len(result.clusters), len(result.labels)
    if count == 1:
        text = f"Train one model for all {datasets:,} datasets"
    elif count == datasets:
        text = f"Train {count:,} models, one for each dataset"
    else:
        text = f"Train {count:,} models for {datasets:,} datasets"
    errors = result.errors
    changes = [
        change(errors[result.strategy].error, errors[name].error, words)
        for name, words in (("separate", "separate models"), ("pooled", "one pooled model"))
        if name != result.strategy
    ]
    name = measure_of(result.family).name
    return f"{text}: the expected {name} is {' and '.join(changes)}."


def words(result: Partition) -> dict[str, str]:
    """Return how the page speaks of errors and coefficients, by what the target is."""
    measure, target = measure_of(result.family), result.schema.roles.target
    found = {
        name: str(getattr(measure, name)) for name in ("name", "mean", "gain", "errors", "own_fit")
    }
    if result.family == "gaussian":
        return {
            **found,
            "column": "error",
            "unit": "squared units",
            "about": f", in the units of ‘{target}’, the best strategy first.",
            "noise": "within clusters one noise, ",
            "coefficients": "",
            "level": "the prediction at average features",
        }
    found |= {"column": measure.head, "unit": measure.gain, "noise": ""}
    if result.family == "poisson":
        return {
            **found,
            "about": ", 0 for a perfect fit; the best strategy comes first.",
            "coefficients": "A coefficient is what a unit of the feature adds to the logarithm of "
            "the expected count. ",
            "level": "that logarithm at average features",
        }
    found["about"] = (
        ": the mean of minus the logarithm of the probability given to the class seen, 0 for a "
        "perfect forecast. The best strategy comes first."
    )
    if len(result.classes) == 2:
        no, yes = result.classes
        return {
            **found,
            "coefficients": f"A coefficient is what a unit of the feature adds to the log-odds of "
            f"‘{yes}’ against ‘{no}’. ",
            "level": "the log-odds at average features",
        }
    return {
        **found,
        "coefficients": "A coefficient is what a unit of the feature adds to the score of a class; "
        "log-odds of two classes are the difference of their scores, which are in sum zero. ",
        "level": "the score at average features",
    }


def _note(result: Partition) -> str:
    errors = result.errors
    words = STRATEGY_WORDS.get(result.strategy, "")
    text = f"Figures are for strategy ‘{result.strategy}’ ({words})."
    if result.strategy != "clusters":
        cost = change(errors["clusters"].error, errors[result.strategy].error, "that")
        text += f" With one plain model a cluster instead, the error is {cost}."
    return text


def strategies(result: Partition) -> list[dict[str, Any]]:
    """Return the error of every strategy, the lowest first; `behind` in percent of the lowest."""
    half = float(stdtrit(np.inf, (1 + LEVEL) / 2))
    measure = measure_of(result.family)
    lines = []
    for name, e in sorted(result.errors.items(), key=lambda item: item[1].error):
        least = e.error - e.behind
        known = math.isfinite(e.error) and least > 0
        share, spread = (100 * x / least if known else None for x in (e.behind, e.standard_error))
        lines.append(
            {
                "name": name,
                "words": STRATEGY_WORDS.get(name, ""),
                "error": finite(e.error),
                "shown": measure.shown(e.error),
                "behind": share,
                "low": None if share is None or spread is None else share - half * spread,
                "high": None if share is None or spread is None else share + half * spread,
                "weight": result.weights.get(name) or None,
                "chosen": name == result.strategy,
            }
        )
    return lines


class _View:
    """A result and its details, seen by section."""

    def __init__(self, result: Partition) -> None:
        self.result = result
        self.details: Details | None = result.analysis.details
        self.names = list(result.labels)
        self.position = {name: k for k, name in enumerate(self.names)}
        self.colours = colours(result.clusters)
        self.in_use = np.array([result.coefficients[name].error for name in self.names])
        self.shown = measure_of(result.family).shown
        basis = result.analysis.placement.basis
        self.line_columns = [*([LEVEL_NAME] if basis.intercept else []), *result.features]
        lines = len(result.pooled.lines)
        self.classes = [str(label) for label in result.classes] if lines > 1 else []
        self.columns = [
            f"{label}: {name}" for label in self.classes for name in self.line_columns
        ] or self.line_columns
        widths = np.ones(len(self.line_columns) - len(basis.scale)), basis.scale
        self.widths = np.tile(np.concatenate(widths), lines)
        self.center = basis.center
        self.root_node: Node | None = None
        if self.details is not None:
            joined = [line for line in result.verdicts if line.joined]
            self.root_node = whole_tree(self.names, [*joined, *self.details.upper])

    def percent(self, gain: float, names: Sequence[str]) -> float | None:
        """Return a gain in percent of the error in use, averaged over the datasets concerned."""
        error = float(np.mean(self.in_use[[self.position[name] for name in names]]))
        return finite(100 * gain / error) if error > 0 else None

    def coef(self, fit: Fit) -> FloatArray:
        """Return a model's coefficients, its level (value at average features) first.

        With more than two classes one class after another.
        """
        found: list[FloatArray] = []
        for line in fit.lines:
            slopes = np.array([line.coef[name] for name in self.result.features])
            if len(self.line_columns) > len(slopes):
                found.append(np.array([line.intercept + float(slopes @ self.center)]))
            found.append(slopes)
        return np.concatenate(found)

    # --- 2: clusters

    def clusters(self) -> list[dict[str, Any]]:
        """Return size, members, errors before and after, and how coefficients differ."""
        pooled = self.coef(self.result.pooled)
        found = []
        for c, (members, model) in enumerate(zip(self.result.clusters, self.result.models)):
            index = [self.position[name] for name in members]
            before = None if self.details is None else _mean(self.details.errors["own"][index])
            use = _mean(np.array([self.result.coefficients[name].error for name in members]))
            coef = self.coef(model)
            order = np.argsort(-np.abs(coef - pooled) * self.widths, kind="stable")[:MOST_SHIFTS]
            found.append(
                {
                    "number": c + 1,
                    "colour": self.colours[c],
                    "datasets": list(members),
                    "rows": model.rows,
                    "before": self.shown(before),
                    "after": self.shown(model.error),
                    "in_use": self.shown(use),
                    "change": ratio(model.error, before),
                    "shifts": [
                        {
                            "feature": self.columns[j],
                            "coef": float(coef[j]),
                            "pooled": float(pooled[j]),
                        }
                        for j in (order if len(self.result.clusters) > 1 else ())
                    ],
                }
            )
        return found

    # --- 3: the map

    def tree(self) -> dict[str, Any] | None:
        """Return leaves (datasets or groups) and merges by number: leaves first, then merges."""
        if self.root_node is None or self.details is None or self.details.map is None:
            return None
        top = cut(self.root_node, len(self.details.map.groups))
        number = {id(node): i for i, node in enumerate(top)}
        merges: list[dict[str, Any]] = []
        stack: list[tuple[Node, bool]] = [(self.root_node, False)]
        while stack:
            node, ready = stack.pop()
            if id(node) in number or node.children is None or node.merge is None:
                continue
            if not ready:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))
                continue
            number[id(node)] = len(top) + len(merges)
            children = [number[id(child)] for child in node.children]
            line = self._merge(node.merge)
            below = [merges[c - len(top)]["height"] for c in children if c >= len(top)]
            known = [x for x in (line["percent"], *below) if x is not None]
            merges.append({**line, "children": children, "height": min(known, default=None)})
        return {"leaves": [self._group(node.members) for node in top], "merges": merges}

    def _merge(self, line: MergeVerdict) -> dict[str, Any]:
        return {
            "left": listed(line.left),
            "right": listed(line.right),
            "joined": line.joined,
            "verdict": line.verdict,
            "gain": finite(line.gain),
            "percent": self.percent(line.gain, (*line.left, *line.right)),
            "interval": [finite(x) for x in line.interval],
        }

    def _group(self, members: Sequence[int]) -> dict[str, Any]:
        names = [self.names[k] for k in members]
        labels = sorted({self.result.labels[name] for name in names})
        cluster = labels[0] if len(labels) == 1 else None
        return {
            "name": names[0] if len(names) == 1 else f"{names[0]}, {names[1]}, …",
            "size": len(names),
            "cluster": None if cluster is None else cluster + 1,
            "colour": COLOURS if cluster is None else self.colours[cluster],
        }

    def map(self) -> dict[str, Any] | None:
        """Return gains of joining every two datasets or groups, in percent, by row."""
        if self.details is None or self.details.map is None:
            return None
        found = self.details.map
        size = np.array([len(group) for group in found.groups], dtype=np.float64)
        total = np.array([self.in_use[list(group)].sum() for group in found.groups])
        error = (total[:, None] + total) / (size[:, None] + size)
        scale = 100 / np.where(error > 0, error, np.nan)
        return {
            "groups": [self._group(group) for group in found.groups],
            "percent": found.gain * scale,
            "low": found.low * scale,
            "high": found.high * scale,
            "verdict": found.verdict,
            "verdicts": list(VERDICTS),
        }

    # --- 4: coefficients

    def coefficients(self, most: int | None) -> dict[str, Any] | None:
        """Return coefficients by feature, those in which clusters differ most first."""
        if self.details is None:
            return None
        d, result = self.details, self.result
        order = self._order()
        models = np.stack([self.coef(model) for model in result.models])  # (C, p)
        labels = np.array([result.labels[self.names[k]] for k in order])
        if len(models) > 1:
            differ = np.std(models[labels], axis=0) * self.widths
        else:
            differ = np.abs(models[0]) * self.widths
            if len(self.line_columns) > len(self.center):
                differ[:: len(self.line_columns)] = 0.0
        half = stdtrit(np.maximum(d.degrees, 1.0), (1 + LEVEL) / 2)[:, None] * d.own_spread
        cluster_half = float(stdtrit(np.inf, (1 + LEVEL) / 2)) * d.cluster_spread
        shown = self._panels(differ, most)
        return {
            "names": [self.names[k] for k in order],
            "cluster": (labels + 1).tolist(),
            "colour": [self.colours[c] for c in labels],
            "left_out": len(self.columns) - len(shown),
            "without": int(np.isnan(d.own).any(axis=1).sum()),
            "features": [
                {
                    "name": self.columns[j],
                    "block": self.classes[j // len(self.line_columns)] if self.classes else None,
                    "differ": float(differ[j]),
                    "value": d.own[order, j],
                    "low": (d.own - half)[order, j],
                    "high": (d.own + half)[order, j],
                    "model": models[:, j],
                    "model_low": (models - cluster_half)[:, j],
                    "model_high": (models + cluster_half)[:, j],
                }
                for j in shown
            ],
        }

    def _panels(self, differ: FloatArray, most: int | None) -> list[int]:
        """Return the coefficients to draw, those that differ most first.

        With more than two classes class by class, the same features for each.
        """
        if not self.classes:
            return [int(j) for j in np.argsort(-differ, kind="stable")[:most]]
        C, d = len(self.classes), len(self.line_columns)
        table = differ.reshape(C, d)
        classes = np.sort(np.argsort(-table.max(axis=1), kind="stable")[:most])
        each = None if most is None else max(2 * most // C, FEWEST_PANELS)
        features = np.argsort(-table.max(axis=0), kind="stable")[:each]
        return [int(c * d + j) for c in classes for j in features]

    def _order(self) -> list[int]:
        """Return datasets cluster by cluster."""
        return sorted(range(len(self.names)), key=lambda k: (self.result.labels[self.names[k]], k))

    # --- 5: datasets

    def datasets(self) -> list[dict[str, Any]]:
        """Return errors, the decision with its reason and the runner-up of every dataset."""
        found = []
        alternatives = self.result.analysis.all_alternatives
        for k, name in enumerate(self.names):
            cluster, model = self.result.labels[name], self.result.coefficients[name]
            own, other = _own_and_other(alternatives[name], cluster)
            errors = {} if self.details is None else self.details.errors
            found.append(
                {
                    "name": name,
                    "cluster": cluster + 1,
                    "colour": self.colours[cluster],
                    "rows": model.rows,
                    "errors": {
                        key: self.shown(float(errors[key][k])) if key in errors else None
                        for key in ("own", "cluster", "others", "pooled")
                    },
                    "in_use": self.shown(model.error),
                    "decision": self._decision(name, cluster),
                    "reason": self._reason(name, own),
                    "verdict": own.verdict if own else None,
                    "runner_up": self._runner_up(name, other),
                }
            )
        return found

    def _decision(self, name: str, cluster: int) -> str:
        others = [n for n in self.result.clusters[cluster] if n != name]
        return f"with {listed(others, 3)}" if others else "alone"

    def _reason(self, name: str, own: Alternative | None) -> str:
        """Say what joining the dataset with its cluster is worth."""
        if own is None:
            return "no join was worth it"
        if not math.isfinite(own.gain):
            return "too few rows for a model of its own"
        return f"joining changes the error by {self._change(name, own)}"

    def _runner_up(self, name: str, other: Alternative | None) -> dict[str, Any] | None:
        if other is None:
            return None
        return {
            "cluster": other.cluster + 1,
            "members": listed(self.result.clusters[other.cluster], 2),
            "verdict": other.verdict,
            "change": self._change(name, other),
        }

    def _change(self, name: str, line: Alternative) -> str:
        others = [n for n in self.result.clusters[line.cluster] if n != name]
        share = self.percent(-line.gain, [name, *others])
        return "an unknown amount" if share is None else signed(share)


def _own_and_other(
    lines: Sequence[Alternative], cluster: int
) -> tuple[Alternative | None, Alternative | None]:
    """Return what is known of a dataset's own cluster, and of the best other one."""
    own = next((line for line in lines if line.cluster == cluster), None)
    others = [line for line in lines if line.cluster != cluster]
    known = [line for line in others if not math.isnan(line.gain)]
    return own, max(known, key=lambda line: line.gain) if known else next(iter(others), None)


def colours(clusters: Sequence[Sequence[str]]) -> list[int]:
    """Return a colour number for each cluster: the largest have their own, others the last."""
    order = sorted(range(len(clusters)), key=lambda c: (-len(clusters[c]), c))
    several = sum(len(members) > 1 for members in clusters)
    coloured = order[: min(COLOURS, max(several, 1 if len(clusters) == 1 else several))]
    if len(clusters) <= COLOURS:
        coloured = order
    rank = {c: i for i, c in enumerate(sorted(coloured))}
    return [rank.get(c, COLOURS) for c in range(len(clusters))]


# --- 6: columns, settings, how to make it again --------------------------------------------------


def _more_cautions(result: Partition) -> list[str]:
    """Return what is odd about columns and datasets."""
    details: Details | None = result.analysis.details
    if details is None:
        return []
    found = []
    if details.dependent:
        plural = "columns are" if details.dependent > 1 else "column is"
        found.append(
            f"{details.dependent} {plural} a sum of others; coefficients of such columns mean "
            "nothing by themselves, predictions are not affected."
        )
    kinds = {e.name for e in result.schema.encodings if e.kind == "number"}
    kinds = set() if result.representation is not None else kinds
    far = {result.features[j]: x for j, x in details.far.items() if result.features[j] in kinds}
    if far:
        worst = max(far, key=lambda name: far[name])
        found.append(
            f"{listed(list(far))}: values very far from the others (up to {far[worst]:,.0f} "
            f"standard deviations from the mean, in ‘{worst}’); are they outliers?"
        )
    noise = details.noise[np.isfinite(details.noise)]
    if len(noise) > 2 and not result.classes:
        names = [n for n, x in zip(result.labels, details.noise) if x > NOISY * np.median(noise)]
        if names:
            found.append(
                f"{listed(names)}: residuals more than three times as large as in most datasets; "
                "look at the target there."
            )
    return found


def _settings(result: Partition) -> dict[str, str]:
    roles = result.schema.roles
    said = {
        "target": roles.target,
        "by": ", ".join(roles.by) or None,
        "weights": roles.weights,
        "features": ", ".join(roles.features) if roles.features else None,
        "strategy": result.strategy,
        **{"method": result.method, "grouping": result.grouping},
        **{k: v for k, v in result.settings.items() if k not in ("data", "method", "grouping")},
    }
    if result.representation is not None:
        said["representation"] = result.representation.description
    return {
        {"random_state": "seed", "learn_share": "learn share"}.get(name, name): str(value)
        for name, value in said.items()
        if value is not None
    }


def versions() -> dict[str, str]:
    """Return the versions that made the page."""
    packages = {name: metadata.version(name) for name in ("numpy", "scipy")}
    return {"conjoin": __version__, "Python": platform.python_version(), **packages}


DEFAULTS: dict[str, Any] = {
    "method": "risk", "strategy": "auto", "count": "datasets", "delta": 0.1, "random_state": 0,
    "missing": "indicator", "folds": 10, "intercept": True, "family": "auto",
    "learn_share": 0.5,
}  # fmt: skip
NO_OPTION = ("folds", "intercept", "grouping")


def commands(result: Partition) -> dict[str, str]:
    """Return what makes the page again: a call in Python and, where one can, a shell command."""
    roles = result.schema.roles
    given: dict[str, Any] = {"target": roles.target}
    if roles.by:
        given["by"] = list(roles.by) if len(roles.by) > 1 else roles.by[0]
    if roles.features:
        given["features"] = list(roles.features)
    if roles.weights:
        given["weights"] = roles.weights
    asked = {k: v for k, v in result.settings.items() if k != "data"}
    asked = {"method": result.method, **asked, "strategy": result.strategy}
    given |= {k: v for k, v in asked.items() if v is not None and DEFAULTS.get(k) != v}
    named = given.get("representation", "mlp1") in NETWORKS
    arguments = ", ".join(
        f"{name}={'...' if name == 'representation' and not named else repr(value)}"
        for name, value in given.items()
    )
    found = {"python": f'conjoin.partition(data, {arguments}).report("report.html")'}
    if named and not any(name in given for name in NO_OPTION):
        found["shell"] = _shell(given, result.settings.get("data") or ["DATA"])
    return found


def _shell(given: Mapping[str, Any], data: Sequence[str]) -> str:
    parts = ["conjoin", "partition", *data]
    for name, value in given.items():
        option = "--" + {"random_state": "seed"}.get(name, name).replace("_", "-")
        if name == "features":
            parts += [option, ",".join(value)]
        else:
            for one in value if isinstance(value, list) else [value]:
                parts += [option, str(one)]
    return shlex.join([*parts, "--report", "report.html"])


# --- numbers -------------------------------------------------------------------------------------


def finite(value: float | None) -> float | None:
    """Return a number, or None if it is not known."""
    return float(value) if value is not None and math.isfinite(value) else None


def ratio(after: float | None, before: float | None) -> float | None:
    """Return the change of an error in percent."""
    if after is None or before is None or not before > 0:
        return None
    return finite(100 * (after / before - 1))


def signed(share: float) -> str:
    """Return a change in percent as text.

    >>> signed(-3.14159), signed(1234.5), signed(0.001)
    ('−3.1 %', '+1,234 %', '0.0 %')
    """
    text = f"{abs(share):,.0f}" if abs(share) >= 100 else f"{abs(share):.1f}"
    sign = "" if text == "0.0" else "−" if share < 0 else "+"
    return f"{sign}{text} %"


def _mean(values: FloatArray) -> float | None:
    return finite(float(np.mean(values))) if len(values) else None
