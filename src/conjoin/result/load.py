"""Models from a file that `result.store` wrote.

A path enters, a `Partition` leaves; its analysis is what the file holds (`StoredAnalysis`). Files
of version 0.1 are read too.
"""

import errno
import json
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conjoin.api.request import RENAMED_ARGUMENTS, RENAMED_METHODS
from conjoin.errors import ConjoinError, ReadError
from conjoin.learners.beside import Trusted, beside, objects_from_bytes
from conjoin.learners.stored import learner_from_plain, schema_from_plain
from conjoin.representations.learned import Learned, RepresentedSchema
from conjoin.result.arrays import plain_to_array
from conjoin.result.checked import check_content, fault
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
from conjoin.result.findings import Findings
from conjoin.result.found import (
    changes_from_plain,
    course_from_plain,
    errors_from_plain,
    improvements_from_plain,
    spread_from_plain,
    stability_from_plain,
)
from conjoin.result.partition import Partition
from conjoin.result.store import FORMAT, FORMAT_VERSION, checksum, checksum_of
from conjoin.result.stored import StoredAnalysis
from conjoin.result.values import Alternative
from conjoin.tables.schema import Schema
from conjoin.version import __version__

# Largest model file that is read. Files of 10,000 datasets and 50 columns are below 100 MB.
MOST_BYTES = 2**30


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
    document = _read(Path(path))
    name = Path(path).name
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise ReadError(
            f"File {name!r} is no model of conjoin; expected a file written by save or --save."
        )
    version = document.get("format_version")
    if version not in (1, FORMAT_VERSION):
        raise ReadError(
            f"File {name!r} has model format {version!r} (written by conjoin "
            f"{document.get('conjoin')}), but conjoin {__version__} reads formats 1 and "
            f"{FORMAT_VERSION}; use the version that wrote it, or fit the model again."
        )
    content: Any = document.get("content")
    if checksum(content) != document.get("checksum"):
        raise ReadError(
            f"File {name!r} was changed after it was written: its checksum does not fit; fit the "
            "model again, or fetch the original."
        )
    try:
        if version == 1:
            content = _from_version_1(content)
        check_content(content)
        objects = _objects(Path(path), content.get("beside"), trusted)
        return _partition(content, objects), _extra(content["extra"], objects)
    except ConjoinError:
        raise
    except Exception as error:  # a part that `check_content` does not know does not fit
        reason = f"{type(error).__name__}: {str(error).splitlines()[0][:80] if str(error) else ''}"
        raise fault(f"a part of it does not fit ({reason.rstrip(' :')})") from None


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


def _read(path: Path) -> Any:
    try:
        text = read_bytes(path).decode("utf-8", errors="surrogatepass")
        return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_distinct)
    except ReadError:
        raise
    except FileNotFoundError:
        raise ReadError(f"File {str(path)!r} does not exist; check the path.") from None
    except OSError as error:
        raise ReadError(f"File {str(path)!r} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):  # neither text nor JSON, whole or cut
        raise ReadError(
            f"File {path.name!r} is no model of conjoin, or only part of one; expected a file "
            "written by save or --save."
        ) from None


def read_bytes(path: Path) -> bytes:
    """Return the bytes of a regular file of bearable size; a device would never end.

    Raises
    ------
    ReadError
        If it is no regular file, or larger than `MOST_BYTES`.
    """
    mode = path.stat()
    if stat.S_ISDIR(mode.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode.st_mode):
        raise ReadError(f"{str(path)!r} is a device or a pipe; expected a model file.")
    if mode.st_size > MOST_BYTES:
        raise ReadError(
            f"File {path.name!r} has {mode.st_size / 2**30:.1f} GiB, more than any model of "
            f"conjoin ({MOST_BYTES // 2**30} GiB); expected a file written by save or --save."
        )
    return path.read_bytes()


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a mapping; a key that stands twice could mean either value."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _from_version_1(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a file of version 0.1 in the present form."""
    # The criterion of a pair, for Algorithm 3, kept its name.
    greedy = content["grouping"] == "greedy"
    methods = {} if greedy else {**RENAMED_METHODS, "risk": "auto"}

    def renamed(options: Mapping[str, Any]) -> dict[str, Any]:
        found = {RENAMED_ARGUMENTS.get(name, name): value for name, value in options.items()}
        if "method" in found:
            found["method"] = methods.get(found["method"], found["method"])
        return found

    ledger = [
        {**step, **line} for step, line in zip(content["history"], content["verdicts"], strict=True)
    ]
    extra = dict(content["extra"])
    if "params" in extra:
        extra["params"] = renamed(extra["params"])
    return {
        **content,
        "settings": renamed(content.get("settings", {})),
        "method": methods.get(content["method"], content["method"]),
        "ledger": ledger,
        "extra": extra,
    }


def _partition(content: Mapping[str, Any], objects: Sequence[Any]) -> Partition:
    schema = Schema.from_plain(content["schema"])
    names = list(content["datasets"])
    if "representation" in content:
        learned = Learned.from_plain(content["representation"], plain_to_array)
        schema = RepresentedSchema.of(schema, learned)
    if "predictions" in content:
        schema = schema_from_plain(schema, content["predictions"], names, objects)
    limits = {n: (float(low), float(high)) for n, (low, high) in content["limits"].items()}
    if list(limits) != list(schema.features):
        raise fault(f"{len(limits)} limits do not fit {len(schema.features)} features")
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
    details = details_from_plain(content.get("details"), names)
    return StoredAnalysis(
        strategy=content["strategy"],
        weights=content["weights"],
        errors=errors_from_plain(content, None if details is None else details.errors["cluster"]),
        lines=tuple(
            merge_from_plain(line, names, score_from_plain(line["score"]))
            for line in content["ledger"]
        ),
        placement=placement_from_plain(content["placement"], features),
        all_alternatives={
            name: tuple(
                Alternative(c, verdict, float(gain), (float(low), float(high)), *kind)
                for c, verdict, gain, low, high, *kind in lines
            )
            for name, lines in zip(names, content["alternatives"])
        },
        settings=content.get("settings", {}),
        details=details,
        known_scores=scores_from_plain(content, names, classes),
        copies=int(content.get("copies", 0)),
        known_improvements=improvements_from_plain(content.get("improvements", {})),
        stability=stability_from_plain(content.get("stability"), names),
        known_course=course_from_plain(content.get("course")),
        known_spread=spread_from_plain(content.get("spread"), len(names)),
        changes=changes_from_plain(content.get("join_changes", []), names),
        common_model=common_model_from_plain(content.get("common_model")),
        findings=Findings.from_plain(content.get("findings", {})),
    )
