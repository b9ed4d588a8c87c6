"""Compare the golden corpus with what the code finds now, or store it anew.

python -m scripts.golden_corpus            # the largest difference of each case
python -m scripts.golden_corpus --store    # writes tests/golden/corpus.json
"""

import argparse
import json
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from tests.golden.corpus import CASES, STORED, find, stored

SAME = 1e-10  # relative difference up to which numbers are taken for the same


def main() -> int:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", action="store_true", help="store what is found")
    store = parser.parse_args().store
    known = {} if store else stored()
    found, worst = {}, 0.0
    for name in CASES:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found[name] = find(name, Path(folder))
        if not store:
            distance = difference(known[name], found[name])
            worst = max(worst, distance)
            print(f"{distance:8.1e}  {name}")
    if store:
        STORED.write_text(json.dumps(found, indent=0, sort_keys=True) + "\n")
    return int(worst > SAME)


def difference(one: Any, two: Any) -> float:
    """Return the largest relative difference of numbers; infinite where anything else differs.

    >>> difference({"a": [1.0, 2.0]}, {"a": [1.0, 2.5]})
    0.2
    >>> difference(["join"], ["apart"])
    inf
    """
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return max((difference(one[key], two[key]) for key in one), default=0.0)
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return max((difference(a, b) for a, b in zip(one, two)), default=0.0)
    if one == two and type(one) is type(two):
        return 0.0
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        return abs(one - two) / max(abs(one), abs(two))
    return float("inf")


if __name__ == "__main__":
    sys.exit(main())
