"""Kept moments in a model file: plain values, and back.

`KeptMoments` enter and plain values leave, or the other way round with checks. Sums of products are
stored as their lower triangles, and numbers come back bit by bit.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.moments.kept import Batch, KeptMoments
from conjoin.result.arrays import array_to_plain, plain_to_array
from conjoin.result.checked import array, fault, list_of, map_of, record, whole

ARRAYS = ("n", "center", "scale", "low", "high")


def kept_to_plain(kept: KeptMoments) -> dict[str, Any]:
    """Return kept moments as plain values; the datasets are those of the result."""
    i, j = np.tril_indices(kept.products.shape[-1])
    return {
        **{name: array_to_plain(getattr(kept, name)) for name in ARRAYS},
        "products": array_to_plain(kept.products[..., i, j]),
        "batches": [{"rows": one.rows, "sums": one.sums} for one in kept.batches],
        "starts": {
            name: {"point": array_to_plain(point), "curvature": array_to_plain(curvature)}
            for name, (point, curvature) in kept.starts.items()
        },
    }


def kept_from_plain(
    values: Mapping[str, Any] | None, names: tuple[str, ...], features: int
) -> KeptMoments | None:
    """Return the kept moments of a model file; None if it has none.

    Raises
    ------
    ReadError
        If they do not fit the datasets and features of the file, or are no sums of rows.
    """
    if values is None:
        return None
    K, c = len(names), features + 1
    p = c + 1
    record(
        {"n": array(K, None), "center": array(K, c), "scale": array(K, c), "low": array(c),
         "high": array(c), "products": array(K, None, p * (p + 1) // 2),
         "batches": list_of(record({"rows": map_of(whole), "sums": map_of(whole)}))}
    )(values, "kept moments")  # fmt: skip
    found = {name: plain_to_array(values[name]) for name in ARRAYS}
    triangle = plain_to_array(values["products"])
    if triangle.shape[:2] != found["n"].shape:
        raise fault("kept moments have other folds than their numbers of rows")
    if not all(np.isfinite(one).all() for one in (*found.values(), triangle)):
        raise fault("kept moments have a number that is not finite")
    if not (found["scale"] > 0).all() or (found["n"] < 0).any() or not found["n"].sum(axis=1).all():
        raise fault("kept moments have a scale or a number of rows that is not above zero")
    i, j = np.tril_indices(p)
    products = np.zeros((*triangle.shape[:2], p, p))
    products[..., i, j] = triangle
    products[..., j, i] = triangle
    batches = tuple(Batch(dict(one["rows"]), dict(one["sums"])) for one in values["batches"])
    starts = _starts_from_plain(values.get("starts", {}))
    return KeptMoments(names, products=products, batches=batches, starts=starts, **found)


def _starts_from_plain(values: Mapping[str, Any]) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return where searches start; files of earlier versions have none."""
    shape = record({"point": array(None), "curvature": array(None, None)})
    map_of(shape)(values, "starts of kept moments")
    found = {}
    for name, parts in values.items():
        point, curvature = (plain_to_array(parts[part]) for part in ("point", "curvature"))
        finite = np.isfinite(point).all() and np.isfinite(curvature).all()
        if curvature.shape != (len(point), len(point)) or not finite:
            raise fault("kept moments have a start whose curvature does not fit its point")
        found[name] = (point, curvature)
    return found
