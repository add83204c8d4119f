"""Schedules: transformations of a traced function's ops, one step after the other."""

from fusejit.transform.errors import ScheduleError as ScheduleError
from fusejit.transform.handle import Handle as Handle
from fusejit.transform.schedule import Schedule as Schedule
from fusejit.transform.schedule import schedule as schedule

__all__ = ["Handle", "Schedule", "ScheduleError", "schedule"]
