"""A schedule as a function: lowering and compiling what its steps have left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.dataclass import replace
from fusejit.outcome import Outcome
from fusejit.stages import Lowered
from fusejit.transform.core.base import ScheduleState
from fusejit.transform.served_calls import CallBinder, NotServed


def lowered(schedule: ScheduleState) -> Lowered:
    """Run the passes of the automatic pipeline, and make the source of the kernels."""
    traced = replace(schedule.stage.traced, graph=schedule.graph)
    return replace(schedule.stage, traced=traced).fuse().lower()


def compiled(schedule: ScheduleState) -> Callable[..., Any]:
    """A function for calls like the traced one: see `Schedule.compile`."""
    kernels, calls = lowered(schedule).compile(), CallBinder(schedule.stage)

    def run(*args: Any, **kwargs: Any) -> Any:
        args = calls.in_order(args, kwargs)
        result = kernels.launch(*args)
        if isinstance(result, Outcome):  # perhaps a library has changed elsewhere
            kernels.renew()
            result = kernels.launch(*args)
        if isinstance(result, Outcome):
            why = calls.why_not_served(args, result)
            raise NotServed(f"the call is not like the traced one: {why}")
        return result

    return run
