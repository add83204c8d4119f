"""Schedules: transformations of a traced function's ops, one step after the other."""

from fusejit.transform.core.errors import ScheduleError as ScheduleError
from fusejit.transform.handle import Handle as Handle
from fusejit.transform.primitives.tile import Parts as Parts
from fusejit.transform.saved import load_recipe as load_recipe
from fusejit.transform.schedule import Schedule as Schedule
from fusejit.transform.schedule import schedule as schedule
from fusejit.transform.tune import TuneResult as TuneResult
from fusejit.transform.tune import tune as tune

__all__ = [
    *("Handle", "Parts", "Schedule", "ScheduleError", "TuneResult"),
    *("load_recipe", "schedule", "tune"),
]
