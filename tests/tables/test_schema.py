"""A schema is plain data, and is applied to new rows as it is."""

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from conjoin.tables.encoding import Category, Date, Flag, LeftOut, Number
from conjoin.tables.frame import in_memory, to_frame
from conjoin.tables.learn import learn
from conjoin.tables.roles import Roles
from conjoin.tables.schema import Schema

ROLES = Roles("y", ("by",))


def test_columns_that_are_not_used_are_not_needed_later():
    table = {"by": [0, 1] * 10, "y": np.arange(20.0), "a": np.arange(20.0), "b": ["x"] * 20}
    schema = learn(in_memory(to_frame({**table, "c": [1.0] * 20})), ROLES).without(["c"])
    assert schema.features == schema.columns == ("a",)
    assert schema.encode(to_frame({"a": [3.0]})).tolist() == [[3.0]]


texts = st.one_of(
    st.sampled_from(
        ["it's", 'a "b"', "\n", "<img src=x onerror=alert(1)>", "(other)", "x missing"]
    ),
    st.text(min_size=1, max_size=8),
)


numbers = st.floats(allow_nan=False, allow_infinity=False)


encodings = st.one_of(
    st.builds(Number, texts, numbers, st.booleans(), st.booleans(), st.integers(0, 99)),
    st.builds(Flag, texts, st.booleans()),
    st.builds(
        Category, texts, texts, st.lists(texts, max_size=4).map(tuple), st.booleans(),
        st.integers(0, 9),
    ),
    st.builds(
        Date, texts, st.sampled_from([("years",), ("years", "season")]), numbers,
        st.none() | st.just("%d.%m.%Y"),
    ),
    st.builds(LeftOut, texts, texts),
)  # fmt: skip


@given(
    st.lists(encodings, max_size=5).map(tuple),
    st.lists(texts, max_size=3).map(tuple),
    st.none() | st.lists(st.text(min_size=9, max_size=12), min_size=1, unique=True).map(tuple),
    st.none() | texts,
)
def test_plain_values_and_back(rules, constant, features, weights):
    features = None if features is None else tuple(f"feature {name}" for name in features)
    schema = Schema(Roles("the target", ("by 1", "by 2"), features, weights), rules, constant)
    plain = json.loads(json.dumps(schema.to_plain()))
    assert Schema.from_plain(plain) == schema
