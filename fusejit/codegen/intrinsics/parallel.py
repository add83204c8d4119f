"""`parallel_for`: an outer loop in chunks; how it is cut, and its Python implementation.

    parallel_for(body, extent, work_ns, *args)

runs ``body(lo, hi, *args)`` over ``[0, extent)``. Results must not depend on the cut: below 50 us
of work, on one thread, inside another launch or while the pool is busy, it is one call ``body(0,
extent, *args)``.

Examples
--------
>>> list(chunk_bounds(1000, 3))
[(0, 384), (384, 768), (768, 1000)]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fusejit.codegen.intrinsics.intrinsic_table import python_implementation

SERIAL_BELOW_NS = 50_000
"""Less work than this is not worth waking a thread."""

CHUNK_NS = 10_000
"""A chunk has at least this much work."""

CHUNKS_PER_THREAD = 4
"""More chunks than threads, so that a thread that comes late does not hold up the others."""

UNEVEN_CHUNKS_PER_THREAD = 16
"""As many where iterations differ: a thread that is done takes what another one has not begun."""

BORDER_MULTIPLE = 64
"""Chunk borders are multiples of this where chunks are at least `ROUNDED_FROM` long."""

ROUNDED_FROM = 256

_TWIN_CHUNKS = 3


def chunk_length(extent: int, wanted: int) -> int:
    """Length of the chunks that cut ``[0, extent)`` into at most `wanted`."""
    length = -(-extent // wanted)
    if length >= ROUNDED_FROM:
        length = -(-length // BORDER_MULTIPLE) * BORDER_MULTIPLE
    return length


def chunk_bounds(extent: int, wanted: int) -> Iterator[tuple[int, int]]:
    """The chunks ``(lo, hi)`` themselves."""
    length = max(chunk_length(extent, wanted), 1)
    for lo in range(0, extent, length):
        yield lo, min(lo + length, extent)


@python_implementation
def parallel_for(body: Callable[..., Any], extent: int, work_ns: float, *args: Any) -> None:
    """Run ``body(lo, hi, *args)`` over ``[0, extent)`` in chunks, on threads where that pays.

    The Python implementation always cuts where it can, and runs the last chunk first: code that
    depends on the order or on the cut shows at once.
    """
    if extent <= 1:
        body(0, extent, *args)
        return
    for lo, hi in reversed(list(chunk_bounds(extent, _TWIN_CHUNKS))):
        body(lo, hi, *args)


@python_implementation
def uneven_for(body: Callable[..., Any], extent: int, work_ns: float, *args: Any) -> None:
    """`parallel_for` in more and smaller chunks, for iterations of which some take much longer."""
    parallel_for(body, extent, work_ns, *args)
