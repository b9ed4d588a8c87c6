"""Criteria and verdicts: should two datasets, or two clusters, be trained together.

Units (`base.Unit`) or moments enter; scores, estimated gains and verdicts leave.

- `base`: what every criterion takes and returns; `risk` and `validated` are two criteria. Those of
  the paper are in `conjoin.paper`.
- `verdict` decides on one pair at a stated level, `judge` on many pairs at once. Both build on
  `side` (a dataset or cluster), `pair_tests` (the tests), `law` (their distribution) and `interval`
  (confidence limits of the gain).
"""

from conjoin.criterion.base import Criterion, PairScore, Unit
from conjoin.criterion.risk import Gcv, Risk
from conjoin.criterion.validated import Validated

__all__ = ["Criterion", "Gcv", "PairScore", "Risk", "Unit", "Validated"]
