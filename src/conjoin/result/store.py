"""Models in a file: one JSON document with a version and a checksum, no rows and no code.

The document is `{"format", "format_version", "conjoin", "checksum", "content"}`; the checksum is
that of the content in its canonical form, so that an edited or cut file is noticed. Numbers are
written so that they come back bit by bit; large arrays as base64 of their bytes.
"""

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray
from conjoin.criterion import PairScore
from conjoin.errors import ArgumentError, ReadError
from conjoin.families import Label
from conjoin.files import write_text
from conjoin.grouping import Merge
from conjoin.moments import Basis
from conjoin.representations.learned import Learned, RepresentedSchema
from conjoin.result.details import Details, Map
from conjoin.result.fits import Fit, LinearFit, LogisticFit
from conjoin.result.partition import Alternative, Estimate, MergeVerdict, Partition
from conjoin.result.placement import Placement
from conjoin.result.scores import Bin, Scored, Scores
from conjoin.tables.schema import Schema
from conjoin.version import __version__

FORMAT = "conjoin-model"
FORMAT_VERSION = 1
SCORE_NUMBERS = ("log_loss", "brier", "auc")
DETAIL_ARRAYS = ("own", "own_spread", "degrees", "cluster_spread", "noise")


def save(result: Partition, path: str | Path, extra: Mapping[str, Any] | None = None) -> None:
    """Write a result to a file, whole or not at all; `extra` are plain values kept beside it."""
    content = {**_content(result), "extra": dict(extra or {})}
    document = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "conjoin": __version__,
        "checksum": _checksum(content),
        "content": content,
    }
    write_text(Path(path), json.dumps(document, allow_nan=False, ensure_ascii=False, indent=1))


def load(path: str | Path) -> Partition:
    """Read a result that `save` wrote."""
    return load_with_extra(path)[0]


