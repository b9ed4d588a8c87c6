"""Make the bundled table: python scripts/make_seoul_bikes.py SeoulBikeData.csv."""

import sys
from pathlib import Path

import pandas as pd

COLUMNS = {
    "Hour": "hour",
    "Temperature(°C)": "temperature",
    "Humidity(%)": "humidity",
    "Wind speed (m/s)": "wind_speed",
    "Visibility (10m)": "visibility",
    "Dew point temperature(°C)": "dew_point",
    "Rainfall(mm)": "rainfall",
    "Snowfall (cm)": "snowfall",
    "holiday": "holiday",
    "Rented Bike Count": "rented_bikes",
}
OUTPUT = Path(__file__).parents[1] / "src" / "conjoin" / "data" / "seoul_bikes.csv.gz"


def main() -> None:
    """Keep functioning days and the columns above."""
    original = pd.read_csv(sys.argv[1])
    original = original[original["Functioning Day"] == "Yes"]
    original["holiday"] = (original["Holiday"] == "Holiday").astype(int)
    table = original[list(COLUMNS)].rename(columns=COLUMNS)
    table.to_csv(OUTPUT, index=False, compression={"method": "gzip", "mtime": 0})


if __name__ == "__main__":
    main()
