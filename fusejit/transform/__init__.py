"""Schedules: transformations of a traced function's ops."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fusejit.transform.core.arguments import Parts as Parts
    from fusejit.transform.core.errors import ScheduleError as ScheduleError
    from fusejit.transform.saved import load_recipe as load_recipe
    from fusejit.transform.schedules import Handle as Handle
    from fusejit.transform.schedules import Schedule as Schedule
    from fusejit.transform.schedules import schedule as schedule
    from fusejit.transform.tuning import TuneResult as TuneResult
    from fusejit.transform.tuning import tune as tune

_HOMES = {
    "Handle": "schedules",
    "Parts": "core.arguments",
    "Schedule": "schedules",
    "ScheduleError": "core.errors",
    "TuneResult": "tuning",
    "load_recipe": "saved",
    "schedule": "schedules",
    "tune": "tuning",
}
__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    """What schedules of users need; the automatic passes load their own modules alone."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
