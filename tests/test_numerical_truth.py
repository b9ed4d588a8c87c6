"""Numbers beside 100-digit arithmetic, and the stored table of docs/reliability.md."""

import pytest

from scripts import numerical_truth as truth

# Relative errors at most: a hundred times what is stored, as processors round differently.
SLACK = 100


@pytest.fixture(scope="module")
def found():
    return truth.measure()


def stored():
    """Return the rows of the stored table."""
    text = truth.PAGE.read_text().split(truth.BEGIN)[1].split(truth.END)[0]
    lines = [line.strip("|").split("|") for line in text.strip().splitlines()]
    heads = [head.strip() for head in lines[0][1:]]
    rows = ((cells[0].strip(), cells[1:]) for cells in lines[2:])
    return {name: dict(zip(heads, map(float, cells))) for name, cells in rows}


def test_numbers_are_as_exact_as_the_page_says(found):
    known = stored()
    assert list(known) == [name for name, _ in found]
    for name, errors in found:
        for what, error in errors.items():
            assert error <= SLACK * known[name][what], (name, what)


def test_offsets_cost_no_digits_of_errors_and_verdicts(found):
    for name, errors in found:
        if name.startswith("offset"):
            assert max(errors[c] for c in ("moments", "slopes", "error", "phi", "psi")) < 1e-11


def test_well_conditioned_numbers_are_exact_to_twelve_digits(found):
    assert max(dict(found)["condition 1e+00"].values()) < 1e-12
