"""`stream_for`: `parallel_for` whose result, when it is large, goes around the caches.

A store into a line that is not in a cache reads the line from memory first; a store which says that
the line is not needed soon (`nontemporal` in LLVM) does not, if whole lines are written.

    stream_for(body, extent, work_ns, num_bytes, fresh_bytes, result, *args)

runs ``body(lo, hi, result, *args)`` over ``[0, extent)``. `body` writes ``result[lo:hi]`` and reads
nothing of it. Where streaming pays, the chunks are cut into tiles; for a tile, `body` is handed a
scratch in the first-level cache in place of the result, and the scratch is streamed out. LLVM's
vectoriser leaves loops scalar that contain such stores, so they are not in the body; it is compiled
once, serves both ways, and the bits are the same.

Source: "nontemporal" in the LLVM Language Reference; Intel 64 Optimization Reference Manual,
"Non-temporal Store Instructions".
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.codegen.intrinsics.parallel import parallel_for
from fusejit.codegen.intrinsics.raw_memory import Flat

TILE_BYTES = 1024
"""Bytes of a tile. 512 and 1024 are best; from 2048 on, loads wait after the burst of stores."""

FRESH_BELOW_BYTES = 32 << 20
"""Fresh results from this size on are not streamed: glibc maps them again in each call, and the
kernel has just put the lines of a new page into the caches, to clear them."""


@functools.cache
def stream_from_bytes() -> int:
    """What a nest must touch at least: three quarters of the last-level cache.

    Below, its arrays stay in the caches together, and who reads the result finds it there.
    """
    from fusejit.codegen.machine.target import (
        host_target,  # imports modules that register Python implementations
    )

    return host_target().last_level_bytes // 4 * 3


@python_implementation
def stream_for(
    body: Callable[..., Any],
    extent: int,
    work_ns: float,
    num_bytes: int,
    fresh_bytes: int,
    result: Flat,
    *args: Any,
) -> None:
    """Run ``body(lo, hi, result, *args)`` in chunks, and those in tiles that are streamed out.

    `num_bytes` is what the whole nest touches, `fresh_bytes` the size of a result that this call
    allocated (else 0). The Python implementation always streams: a body that reads its result, or
    writes outside of its range, shows at once.
    """
    itemsize = result.memory.itemsize

    def tiles(lo: int, hi: int, *args: Any) -> None:
        at = lo
        while at < hi:
            address = result.memory.__array_interface__["data"][0] + (result.origin + at) * itemsize
            n = min((TILE_BYTES - address % TILE_BYTES) // itemsize, hi - at)
            tile = np.empty(n, result.memory.dtype)
            body(at, at + n, Flat(tile, -at), *args)
            first, last = result.index(at), result.index(at + n - 1)
            result.memory[first : last + 1] = tile
            at += n

    parallel_for(tiles, extent, work_ns, *args)
