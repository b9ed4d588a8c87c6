"""Make the bundled table of Washington's bikes: python -m scripts.make_washington_bikes HOUR.csv.

HOUR.csv is `hour.csv` of the "Bike Sharing" data of the UCI Machine Learning Repository.
"""

import sys
from pathlib import Path

import pandas as pd

OUTPUT = Path(__file__).parents[1] / "src" / "conjoin" / "datasets" / "data"
FIRST_HOUR = 6  # at night hardly a bike is rented, on any day
# How the original scales its columns: (t + 8) / (39 + 8), percent, km/h.
COLDEST, WARMEST, PERCENT, WIND = -8, 39, 100, 67


def main() -> None:
    """Keep the second year without public holidays, in the units of the measurements."""
    original = pd.read_csv(sys.argv[1])
    ordinary = (original["yr"] == 1) & (original["holiday"] == 0)
    kept = original[ordinary & (original["hr"] >= FIRST_HOUR)]
    table = pd.DataFrame(
        {
            "weekday": pd.to_datetime(kept["dteday"]).dt.day_name(),
            "hour": kept["hr"].map("{:02d}h".format),
            "temperature": (kept["temp"] * (WARMEST - COLDEST) + COLDEST).round(1),
            "humidity": (kept["hum"] * PERCENT).round().astype(int),
            "wind": (kept["windspeed"] * WIND).round().astype(int),
            "bad_weather": (kept["weathersit"] >= 3).astype(int),
            "rentals": kept["cnt"],
        }
    )
    path = OUTPUT / "washington_bikes.csv.gz"
    table.to_csv(path, index=False, compression={"method": "gzip", "mtime": 0})


if __name__ == "__main__":
    main()
