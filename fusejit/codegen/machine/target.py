"""The target of this machine: what `fusejit.ir.target_facts.Target` says, probed once."""

from __future__ import annotations

import functools
from pathlib import Path

from fusejit.codegen.machine.cores import available_cores
from fusejit.codegen.machine.probe import probe
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS
from fusejit.ir.target_facts import GENERIC, Target

_CPU = Path("/sys/devices/system/cpu/cpu0/cache")


@functools.cache
def host_target() -> Target:
    """Cores, caches and vector functions of the machine this process runs on."""
    support = probe()
    sizes = _cache_sizes()
    return Target(
        num_cores=available_cores(),
        l1_bytes=sizes.get(1, GENERIC.l1_bytes),
        l2_bytes=sizes.get(2, GENERIC.l2_bytes),
        last_level_bytes=max(sizes.values(), default=GENERIC.last_level_bytes),
        vector_functions=frozenset(
            f"{name}.{dtype}"
            for name in MATH_FUNCTIONS
            for dtype in ("f32", "f64")
            if support.has_vector(name, dtype)
        ),
    )


def _cache_sizes() -> dict[int, int]:
    """Data cache sizes in bytes by level, where Linux tells them."""
    sizes: dict[int, int] = {}
    try:
        for index in _CPU.glob("index*"):
            if (index / "type").read_text().strip() == "Instruction":
                continue
            level = int((index / "level").read_text())
            text = (index / "size").read_text().strip()
            unit = {"K": 1 << 10, "M": 1 << 20}.get(text[-1:], 1)
            sizes[level] = int(text.rstrip("KM")) * unit
    except (OSError, ValueError):
        return {}
    return sizes
