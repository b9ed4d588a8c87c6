"""Strategies: ways in which datasets share what they know, their validation and their average.

Every strategy gives each dataset a linear model. So strategies can be compared fold by fold and
averaged coefficient by coefficient. `refits` has the strategies as functions from moments to
coefficients, `plan` decides which ones are used, `validation` fits and validates them, `average`
weighs them.
"""

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
# The clusters again, with their partition searched for outside the held-out rows. This error can
# be compared with those of other strategies. It is not that of the models that are shown, whose
# partition was found from all rows, so it has a name of its own.
SEARCHED = "clusters, searched again"