def load_with_extra(path: str | Path) -> tuple[Partition, dict[str, Any]]:
    """Read a result and the plain values kept beside it."""
    document = _read(Path(path))
    name = Path(path).name
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReadError(
            f"File {name!r} is no model of conjoin; expected a file written by save or --save."
        )
    version = document.get("format_version")
    if version != FORMAT_VERSION:
        raise ReadError(
            f"File {name!r} has model format {version!r} (written by conjoin "
            f"{document.get('conjoin')}), but conjoin {__version__} reads format {FORMAT_VERSION}; "
            "use the version that wrote it, or fit the model again."
        )
    content: Any = document.get("content")
    if _checksum(content) != document.get("checksum"):
        raise ReadError(
            f"File {name!r} was changed after it was written: its checksum does not fit; fit the "
            "model again, or fetch the original."
        )
    return _partition(content), content["extra"]


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8", errors="surrogatepass"))
    except FileNotFoundError:
        raise ReadError(f"File {str(path)!r} does not exist; check the path.") from None
    except OSError as error:
        raise ReadError(f"File {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):  # neither text nor JSON, whole or cut
        raise ReadError(
            f"File {path.name!r} is no model of conjoin, or only part of one; expected a file "
            "written by save or --save."
        ) from None


def _checksum(content: Any) -> str:
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


# --- to plain values -----------------------------------------------------------------------------


def _content(result: Partition) -> dict[str, Any]:
    names, limits = list(result.coefficients), result.pooled.limits
    placement = result.analysis.placement
    return {
        "schema": result.schema.to_plain(),
        **_representation(result),
        "method": result.method,
        "grouping": result.grouping,
        "strategy": result.strategy,
        "datasets": names,
        "labels": [result.labels[name] for name in names],
        "limits": {name: [_number(x) for x in limits[name]] for name in limits},
        "models": {
            "datasets": _fits([result.coefficients[name] for name in names]),
            "clusters": _fits(result.models),
            "pooled": _fits([result.pooled]),
        },
        "weights": result.weights,
        "errors": {name: [_number(x) for x in _values(e)] for name, e in result.errors.items()},
        "history": [_merge(merge, names) for merge in result.history],
        "verdicts": [
            {
                "verdict": line.verdict,
                "gain": _number(line.gain),
                "interval": [_number(x) for x in line.interval],
            }
            for line in result.verdicts
        ],
        "alternatives": [
            [
                [a.cluster, a.verdict, _number(a.gain), *(_number(x) for x in a.interval)]
                for a in result.analysis.all_alternatives[name]
            ]
            for name in names
        ],
        "settings": dict(result.settings),
        "details": _details(result.analysis.details, names),
        **_scores(result, names),
        "placement": {
            "basis": {
                "center": _array(placement.basis.center),
                "scale": _array(placement.basis.scale),
                "target_center": placement.basis.target_center,
                "target_scale": placement.basis.target_scale,
                "intercept": placement.basis.intercept,
            },
            "noise": placement.noise,
            **{
                name: _array(getattr(placement, name))
                for name in ("centre", "covariance", "datasets", "means")
            },
        },
    }


def _representation(result: Partition) -> dict[str, Any]:
    """Return the network behind the features, if there is one."""
    learned = result.representation
    return {} if learned is None else {"representation": learned.to_plain(_array)}


def _values(estimate: Estimate) -> list[float]:
    return list(asdict(estimate).values())


def _fits(fits: list[Fit]) -> dict[str, Any]:
    """Return models line by line: a regression has one, a model of C > 2 classes C."""
    lines = [line for fit in fits for line in fit.lines]
    return {
        "intercept": [line.intercept for line in lines],
        "coef": _array(np.array([list(line.coef.values()) for line in lines])),
        "rows": [fit.rows for fit in fits],
        "error": [_number(fit.error) for fit in fits],
    }


def _merge(merge: Merge, names: list[str]) -> dict[str, Any]:
    position = {name: k for k, name in enumerate(names)}
    return {
        "left": [position[name] for name in merge.left],
        "right": [position[name] for name in merge.right],
        "score": {
            key: _number(value) if isinstance(value, float) else value
            for key, value in asdict(merge.result).items()
        },
    }


def _details(details: Details | None, names: list[str]) -> dict[str, Any] | None:
    if details is None:
        return None
    position = {name: k for k, name in enumerate(names)}
    return {
        "errors": {name: _array(values) for name, values in details.errors.items()},
        **{name: _array(getattr(details, name)) for name in DETAIL_ARRAYS},
        "dependent": details.dependent,
        "far": {str(j): distance for j, distance in details.far.items()},
        "upper": [
            {
                "left": [position[name] for name in line.left],
                "right": [position[name] for name in line.right],
                "verdict": line.verdict,
                "gain": _number(line.gain),
                "interval": [_number(x) for x in line.interval],
            }
            for line in details.upper
        ],
        "map": None if details.map is None else _map(details.map),
    }


def _scores(result: Partition, names: list[str]) -> dict[str, Any]:
    """Return scores of probabilities, where the target is a class and they are known."""
    found = result.analysis.scored(result.strategy) if result.classes else None
    if found is None:
        return {}
    scores = [found.scores[name] for name in names]
    return {
        "scores": {
            **{name: [_number(getattr(s, name)) for s in scores] for name in SCORE_NUMBERS},
            "rows": [s.rows for s in scores],
            "shares": [[_number(x) for x in s.shares.values()] for s in scores],
        },
        "calibration": [
            [b.low, b.high, b.predicted, b.observed, b.rows, *b.interval] for b in found.calibration
        ],
    }


def _map(found: Map) -> dict[str, Any]:
    """Return the upper triangles, of verdicts and intervals only those that are known."""
    above = np.triu_indices(len(found.groups), 1)
    verdict = found.verdict[above]
    judged = np.flatnonzero(verdict)
    return {
        "groups": [list(group) for group in found.groups],
        "gain": _array(found.gain[above], "<f4"),
        "judged": _array(judged, "<f4"),
        "verdict": _array(verdict[judged], "<f4"),
        "low": _array(found.low[above][judged], "<f4"),
        "high": _array(found.high[above][judged], "<f4"),
    }


def _number(value: float) -> float | str:
    """Return a number that JSON can hold."""
    return float(value) if math.isfinite(value) else str(float(value))


def _array(values: AnyArray, kind: str = "<f8") -> dict[str, Any]:
    array = np.ascontiguousarray(values, dtype=kind)
    encoded = base64.b64encode(array.tobytes()).decode()
    return {
        "shape": list(array.shape),
        "base64": encoded,
        **({} if kind == "<f8" else {"kind": kind}),
    }


# --- and back ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StoredAnalysis:
    """Analysis as it was when the model was saved."""

    strategy: str
    weights: dict[str, float]
    errors: dict[str, Estimate]
    history: tuple[Merge, ...]
    verdicts: tuple[MergeVerdict, ...]
    placement: Placement
    all_alternatives: dict[str, tuple[Alternative, ...]]
    settings: dict[str, Any] = field(default_factory=dict)
    details: Details | None = None
    known_scores: Scored | None = None

    def ledger(self, most: int | None) -> tuple[MergeVerdict, ...]:
        """Return the first verdicts."""
        return self.verdicts[:most]

    def alternatives(self, name: str) -> tuple[Alternative, ...]:
        """Return what is known of joining a dataset with its own cluster and others."""
        return self.all_alternatives[name]

    def scored(self, strategy: str) -> Scored | None:
        """Return how good probabilities are, if the file has it."""
        return self.known_scores

    def using(self, strategy: str) -> Partition:
        """Refuse: only one strategy was saved."""
        raise ArgumentError(
            f"strategy={strategy!r} is not in the file, which holds {self.strategy!r}; save the "
            "result of using(...) as well."
        )


def _partition(content: Mapping[str, Any]) -> Partition:
    schema = Schema.from_plain(content["schema"])
    if "representation" in content:
        learned = Learned.from_plain(content["representation"], _from_array)
        schema = RepresentedSchema.of(schema, learned)
    names = list(content["datasets"])
    limits = {n: (float(low), float(high)) for n, (low, high) in content["limits"].items()}
    labels = dict(zip(names, content["labels"]))
    clusters: list[list[str]] = [[] for _ in range(max(content["labels"]) + 1)]
    for name, label in labels.items():
        clusters[label].append(name)
    models = {key: _from_fits(fits, schema, limits) for key, fits in content["models"].items()}
    history = tuple(_from_merge(merge, names) for merge in content["history"])
    verdicts = tuple(
        MergeVerdict(
            merge.left,
            merge.right,
            merge.joined,
            line["verdict"],
            float(line["gain"]),
            (float(line["interval"][0]), float(line["interval"][1])),
        )
        for merge, line in zip(history, content["verdicts"])
    )
    analysis = StoredAnalysis(
        strategy=content["strategy"],
        weights=content["weights"],
        errors={name: Estimate(*map(float, e)) for name, e in content["errors"].items()},
        history=history,
        verdicts=verdicts,
        placement=_from_placement(content["placement"]),
        all_alternatives={
            name: tuple(
                Alternative(c, verdict, float(gain), (float(low), float(high)))
                for c, verdict, gain, low, high in lines
            )
            for name, lines in zip(names, content["alternatives"])
        },
        settings=content.get("settings", {}),
        details=_from_details(content.get("details"), names),
        known_scores=_from_scores(content, names, schema.response.classes),
    )
    return Partition(
        clusters=clusters,
        labels=labels,
        models=models["clusters"],
        strategy=content["strategy"],
        coefficients=dict(zip(names, models["datasets"])),
        pooled=models["pooled"][0],
        method=content["method"],
        grouping=content["grouping"],
        features=schema.features,
        schema=schema,
        analysis=analysis,
    )


def _from_fits(
    fits: Mapping[str, Any], schema: Schema, limits: Mapping[str, tuple[float, float]]
) -> list[Fit]:
    response = schema.response
    known = list(zip(fits["rows"], map(float, fits["error"])))
    each = len(fits["intercept"]) // max(len(known), 1)  # lines of a model
    kind = "gaussian" if response.classes else response.family
    slopes = _from_array(fits["coef"]).tolist()
    lines = [
        LinearFit(intercept, dict(zip(schema.features, slopes[i])), *known[i // each], limits, kind)
        for i, intercept in enumerate(fits["intercept"])
    ]
    if not response.classes:
        return list(lines)
    return [
        LogisticFit(response.classes, tuple(lines[i * each : (i + 1) * each]), rows, error)
        for i, (rows, error) in enumerate(known)
    ]


def _from_merge(merge: Mapping[str, Any], names: list[str]) -> Merge:
    score: dict[str, Any] = {
        k: float(v) if isinstance(v, str) else v for k, v in merge["score"].items()
    }
    left, right = (tuple(names[k] for k in merge[side]) for side in ("left", "right"))
    return Merge(left, right, PairScore(**score))


def _from_details(values: Mapping[str, Any] | None, names: list[str]) -> Details | None:
    if values is None:
        return None
    return Details(
        errors={name: _from_array(array) for name, array in values["errors"].items()},
        **{name: _from_array(values[name]) for name in DETAIL_ARRAYS},
        dependent=values["dependent"],
        far={int(j): distance for j, distance in values["far"].items()},
        upper=tuple(
            MergeVerdict(
                left=tuple(names[k] for k in line["left"]),
                right=tuple(names[k] for k in line["right"]),
                joined=False,
                verdict=line["verdict"],
                gain=float(line["gain"]),
                interval=(float(line["interval"][0]), float(line["interval"][1])),
            )
            for line in values["upper"]
        ),
        map=None if values["map"] is None else _from_map(values["map"]),
    )


def _from_scores(
    content: Mapping[str, Any], names: list[str], classes: tuple[Label, ...]
) -> Scored | None:
    values = content.get("scores")
    if values is None:
        return None
    scores = {
        name: Scores(
            **{key: float(values[key][k]) for key in SCORE_NUMBERS},
            rows=values["rows"][k],
            shares=dict(zip(classes, map(float, values["shares"][k]))),
        )
        for k, name in enumerate(names)
    }
    bins = (
        Bin(low, high, predicted, observed, rows, (lower, upper))
        for low, high, predicted, observed, rows, lower, upper in content["calibration"]
    )
    return Scored(scores, tuple(bins))


def _from_map(values: Mapping[str, Any]) -> Map:
    M = len(values["groups"])
    left, right = np.triu_indices(M, 1)
    judged = _from_array(values["judged"]).astype(int)
    tables = np.full((3, M, M), np.nan)
    verdict = np.zeros((M, M), dtype=int)
    a, b = left[judged], right[judged]
    for i, j in ((left, right), (right, left)):
        tables[0, i, j] = _from_array(values["gain"])
    for i, j in ((a, b), (b, a)):
        verdict[i, j] = _from_array(values["verdict"]).astype(int)
        tables[1, i, j], tables[2, i, j] = _from_array(values["low"]), _from_array(values["high"])
    groups = tuple(tuple(group) for group in values["groups"])
    return Map(groups, tables[0], tables[1], tables[2], verdict)


def _from_placement(values: Mapping[str, Any]) -> Placement:
    basis = values["basis"]
    return Placement(
        basis=Basis(
            _from_array(basis["center"]),
            _from_array(basis["scale"]),
            basis["target_center"],
            basis["target_scale"],
            basis["intercept"],
        ),
        noise=values["noise"],
        **{
            name: _from_array(values[name])
            for name in ("centre", "covariance", "datasets", "means")
        },
    )


def _from_array(values: Mapping[str, Any]) -> FloatArray:
    flat = np.frombuffer(base64.b64decode(values["base64"]), dtype=values.get("kind", "<f8"))
    array: FloatArray = flat.reshape(values["shape"]).astype(np.float64)
    return array
