"""Moments: the sufficient statistics of least squares, formed once and added ever after."""

from conjoin.moments.basis import Basis
from conjoin.moments.gram import Moments

__all__ = ["Basis", "Moments"]
