"""A trained model as one more column: its trees as text, and no code.

Boosted trees are trained at one place, on rows that may be used there, and sent to the sites inside
the plan. Sites compute their prediction for their own rows, and their sums include it. LightGBM
reads the text; everything in it that is a position or a size is checked first
(`learners.tree_text`). A plan and the text enter, a plan with one more column leaves; at a site,
features enter and the prediction leaves.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.errors import ArgumentError, DataError
from conjoin.learners.library import load_lightgbm
from conjoin.learners.tree_text import tree_fault, without_ranges
from conjoin.sites.plan import Plan
from conjoin.tables.encoding import Number
from conjoin.tables.schema import Schema


def with_trees(plan: Plan, trees: str, name: str = "trees") -> Plan:
    """Return a plan in which the prediction of boosted trees is one more column.

    Parameters
    ----------
    plan : Plan
        A plan without trees.
    trees : str
        Text of a LightGBM booster (`model_to_string()`), trained on the features of the plan in
        their order (`conjoin.sites.encode`).
    name : str, default "trees"
        Name of the column.

    Returns
    -------
    Plan

    Raises
    ------
    ArgumentError
        If the plan has trees already, or the text cannot be used.
    """
    if plan.prediction is not None:
        raise ArgumentError("The plan has trees already; begin with one that has none.")
    if name in plan.schema.features or name == plan.target:
        raise ArgumentError(f"name={name!r} is a column already; choose another name.")
    text = without_ranges(trees)
    fault = tree_fault(text, len(plan.schema.features), 1)
    if fault:
        raise ArgumentError(
            f"The trees cannot be used: {fault}; expected the text of a LightGBM booster of "
            f"{len(plan.schema.features)} columns, trained on an array."
        )
    roles = plan.schema.roles
    schema = replace(
        plan.schema,
        roles=replace(roles, features=(*(roles.features or ()), name)),
        encodings=(*plan.schema.encodings, Number(name, 0.0)),
    )
    return replace(plan, schema=schema, prediction={"name": name, "trees": text})


def own_schema(plan: Plan) -> Schema:
    """Return the schema of the columns that a site's table has: all but the prediction."""
    if plan.prediction is None:
        return plan.schema
    name = plan.prediction["name"]
    kept = tuple(e for e in plan.schema.encodings if e.name != name)
    return replace(plan.schema, encodings=kept)


def with_prediction(X: FloatArray, plan: Plan) -> FloatArray:
    """Return the features (n, features) of a plan, from those that columns became."""
    if plan.prediction is None:
        return X
    text: Any = plan.prediction.get("trees")
    fault = tree_fault(text, X.shape[1], 1) if isinstance(text, str) else "there is no text"
    if fault:
        raise DataError(f"The trees in the plan cannot be used: {fault}; ask for another plan.")
    booster = load_lightgbm().Booster(model_str=text)
    found = np.asarray(booster.predict(X, raw_score=True, num_threads=1), dtype=np.float64)
    return np.column_stack([X, found])
