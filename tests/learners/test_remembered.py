"""Trees come back from a checkpoint bit by bit."""

import numpy as np

from conjoin.learners.boosting import TreeModel
from conjoin.learners.remembered import (
    pack_cross_fitted,
    pack_model,
    unpack_cross_fitted,
    unpack_model,
)
from conjoin.learners.rows import CrossFitted


def test_models_and_predictions_come_back():
    model = TreeModel("tree\nsplit=0.1", 1 / 3, 2 / 3, True, False)
    assert unpack_model(pack_model(model), TreeModel) == model
    found = CrossFitted(np.array([[1 / 3]]), {"rounds": 3, "rate": 0.05}, (model,))
    again = unpack_cross_fitted(pack_cross_fitted(found), TreeModel)
    assert np.array_equal(again.held_out, found.held_out)
    assert again.settings == found.settings and again.models == (model,)
