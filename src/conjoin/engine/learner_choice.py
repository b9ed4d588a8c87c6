"""Which learner a request asks for.

A request and a table enter; a learner leaves, or None where models are lines only.
"""

from typing import Any

import numpy as np

from conjoin._typing import FloatArray
from conjoin.api.request import PairRequest, Request
from conjoin.errors import ArgumentError, warn_caller
from conjoin.learners.blended import blended
from conjoin.learners.boosting import Boosting
from conjoin.learners.library import MissingLibraryError, load_lightgbm
from conjoin.learners.rows import Learner

# Step of each round in `compare`, twice the usual one: a comparison trains dozens of models, and
# larger steps take half the rounds for nearly the same error.
PAIR_RATE = 0.1
# Whether "auto" tries boosting; tests of the linear engine switch it off.
AUTO_LEARNS = True


def make_learner(request: Request, criterion: Any) -> Learner | None:
    """Return the learner that is asked for; None for lines only."""
    asked = request.learner
    if asked == "linear" or (asked == "auto" and not AUTO_LEARNS):
        return None
    obstacle = _obstacle(request, criterion)
    if obstacle:
        if asked == "auto":
            return None
        raise ArgumentError(
            f"learner={name_of_learner(asked)!r} does not go with {obstacle}; leave one of the two "
            "out, or choose learner='linear'."
        )
    found = _named_learner(asked, Boosting(random_state=int(request.random_state)))
    return blended(found) if isinstance(found, Boosting) else found


def make_pair_learner(request: PairRequest) -> Learner | None:
    """Return the learner that `compare` is asked for; None for lines only."""
    asked = request.learner
    if asked == "linear" or (asked == "auto" and not AUTO_LEARNS):
        return None
    obstacle = "" if request.intercept else "intercept=False"
    if request.method != PairRequest.method:
        obstacle = f"method={request.method_name!r}, which scores linear models"
    if obstacle:
        if asked == "auto":
            return None
        raise ArgumentError(
            f"learner={request.learner_name!r} does not go with {obstacle}; leave one of the two "
            "out, or choose learner='linear'."
        )
    return _named_learner(asked, Boosting(rate=PAIR_RATE, random_state=int(request.random_state)))


def warn_of_weights(learner: Learner | None, weights: FloatArray) -> None:
    """Say that an estimator is trained without the row weights, if it takes none."""
    if not getattr(learner, "takes_weights", True) and np.ptp(weights) > 0:
        warn_caller(
            f"learner={name_of_learner(learner)} takes no sample_weight, so the row weights count "
            "in its errors, but not in its training."
        )


def _named_learner(asked: Any, boosting: Boosting) -> Learner | None:
    """Return a learner by its name, or made of an estimator; None if "auto" has lines only."""
    if not isinstance(asked, str):
        return as_learner(asked, boosting.random_state)
    try:
        load_lightgbm()
    except MissingLibraryError as error:
        if asked == "boosting":
            raise
        warn_caller(f"{error} Until then learner='auto' fits linear models only.")
        return None
    return boosting


def _obstacle(request: Request, criterion: Any) -> str:
    """Return what a learner cannot work with, in words; empty if there is nothing."""
    if request.representation is not None:
        return f"representation={request.representation!r}"
    if criterion is not None:
        return f"method={request.method_name!r}"
    if not request.intercept:
        return "intercept=False"
    return ""


def as_learner(asked: Any, seed: int) -> Learner:
    """Return a learner made of what a user passed."""
    if isinstance(asked, Boosting):
        return asked
    from conjoin.learners.foreign import Foreign

    return Foreign.of(asked, seed)


def name_of_learner(asked: Any) -> str:
    """Return a learner by its name."""
    if isinstance(asked, str):
        return asked
    return str(getattr(asked, "name", type(asked).__name__))
