"""Real files as they are, tried as a new user would: a sensible verdict within 30 seconds each.

The limit is on processor time, which a busy machine does not change; on a quiet one the clock shows
less. With lines all but the large ones take 2 to 7 seconds. Boosted trees take longer, so three
files are tried with the default learner.
"""

import re
import time

import pytest
from typer.testing import CliRunner

from benchmarks.arena.data import shared_data
from conjoin.cli.main import app

LIMIT = 28  # seconds; the start of the program, which is not counted here, takes two
LINES = ("--learner", "linear")
WORST = 5  # percent by which the error may exceed that of separate models or of one pooled model

# name: path, target, columns that name the dataset
FILES = {
    "schools": ("bench/school-ilea/school_ilea.csv.gz", "exam_score", ["school"]),
    "parkinsons": (
        "bench/parkinsons-telemonitoring/parkinsons_telemonitoring.csv.gz",
        "total_UPDRS",
        ["subject#"],
    ),
    "radon": ("bench/radon-minnesota/radon_minnesota.csv", "log.radon", ["county.name"]),
    "sleepstudy": ("bench/sleepstudy/sleepstudy.csv", "Reaction", ["Subject"]),
    "wine": ("bench/wine-quality/wine_quality.csv.gz", "quality", ["color"]),
    "diamonds": ("bench/diamonds/diamonds.csv.gz", "price", ["clarity"]),
    "bikes by hour": ("bench/bikeshare-hour/bikeshare_hour.csv.gz", "cnt", ["season"]),
    "flights": ("bench/nycflights/nycflights.csv.gz", "arr_delay", ["carrier"]),
    "sales of departments": ("paper/ssf/train.parquet", "Weekly_Sales", ["Dept"]),
    "traffic": (
        "paper/mitv/Metro_Interstate_Traffic_Volume.csv.gz", "traffic_volume", ["weather_main"],
    ),
    "walmart": ("paper/wdaf/Walmart.csv", "Weekly_Sales", ["Store"]),
    "garments": ("paper/ppge/garments_worker_productivity.csv", "actual_productivity", ["day"]),
    "orders": ("paper/dfoip/daily_orders_top100_items.csv.gz", "order", ["itemID"]),
    "seoul": ("paper/sbsd/SeoulBikeData.csv.gz", "Rented Bike Count", ["Hour"]),
}  # fmt: skip

# As above, with the processor time taken when this was written.
LARGE = {
    "houses, 28 datasets of 198 features": (
        "bench/ames-housing/ames_housing.csv.gz", "SalePrice", ["Neighborhood"], 28,
    ),
    "sales of families, 165 datasets of 49 features": (
        "paper/cfgsf/store_family_daily_2017-06-13_2017-08-15.parquet",
        "sales",
        ["store_type", "family"],
        27,
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    try:
        return shared_data()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def partition(data, path, target, by, *more):
    """Return what the command prints, and its processor time."""
    command = ["partition", str(data / path), "--target", target]
    command += [*(part for name in by for part in ("--by", name)), *more]
    before = time.process_time()
    done = CliRunner().invoke(app, command)
    seconds = time.process_time() - before
    assert done.exit_code == 0, done.stderr
    assert "Traceback" not in done.stderr
    notes = re.compile(
        r"Note: |[A-Z][a-z ]+: \d+ %, \d+ s$"
    )  # without a terminal, progress is lines
    assert all(notes.match(line) for line in done.stderr.splitlines()), done.stderr
    assert "\x1b" not in done.stdout
    return done.stdout, seconds


def change(text, other):
    """Return by how many percent the error differs from that of another way, from the verdict."""
    if re.search(rf"the same as with {other}", text):
        return 0
    found = re.search(rf"([\d,.]+) % (lower|higher) than with {other}", text)
    assert found, text
    return float(found[1].replace(",", "")) * (-1 if found[2] == "lower" else 1)


def check_verdict(text):
    # Lines before it are about gross errors and suspicious columns.
    first = next(line for line in text.splitlines() if re.match("Best choice|In use", line))
    assert re.match(r"(Best choice|In use): .*: RMSE [\d.e+]+ \(90 % interval ", first)
    assert change(first, r"[\d,]+ separate models") <= WORST
    if not re.match(r"Best choice: one model for all", first):
        assert change(first, "one model for all") <= WORST
    assert "Clusters, one model each" in text
    assert "Ledger of joins" in text


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_as_it_is_gets_a_sensible_verdict(data, name):
    text, seconds = partition(data, *FILES[name], *LINES)
    check_verdict(text)
    assert seconds < LIMIT


@pytest.mark.slow
@pytest.mark.learner
@pytest.mark.parametrize("name", ["radon", "sleepstudy", "garments"])
def test_the_default_learner_gives_a_verdict_too(data, name):
    text, seconds = partition(data, *FILES[name])
    assert re.search(r"(Best choice|In use): .*: RMSE [\d.e+]+ \(90 % interval ", text)
    assert "corrected" in text
    assert seconds < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_large_designs_take_longer(data, name):
    *arguments, before = LARGE[name]
    text, seconds = partition(data, *arguments, *LINES)
    check_verdict(text)
    assert seconds < 4 * before  # wall time, also on a busy machine


@pytest.mark.slow
def test_a_target_among_the_features_is_noticed(data):
    """Rentals are the sum of two columns; without these the file is like any other."""
    path, target, by = "paper/bb/day.csv", "cnt", ["weathersit"]
    text, _ = partition(data, path, target, by, *LINES)
    assert (
        "Caution: The features predict 'cnt' almost exactly; does one of them contain it?" in text
    )
    honest = "dteday,season,holiday,workingday,temp,atemp,hum,windspeed"
    text, seconds = partition(data, path, target, by, "--features", honest, *LINES)
    assert "almost exactly" not in text
    check_verdict(text)
    assert seconds < LIMIT
