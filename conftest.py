"""What all tests share, those in docstrings included.

Examples in the docstrings of modules that need torch are left out where it is not installed. Tests
of the linear engine are about lines: for them "auto" is the linear learner. Tests in
tests/learners, and tests marked `learner`, see the default as users do.
"""

from importlib.util import find_spec

import pytest

from conjoin.engine import learner_choice

pytest_plugins = ["tests.timing"]
ROOM = "src/conjoin/representations"

collect_ignore = [] if find_spec("torch") else [f"{ROOM}/torch", f"{ROOM}/networks.py"]


def pytest_configure():
    """Switch boosting off in "auto", also for fixtures that several tests share."""
    learner_choice.AUTO_LEARNS = False


@pytest.fixture(autouse=True)
def _as_users_see_it(request, monkeypatch):
    if request.node.get_closest_marker("learner") or "tests/learners" in str(request.path):
        monkeypatch.setattr(learner_choice, "AUTO_LEARNS", True)
