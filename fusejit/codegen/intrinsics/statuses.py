"""THE table of what a kernel returns: `Status`, the kind of it in the low bits.

Up to `Status.NO_MEMORY` a kernel has written nothing. Kinds of errors after a store carry more:
the slot of an index and a size (`fusejit.codegen.intrinsics.deferred_values`), and the number of
the check that failed.
"""

from __future__ import annotations

import enum


class Status(enum.IntEnum):
    """What a kernel returns, or an entry in its place."""

    MISMATCH = -1  # an argument is not of the compiled type
    DONE = 0
    GUARD = 1  # a guard does not hold
    LAYOUT = 2  # strides or alignment differ
    OVERLAP = 3  # arrays overlap in memory
    NO_MEMORY = 4
    # NumPy runs the call: nothing is written, or what was is undone
    OUT_OF_BOUNDS = 5
    SIZES_DIFFER = 9  # what only the call knows is not as assumed
    BEYOND_64_BITS = 16
    BEYOND_53_BITS = 44
    RAISES = 45  # an exception that is none of sizes
    LEFT_TO_PYTHON = 42  # only Python can tell what happens
    NO_ROOM = 40  # in a list: the launcher makes room, and the call starts again
    NO_ROOM_FOR_ARRAYS = 46
    OUT_OF_BOUNDS_IF_RUN = 60
    EXTENTS_DIFFER = 61  # extents of which one may be 1
    COMPLEX_POWER = 39  # of a Python float
    # after a store: the launcher raises
    LATE_INDEX = 6
    LATE_OVERFLOW = 7
    LATE_BROADCAST = 8
    LATE_NO_MAX = 10
    LATE_NO_MIN = 11
    LATE_NO_ARGMAX = 12
    LATE_NO_ARGMIN = 13
    LATE_SIZE = 14
    LATE_CHOICE = 15
    LATE_64_BITS = 17
    LATE_TRUE_DIVISION = 18
    LATE_FLOOR_DIVISION = 19
    LATE_REMAINDER = 20
    LATE_FLOAT_DIVISION = 21
    LATE_FLOAT_FLOOR_DIVISION = 22
    LATE_FLOAT_REMAINDER = 23
    LATE_MATH_DOMAIN = 24
    LATE_MATH_RANGE = 25
    LATE_INT_OF_NAN = 26
    LATE_ASSERTION = 27
    LATE_RAISE = 28  # a ``raise`` of the program; its class is that of the check
    LATE_53_BITS = 29
    LATE_TYPE = 30
    LATE_DRAW_BOUNDS = 31  # and the three after it: `fusejit.ir.inline_calls.inline_draws.BOUNDS`
    LATE_FLOAT_POWER = 35
    LATE_POWER_OF_ZERO = 36
    LATE_COMPLEX_POWER = 37
    LATE_NO_ROOM = 41
    LATE_NO_ROOM_FOR_ARRAYS = 47
    LATE_LEFT_TO_PYTHON = 43
    LATE_INT_OF_INF = 38
    LATE_INTEGER_POWER = 62
    INTERRUPTED = 63  # a signal's handler has raised


KIND_BITS = 6
KINDS = (1 << KIND_BITS) - 1


ROOM_STATUSES = (Status.NO_ROOM, Status.NO_ROOM_FOR_ARRAYS)
"""Where a list has no room, in the order of `fusejit.ir.traced.TracedFunction.capacities`."""
