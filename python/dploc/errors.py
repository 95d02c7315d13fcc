"""What can go wrong, as exceptions."""

from __future__ import annotations

import re

__all__ = ["DplocError", "BadDataError", "UsageError", "SystemFailure", "RefusedError",
           "Interrupted"]

# Members of the library's structs under other names than their keyword has.
KEYWORD_OF_FIELD = {
    "area": "region", "area.south_deg,west_deg,north_deg,east_deg": "bbox",
    "dpl_area_preset": "region", "area.cell_m": "cell", "area.slot_s": "slot", "area.zone": "tz",
    "read.zone": "tz", "area.speed_limit_kmh": "max_speed", "read.gap_limit_s": "max_gap",
    "read.drop_points": "drop", "sample.interval_s": "interval", "sample.gps_error_m": "gps_error",
    "sample.date": "dates", "overwrite": "force", "fit.checkpoint_s": "checkpoint_every",
    "points.trip": "trip_column", "points.user": "user_column",
    "fit.sigmas.lengths": "sigma_lengths", "fit.sigmas.topk": "sigma_topk",
    "fit.sigmas.ti": "sigma_ti", "fit.sigmas.tpg": "sigma_tpg",
    "dpl_measure_about": "dploc.measures()",
}


def keyword_of(field: str) -> str:
    """The keyword that sets a member of the library's structs.

    >>> keyword_of("area.cell_m"), keyword_of("read.trip_column")
    ('cell', 'trip_column')
    """
    return KEYWORD_OF_FIELD.get(field, field.rpartition(".")[2])


class DplocError(Exception):
    """A call failed; the text says what is wrong, where, and what to do.

    `field` is the keyword at fault, or None; `result` what was found out all the same, or None.

    >>> import dploc
    >>> try:
    ...     dploc.account(gaussian=3.8, delta=2)
    ... except dploc.DplocError as error:
    ...     print(error.field)
    delta
    """

    def __init__(self, message: str, result: object = None):
        self.result = result
        fields = re.findall(r"`([^`]+)`", message)
        self.field: str | None = keyword_of(fields[0]) if fields else None
        super().__init__(re.sub(r"`([^`]+)`", lambda found: keyword_of(found[1]), message))


class BadDataError(DplocError, ValueError):
    """What was read is not what it should be."""


class UsageError(DplocError, ValueError):
    """A keyword, or a combination of them, makes no sense."""


class SystemFailure(DplocError, OSError):
    """Memory, disk or permissions."""


class RefusedError(DplocError):
    """It would break the privacy promise."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. What was spent is not lost: call again with `resume=True`.

    `checkpoint` is the file that holds the state, or None where there is nothing to go on from.
    """

    def __init__(self, message: str, checkpoint: str | None = None):
        self.checkpoint = checkpoint
        super().__init__(message)
