"""Schedules: transformations of a traced function's ops."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fusejit.errors import ScheduleError as ScheduleError
    from fusejit.fuse.tiling.in_tiles import Parts as Parts
    from fusejit.transform.saved import load_recipe as load_recipe
    from fusejit.transform.schedules import Handle as Handle
    from fusejit.transform.schedules import Schedule as Schedule
    from fusejit.transform.schedules import schedule as schedule
    from fusejit.transform.tuning import TuneResult as TuneResult
    from fusejit.transform.tuning import tune as tune

_HOMES = {
    "Handle": "transform.schedules",
    "Parts": "fuse.tiling.in_tiles",
    "Schedule": "transform.schedules",
    "ScheduleError": "errors",
    "TuneResult": "transform.tuning",
    "load_recipe": "transform.saved",
    "schedule": "transform.schedules",
    "tune": "transform.tuning",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """What schedules of users need, loaded when asked for."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"fusejit.{_HOMES[name]}"), name)
