"""Criteria and verdicts: should two datasets, or two clusters, be trained together.

Units (`base.Unit`) or moments enter; scores, estimated gains and verdicts leave.

- `base`: what every criterion takes and returns; `risk` and `validated` are two criteria. Those of
  the paper are in `conjoin.paper`.
- `judge` decides on pairs at a stated level, `verdict` says how many rows a decision would need.
  Both build on `side` (a dataset or cluster), `pair_tests` (the tests) and `law` (their
  distribution); `interval` gives confidence limits of the gain.
"""

from conjoin.criterion.base import Criterion, PairScore, Unit
from conjoin.criterion.risk import Gcv, Risk
from conjoin.criterion.validated import Validated

__all__ = ["Criterion", "Gcv", "PairScore", "Risk", "Unit", "Validated"]
