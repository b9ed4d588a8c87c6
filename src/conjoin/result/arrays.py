"""Arrays in a JSON document: their shape and the base64 text of their bytes.

An array enters and plain values leave, or the other way round; numbers come back bit by bit.
"""

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np

from conjoin._typing import AnyArray, FloatArray


def array_to_plain(values: AnyArray, kind: str = "<f8") -> dict[str, Any]:
    """Return an array as its shape and the base64 text of its bytes."""
    array = np.ascontiguousarray(values, dtype=kind)
    encoded = base64.b64encode(array.tobytes()).decode()
    return {
        "shape": list(array.shape),
        "base64": encoded,
        **({} if kind == "<f8" else {"kind": kind}),
    }


def plain_to_array(values: Mapping[str, Any]) -> FloatArray:
    """Return an array that `array_to_plain` made plain."""
    flat = np.frombuffer(base64.b64decode(values["base64"]), dtype=values.get("kind", "<f8"))
    array: FloatArray = flat.reshape(values["shape"]).astype(np.float64)
    return array
