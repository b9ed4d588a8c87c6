"""Criteria of the product: what decides whether two units are better joined.

Units (`base.Unit`) go in, a score of every pair comes out. The criteria of the paper are in
`conjoin.paper`; `engine.methods` knows all of them by name.
"""

from conjoin.criterion.base import Criterion, PairScore, Unit
from conjoin.criterion.risk import Gcv, Risk
from conjoin.criterion.validated import Validated

__all__ = ["Criterion", "Gcv", "PairScore", "Risk", "Unit", "Validated"]
