#!/usr/bin/env python3
"""Writes tests/golden/mobility.csv: what the program dp_mobility_report (0.2.11) itself shows of
two of the made-up cities of city.py, without noise. Calls no dploc.

    python3 -m venv venv && venv/bin/pip install "numpy<2" "pandas<2.1" "scipy<1.12" \\
        "geopandas<0.15" "shapely<2.1" "scikit-learn<1.4" "opencv-python-headless<4.10" \\
        "diffprivlib<0.7" haversine Jinja2 matplotlib rtree geojson seaborn tqdm dill psutil \\
        "setuptools<70" folium==0.12.1.post1
    venv/bin/pip install --no-deps dp-mobility-report==0.2.11 pandarallel
    venv/bin/python tests/oracles/mobility.py >tests/golden/mobility.csv
"""

import warnings
from datetime import datetime, timezone
from math import ceil
from zoneinfo import ZoneInfo

import geopandas
import pandas
from city import BOX_M, CELL_M, SLOT_S, make_city
from shapely.geometry import box

ZONE = ZoneInfo("Europe/Berlin")
SOUTH, WEST, NORTH, EAST = 47.91, 11.37, 48.09, 11.63
DEGREES = (EAST - WEST) / BOX_M[0], (NORTH - SOUTH) / BOX_M[1]  # of a metre, x and y

# dploc's name: the program's name and measure
ROWS = {
    "dpmr_visits_emd_coded": ("visits_per_tile", "emd"),
    "dpmr_visits_smape": ("visits_per_tile_quartiles", "smape"),
    "dpmr_od_jsd": ("od_flows", "jsd"),
    "dpmr_od_smape": ("od_flows_quartiles", "smape"),
    "dpmr_jump_jsd": ("jump_length", "jsd"),
    "dpmr_jump_smape": ("jump_length_quartiles", "smape"),
    "dpmr_time_jsd": ("travel_time", "jsd"),
    "dpmr_time_smape": ("travel_time_quartiles", "smape"),
    "dpmr_days_jsd": ("trips_over_time", "jsd"),
    "dpmr_weekdays_jsd": ("trips_per_weekday", "jsd"),
    "dpmr_hours_jsd": ("trips_per_hour", "jsd"),
    "dpmr_windows_emd_coded": ("visits_per_time_tile", "emd"),
    "dpmr_user_trips_emd": ("trips_per_user", "emd"),
    "dpmr_user_trips_smape": ("trips_per_user_quartiles", "smape"),
    "dpmr_user_gap_jsd": ("user_time_delta", "jsd"),
    "dpmr_user_gap_smape": ("user_time_delta_quartiles", "smape"),
    "dpmr_gyration_jsd": ("radius_of_gyration", "jsd"),
    "dpmr_gyration_smape": ("radius_of_gyration_quartiles", "smape"),
    "dpmr_user_tiles_jsd": ("user_tile_count", "jsd"),
    "dpmr_user_tiles_smape": ("user_tile_count_quartiles", "smape"),
    "dpmr_entropy_jsd": ("mobility_entropy", "jsd"),
    "dpmr_entropy_smape": ("mobility_entropy_quartiles", "smape"),
}


def table(city):
    """One row a point, as the program reads them: local times without a zone. Tiles are given: of a
    point on an edge it would make two."""
    rows = []
    for number, trip in enumerate(city):
        for slot, ((x, y), (row, column)) in enumerate(zip(trip.xy.astype(float), trip.cells)):
            utc = datetime.fromtimestamp(trip.utc_s + slot * SLOT_S, timezone.utc)
            local = utc.astimezone(ZONE).replace(tzinfo=None)
            place = SOUTH + y * DEGREES[1], WEST + x * DEGREES[0]
            rows.append(
                (f"u{trip.user:03}", f"t{number:04}", local, *place, tile_name(row, column))
            )
    return pandas.DataFrame(rows, columns=["uid", "tid", "datetime", "lat", "lng", "tile_id"])


def tile_name(row, column):
    return f"{row:03}/{column:03}"


def tiles():
    """The cells of the grid; the last ones reach beyond the box."""
    columns, rows = (ceil(side / CELL_M) for side in BOX_M)
    dx, dy = CELL_M * DEGREES[0], CELL_M * DEGREES[1]
    found = {
        tile_name(row, column): box(
            WEST + column * dx, SOUTH + row * dy, WEST + (column + 1) * dx, SOUTH + (row + 1) * dy
        )
        for row in range(rows)
        for column in range(columns)
    }
    names = list(found)
    return geopandas.GeoDataFrame(
        {"tile_id": names, "tile_name": names}, geometry=list(found.values()), crs=4326
    )


def main():
    warnings.filterwarnings("ignore")
    from dp_mobility_report import BenchmarkReport, constants  # noisy on import

    constants.DISABLE_EMD_THRESHOLD = 10000  # tiles; beyond, the program leaves distances out

    report = BenchmarkReport(
        df_base=table(make_city(1, 400, 600)),
        df_alternative=table(make_city(2, 400, 800)),
        tessellation=tiles(),
        disable_progress_bar=True,
    )
    print("name,value")
    for name, (analysis, measure) in ROWS.items():
        print(f"ab.{name},{float(getattr(report, measure)[analysis]):.12g}")


if __name__ == "__main__":
    main()
