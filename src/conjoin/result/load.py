"""Models from a file that `result.store` wrote.

A path enters, a `Partition` leaves; its analysis is what the file holds (`StoredAnalysis`). Files
of version 0.1 are read too.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conjoin.errors import ConjoinError, ReadError
from conjoin.learners.beside import Trusted, beside, checksum_of, objects_from_bytes
from conjoin.learners.stored import learner_from_plain, schema_from_plain
from conjoin.representations.learned import Learned, RepresentedSchema
from conjoin.result.arrays import plain_to_array
from conjoin.result.checked import fault
from conjoin.result.decode import (
    added_from_plain,
    common_model_from_plain,
    details_from_plain,
    fits_from_plain,
    merge_from_plain,
    placement_from_plain,
    score_from_plain,
    scores_from_plain,
)
from conjoin.result.document import read_bytes, read_content, reason_of
from conjoin.result.findings import Findings
from conjoin.result.found import (
    changes_from_plain,
    course_from_plain,
    errors_from_plain,
    improvements_from_plain,
    spread_from_plain,
    stability_from_plain,
)
from conjoin.result.kept import kept_from_plain
from conjoin.result.partition import Partition
from conjoin.result.stored import StoredAnalysis
from conjoin.result.values import OF_LEARNER, Alternative, Merge, first_joins
from conjoin.tables.schema import Schema


def load(path: str | Path, *, trusted: Trusted = None) -> Partition:
    """Read a result that `Partition.save`, or `--save` on the command line, wrote.

    Parameters
    ----------
    path : str or Path
        The model file. A learner of another library is in a second file beside it, with ".skops"
        after the name.
    trusted : list of str or type, optional
        Types of the second file that may be created, besides those that skops trusts. The error
        without it lists them. Name them only if you know who wrote the file.

    Returns
    -------
    Partition
        It predicts the same bit by bit. It holds the models of one strategy and no rows.

    Raises
    ------
    ReadError
        If a file is missing, is no model, was changed, comes from an unknown version, or holds
        types that are not trusted.

    Examples
    --------
    >>> import tempfile, conjoin
    >>> from conjoin.datasets import make_clusters
    >>> result = conjoin.partition(make_clusters(sizes=(2, 2), distance=2.0).tables(), target="y")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result.save(f"{folder}/model.json")
    ...     conjoin.load(f"{folder}/model.json").clusters == result.clusters
    True
    """
    return load_with_extra(path, trusted)[0]


def load_with_extra(path: str | Path, trusted: Trusted = None) -> tuple[Partition, dict[str, Any]]:
    """Read a result and the values kept beside it."""
    content = read_content(path)
    try:
        objects = _objects(Path(path), content.get("beside"), trusted)
        return _partition(content, objects), _extra(content["extra"], objects)
    except ConjoinError:
        raise
    except Exception as error:  # a part that `result.checked` does not know does not fit
        raise fault(f"a part of it does not fit ({reason_of(error)})") from None


def _objects(path: Path, known: Mapping[str, Any] | None, trusted: Trusted) -> list[Any]:
    """Return the estimators of the file beside a model file; none if there is no such file."""
    if known is None:
        return []
    other = beside(path)
    try:
        data = read_bytes(other)
    except OSError as error:
        raise ReadError(
            f"File {other.name!r} with the learner of {path.name!r} cannot be read "
            f"({error.strerror}); keep both files in one folder."
        ) from None
    if checksum_of(data) != known.get("checksum"):
        raise ReadError(
            f"File {other.name!r} is not the one that was written with {path.name!r}: its checksum "
            "does not fit; fit the model again, or fetch both originals."
        )
    return objects_from_bytes(data, other.name, trusted)


def _extra(extra: Mapping[str, Any], objects: Sequence[Any]) -> dict[str, Any]:
    """Return what was kept beside a result, with the option `learner` as it was passed."""
    params = dict(extra.get("params", {}))
    if "learner" in params:
        params["learner"] = learner_from_plain(params["learner"], objects)
    return {**extra, **({"params": params} if params else {})}


def _partition(content: Mapping[str, Any], objects: Sequence[Any]) -> Partition:
    schema = Schema.from_plain(content["schema"])
    names = list(content["datasets"])
    if "representation" in content:
        learned = Learned.from_plain(content["representation"], plain_to_array)
        schema = RepresentedSchema.of(schema, learned)
    if "predictions" in content:
        schema = schema_from_plain(schema, content["predictions"], names, objects)
    ends = content["limits"]
    if ends.keys() != set(schema.features):
        raise fault(f"{len(ends)} limits do not fit {len(schema.features)} features")
    limits = {name: (float(ends[name][0]), float(ends[name][1])) for name in schema.features}
    labels = dict(zip(names, content["labels"]))
    clusters: list[list[str]] = [[] for _ in range(max(content["labels"]) + 1)]
    for name, label in labels.items():
        clusters[label].append(name)
    models = {key: fits_from_plain(fits, schema, limits) for key, fits in content["models"].items()}
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
        analysis=_analysis(content, names, schema),
        added=added_from_plain(content.get("added"), schema, limits),
    )


def _analysis(content: Mapping[str, Any], names: Sequence[str], schema: Schema) -> StoredAnalysis:
    classes, features = schema.response.classes, len(schema.features)
    ledger = tuple(
        merge_from_plain(line, names, score_from_plain(line["score"])) for line in content["ledger"]
    )
    told = ledger if content["grouping"] == OF_LEARNER else None
    details = details_from_plain(content.get("details"), names, told)
    return StoredAnalysis(
        strategy=content["strategy"],
        weights=content["weights"],
        errors=errors_from_plain(content, None if details is None else details.errors["cluster"]),
        lines=ledger,
        placement=placement_from_plain(content["placement"], features),
        all_alternatives=_alternatives(content, names, ledger),
        settings=content.get("settings", {}),
        details=details,
        known_scores=scores_from_plain(content, names, classes),
        copies=int(content.get("copies", 0)),
        known_improvements=improvements_from_plain(content.get("improvements", {})),
        stability=stability_from_plain(content.get("stability"), names, content["labels"]),
        known_course=course_from_plain(content.get("course")),
        known_spread=spread_from_plain(content.get("spread"), len(names)),
        changes=changes_from_plain(content.get("join_changes", []), names),
        common_model=common_model_from_plain(content.get("common_model")),
        findings=Findings.from_plain(content.get("findings", {})),
        kept=kept_from_plain(content.get("kept"), tuple(names), features),
    )


def _alternatives(
    content: Mapping[str, Any], names: Sequence[str], ledger: Sequence[Merge]
) -> dict[str, tuple[Alternative, ...]]:
    """Return possible clusters of datasets; the own one is a line of the ledger."""
    joins, found = first_joins(ledger), {}
    for name, own, lines in zip(names, content["labels"], content["alternatives"]):
        known = [
            Alternative(c, verdict, float(gain), (float(low), float(high)), *kind)
            for c, verdict, gain, low, high, *kind in lines
        ]
        found[name] = tuple(
            Alternative.own(own, name, joins[name]) if one.cluster == own and name in joins else one
            for one in known
        )
    return found
