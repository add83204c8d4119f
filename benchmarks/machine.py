"""Facts about the machine and the software, recorded with every run."""

import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def available_cores() -> int:
    """Cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def load_average() -> float:
    """Load of the last minute; 0 where the system does not tell."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0


def cpu_name() -> str:
    """The name the processor gives itself."""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def machine_facts() -> dict[str, Any]:
    """CPU, cores, system, Python, load and date; versions of engines come from the workers."""
    return {
        "cpu": cpu_name(),
        "cores": available_cores(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": sys.version.split()[0],
        "load": round(load_average(), 2),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
