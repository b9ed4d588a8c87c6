import subprocess
import sys

import pytest

from conjoin import paper


@pytest.mark.parametrize("name", paper.__all__)
def test_every_public_name_is_loaded_on_demand(name):
    ours = {"Algorithm1": "Bound", "Algorithm2": "Tuned", "algorithm3": "greedy"}.get(name, name)
    assert getattr(paper, name).__name__ == ours
    assert name in dir(paper)


def test_unknown_names_are_refused():
    with pytest.raises(AttributeError, match="module 'conjoin.paper' has no attribute 'Bond'"):
        paper.Bond  # noqa: B018


def test_importing_the_room_loads_none_of_its_modules():
    code = (
        "import sys, conjoin.paper; "
        "print([name for name in sys.modules if name.startswith('conjoin.paper.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
