import json

import numpy as np
import pytest

from conjoin.errors import ReadError
from conjoin.result.checked import Fault
from conjoin.sites.document import (
    EXPORT,
    PLAN,
    array,
    kind_of,
    numbers,
    read_document,
    symmetric,
    triangle_of,
    write_document,
)


def test_numbers_come_back_bit_by_bit_and_stand_in_few_lines(tmp_path):
    values = np.random.default_rng(0).standard_normal((3, 4)) * 1e-7
    path = tmp_path / "a.json"
    write_document(path, PLAN, {"values": numbers(values), "name": "x"})
    assert len(path.read_text().splitlines()) < 16
    content = read_document(path, PLAN, lambda content: None)
    assert np.array_equal(array(content["values"], "values", 3, None), values)
    assert kind_of(path) == PLAN
    with pytest.raises(ReadError, match="no site file of conjoin but plan"):
        read_document(path, EXPORT, lambda content: None)
    document = json.loads(path.read_text())
    document["content"]["name"] = "y"
    path.write_text(json.dumps(document))
    with pytest.raises(ReadError, match="checksum does not fit; ask the coordinator"):
        read_document(path, PLAN, lambda content: None)


def test_tables_of_numbers_are_checked():
    for bad in ([[1.0], [2.0, 3.0]], [["1"]], [[True]], [[float("nan")]], [[1e200]], 3.0, None):
        with pytest.raises(Fault):
            array(bad, "it", None, 1)
    with pytest.raises(Fault, match="it has 1 x 1 numbers, expected any x 2"):
        array([[1.0]], "it", None, 2)


def test_triangles_are_those_of_symmetric_matrices():
    A = np.random.default_rng(1).standard_normal((2, 3, 3))
    A = A + np.swapaxes(A, 1, 2)
    assert np.array_equal(symmetric(triangle_of(A), 3), A)
