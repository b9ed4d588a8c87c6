"""A trained model as one more column: its trees as text, and no code.

A frame and a plan with a prediction enter; the frame with the prediction as a column leaves. A
booster is trained at one place, on rows that may be used there, and sent to the sites inside the
plan. Sites compute its prediction for their own rows; their sums then include it.
"""

from typing import TYPE_CHECKING, Any

import narwhals as nw

if TYPE_CHECKING:
    from conjoin.sites.plan import Plan


def predict_column(frame: nw.DataFrame[Any], plan: "Plan") -> nw.DataFrame[Any]:
    """Return the frame with the prediction of the plan's model as a column."""
    raise NotImplementedError
