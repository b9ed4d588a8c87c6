import sys

import lightgbm
import pytest

from conjoin.errors import ConjoinError
from conjoin.learners.library import load_lightgbm


def test_the_library_is_loaded_or_a_sentence_says_what_to_install(monkeypatch):
    assert load_lightgbm() is lightgbm
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(ConjoinError, match="pip install lightgbm.*learner='linear'"):
        load_lightgbm()
