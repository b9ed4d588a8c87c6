import pytest

from benchmarks.arena.data import shared_data


@pytest.fixture(scope="session")
def paper_data():
    try:
        return shared_data() / "paper"
    except FileNotFoundError as error:
        pytest.skip(f"the paper's data are not here: {error}")
