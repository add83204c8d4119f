"""How many cores this process may use.

Those that it is bound to; of these no more than the time that its control group is granted, as with
``docker run --cpus=2`` or a limit of Kubernetes. More threads than that use the time up early in
each period, and then all of them stand still until the next one.

Source: "CFS Bandwidth Control" (``cpu.cfs_quota_us``) and "Control Group v2" (``cpu.max``) of the
documentation of Linux.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

_MEMBERSHIP = Path("/proc/self/cgroup")
_GROUPS = Path("/sys/fs/cgroup")


def available_cores() -> int:
    """Cores that threads of this process can run on at the same time, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        bound = len(os.sched_getaffinity(0))
    else:
        bound = os.cpu_count() or 1
    return max(1, min([bound, *map(math.ceil, _shares())]))


def _shares() -> Iterator[float]:
    """Cores' worth of time that each control group above this process is granted, if limited."""
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except (OSError, ValueError):  # no Linux
        return
    for line in lines:
        _, controllers, group = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # Inside a container the group may be named as outside of it: then only the root is there.
        place = Path(group.lstrip("/"))
        for folder in (_GROUPS / controllers / part for part in (place, *place.parents)):
            share = _share_of(folder)
            if share is not None:
                yield share


def _share_of(folder: Path) -> float | None:
    """Cores' worth of time of one group; None where it has no limit, or is none."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text()
            period = (folder / "cpu.cfs_period_us").read_text()
        share = int(quota) / int(period)  # "max" is no number
    except (OSError, ValueError, ZeroDivisionError):
        return None
    return share if share > 0 else None
