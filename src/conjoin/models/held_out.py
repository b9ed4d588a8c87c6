"""Class probabilities of held-out rows: what validation hands to the scores.

==========  ====================================================================  ========
symbol      meaning                                                               shape
==========  ====================================================================  ========
P           probability of each class, from a model that had not seen the row     (N, C)
y           number of the observed class                                          (N,)
w           row weights                                                           (N,)
dataset     number of the row's dataset                                           (N,)
==========  ====================================================================  ========
"""

from dataclasses import dataclass

from conjoin._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Probabilities of held-out rows; see the module's table."""

    P: FloatArray
    y: IntArray
    w: FloatArray
    dataset: IntArray
