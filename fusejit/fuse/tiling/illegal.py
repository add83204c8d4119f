"""`illegal`: the error of a step that is not legal, or that changes nothing."""

from __future__ import annotations

from collections.abc import Iterable

from fusejit.errors import ScheduleError

MAX_SUGGESTIONS = 3


def illegal(step: str, op: str, why: str, legal: Iterable[str] = ()) -> ScheduleError:
    """The error of a step.

    Parameters
    ----------
    step : str
        The call, ``tile(k=8)``.
    op : str
        The name of the op.
    why : str
        The rule that is broken, with the dim and the value's uses.
    legal : iterable of str
        What would be legal instead; the first three are shown.
    """
    instead = [*legal][:MAX_SUGGESTIONS]
    remedy = f"; legal: {' or '.join(instead)}" if instead else ""
    return ScheduleError(f"{step} of {op}: {why}{remedy}")
