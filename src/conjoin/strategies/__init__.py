"""Strategies: ways in which datasets share what they know, their validation and their average.

Every strategy gives each dataset a linear model. So strategies can be compared fold by fold and
averaged coefficient by coefficient. `refits` has the strategies as functions from moments to
coefficients, `plan` decides which ones are used, `validation` fits and validates them, `average`
weighs them.
"""

from collections.abc import Mapping

# The strategies by name, in the order in which users read of them.
STRATEGIES = (
    "separate",
    "pooled",
    "clusters",
    "plain",
    "intercept",
    "slopes",
    "partial",
    "full",
    "lowrank",
    "mixture",
)
# Strategies with a learner (`engine.learned` says what each is).
LEARNER_STRATEGIES = (
    "linear",
    "corrected",
    "residual",
    "curves",
    "learner named",
    "learner pooled",
    "learner separate",
    "learner clusters",
)
# The clusters again, with their partition searched for outside the held-out rows. This error can
# be compared with those of other strategies. It is not that of the models that are shown, whose
# partition was found from all rows, so it has a name of its own.
SEARCHED = "clusters, searched again"


def reference(errors: Mapping[str, float], name: str) -> str:
    """Return what a strategy is compared with: separate models, or one model for all.

    With a learner that is the better of the linear ones and the learner's.

    >>> reference({"separate": 2.0, "learner separate": 1.0, "pooled": 3.0}, "separate")
    'learner separate'
    """
    known = [one for one in (name, f"learner {name}") if one in errors]
    return min(known, key=lambda one: errors[one])
