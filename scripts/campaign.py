"""Try random hostile cases and count what happens.

python -m scripts.campaign --cases 300 --seed 0      # prints faults, each with its smallest case
python -m scripts.campaign --case 17                 # one case again, with the whole trace
python -m scripts.campaign --cases 300 --learners    # of these the cases with a learner alone
python -m scripts.campaign --cases 200000 --store    # writes tests/campaign/last.json
python -m scripts.campaign --cases 500 --on          # goes on where the stored run ends, and adds
python -m scripts.campaign --again                   # broken cases of the stored run

A run that starts where the stored one ends is added to it. The file names the cases that broke the
promise. Once they are mended, `--again` runs them again and corrects what is stored.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.campaign.cases import LEARNERS_EACH, Case, draw
from tests.campaign.promise import KEPT, Outcome, try_case
from tests.campaign.shrink import shrink

STORED = Path(__file__).parents[1] / "tests" / "campaign" / "last.json"
SHRINK_SECONDS = 60.0  # for the smallest case of one fault


def main() -> int:
    """Run cases; the result is 1 if one of them breaks the promise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, help="run this one alone and show its trace")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=60.0, help="a longer case hangs")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so many")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--learners", action="store_true", help="only cases with a learner")
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--on", action="store_true", help="go on after the stored run; store")
    parser.add_argument("--again", action="store_true", help="broken cases of the stored run")
    given = parser.parse_args()
    if given.case is not None:
        return show(draw(given.case))
    if given.again:
        return try_again(given.seconds)
    if given.on:
        given.store, given.seed = True, end_of_stored()
    return campaign(given)


def campaign(given: argparse.Namespace) -> int:
    """Run the cases that are asked for, print faults and counts, and store them if asked to."""
    start = time.perf_counter()
    faults: dict[tuple[str, str], list[tuple[Case, Outcome]]] = defaultdict(list)
    found: dict[int, str] = {}
    refusals: Counter[str] = Counter()
    seeds = range(given.seed, given.seed + given.cases)
    if given.learners:
        seeds = range(-(-given.seed // LEARNERS_EACH) * LEARNERS_EACH, seeds.stop, LEARNERS_EACH)
    for number, (case, outcome) in zip(seeds, run(seeds, given.workers, given.seconds)):
        found[number] = outcome.kind
        if outcome.kind == "refused":
            refusals[outcome.where] += 1
        if not outcome.kept:
            if outcome.signature not in faults:
                said = f"{outcome.kind} at {outcome.where}: {outcome.message[:160]}"
                print(f"  {said}", case, flush=True)
            faults[outcome.signature].append((case, outcome))
        if time.perf_counter() - start > 60 * given.minutes:
            break
    took = time.perf_counter() - start
    for same in sorted(faults.values(), key=len, reverse=True):
        tell(same, given.no_shrink)
    counts = dict(sorted(Counter(found.values()).items()))
    used = sum(os.times()[:4])  # seconds of processors, those of workers that have ended too
    print(f"{len(found):,} cases from seed {given.seed}: {counts}; {took:.0f} s, {used:.0f} used")
    print("refused at", dict(refusals.most_common(12)))
    if given.store:
        store(given.seed, found, took)
    return int(bool(faults))


def one(number: int, seconds: float) -> tuple[Case, Outcome]:
    """Run the case of a number."""
    case = draw(number)
    return case, try_case(case, seconds)


def run(seeds: range, workers: int, seconds: float):
    """Give every case and its outcome, in order."""
    if workers < 2:
        for number in seeds:
            yield one(number, seconds)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(one, seeds, [seconds] * len(seeds), chunksize=20)


def tell(found: list[tuple[Case, Outcome]], as_it_is: bool) -> None:
    """Print a fault, how often it was there, and its smallest case."""
    case, outcome = found[0]
    if not as_it_is:
        end = time.perf_counter() + SHRINK_SECONDS

        def fails(smaller: Case) -> bool:
            return time.perf_counter() < end and try_case(smaller).signature == outcome.signature

        case = shrink(case, fails)
    numbers = [str(c.seed) for c, _ in found[:6]]
    print(f"{len(found):4} x {outcome.kind} at {outcome.where}: {outcome.message[:300]}")
    print(f"       cases {', '.join(numbers)}; smallest {case}", flush=True)


def show(case: Case) -> int:
    """Run one case outside of all guards, so that its trace is seen."""
    import tempfile
    import warnings

    from tests.campaign import promise

    print(case)
    warnings.simplefilter("error", RuntimeWarning)
    with tempfile.TemporaryDirectory() as folder:
        print(promise._call(case, Path(folder)))
    return 0


def stored() -> dict:
    """Return the stored run; empty if there is none."""
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def end_of_stored() -> int:
    """Return the number of the first case after the stored run."""
    kept = stored()
    return kept["seed"] + kept["cases"] if kept else 0


def store(seed: int, found: dict[int, str], seconds: float) -> None:
    """Write what was found; add it to the stored run if it starts where that one ends."""
    from conjoin import __version__

    kept = stored()
    counts, cases = Counter(found.values()), len(found)
    broken = {str(number): kind for number, kind in found.items() if kind not in KEPT}
    if kept.get("version") == __version__ and end_of_stored() == seed:
        counts, broken = counts + Counter(kept["outcomes"]), {**kept["broken"], **broken}
        seed, cases, seconds = kept["seed"], kept["cases"] + cases, kept["seconds"] + seconds
    write(
        {
            "version": __version__,
            "seed": seed,
            "cases": cases,
            "outcomes": dict(sorted(counts.items())),
            "broken": broken,
            "seconds": round(seconds),
        }
    )


def write(kept: dict) -> None:
    """Write the stored run."""
    STORED.write_text(json.dumps(kept, indent=1) + "\n")


def try_again(seconds: float) -> int:
    """Run the broken cases of the stored run again, and store what they give now."""
    kept = stored()
    counts, still = Counter(kept["outcomes"]), {}
    for number, before in kept["broken"].items():
        case, outcome = one(int(number), seconds)
        print(f"case {number}, before {before}: now {outcome.kind} {outcome.where}", flush=True)
        counts[before] -= 1
        counts[outcome.kind] += 1
        if not outcome.kept:
            still[number] = outcome.kind
    write({**kept, "outcomes": dict(sorted((+counts).items())), "broken": still})
    return int(bool(still))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
