"""Moments: the sufficient statistics of least squares, formed once from rows and then only added.

Enters: rows of datasets. Leaves: `Moments` by dataset, fold or resample, in the coordinates of a
`Basis`. All rooms after this one work on moments.
"""

from conjoin.moments.basis import Basis
from conjoin.moments.folds import Dealt, deal_rows
from conjoin.moments.forward import Forward
from conjoin.moments.gram import Moments
from conjoin.moments.kept import change
from conjoin.moments.made import beside
from conjoin.moments.rows import RowFolds, RowMoments

__all__ = [
    "Basis",
    "Dealt",
    "Forward",
    "Moments",
    "RowFolds",
    "RowMoments",
    "beside",
    "change",
    "deal_rows",
]
