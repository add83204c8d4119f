"""Jitted meaning of `codegen.intrinsics.polling`: the clock, and now and then Python's signals."""

from __future__ import annotations

from typing import Any

from fusejit.codegen.intrinsics.polling import (
    CHECK_NS,
    MAIN_THREAD_SYMBOL,
    NEVER,
    POLL_NS,
    can_raise,
)
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    call_c,
    call_cold,
    external,
    int64,
)
from fusejit.codegen.machine.numba_api import (
    are_int64,
    cgutils,
    emitted,
    ir,
    is_stored_as_pointer,
    types,
)

_I32 = ir.IntType(32)
_LAST_POLL, _UNITS, _LAST_LOOK = range(3)
_MONOTONIC = 1  # from linux/time.h
_FASTEST = 16  # times as many units from one poll to the next


class PollState(types.Type):  # type: ignore[misc]
    """Words of a kernel, or of a chunk of a parallel loop."""

    def __init__(self) -> None:
        super().__init__(name="PollState")


is_stored_as_pointer(PollState, lambda kind: INT64)
_STATE = PollState()


def _address(builder: Any, w: Any, at: int) -> Any:
    return builder.gep(w, [int64(at)], inbounds=True)


@emitted(are_int64, _STATE)
def poll_state(builder: Any, units: Any) -> Any:
    """Words on the stack."""
    w = cgutils.alloca_once(builder, INT64, size=int64(3))
    for at, value in ((_LAST_POLL, int64(0)), (_UNITS, units), (_LAST_LOOK, int64(0))):
        builder.store(value, _address(builder, w, at))
    return w


@emitted(lambda w: isinstance(w, PollState), types.int64)
def poll(builder: Any, w: Any) -> Any:
    """A call of a function of the module."""
    if not can_raise():
        return int64(NEVER)
    return call_cold(builder, "fusejit_poll", INT64, _write, w)


def _write(builder: Any, w: Any) -> None:
    """The time since the last poll, a look for signals if it is due, the units until the next."""
    now = _now(builder)
    last_poll, units, last_look = (builder.load(_address(builder, w, at)) for at in range(3))
    is_first = builder.icmp_signed("==", last_poll, int64(0))
    with builder.if_then(is_first):
        builder.store(now, _address(builder, w, _LAST_LOOK))
    is_due = builder.icmp_signed(">=", builder.sub(now, last_look), int64(CHECK_NS))
    with builder.if_then(builder.and_(is_due, builder.not_(is_first)), likely=False):
        builder.store(now, _address(builder, w, _LAST_LOOK))
        _look(builder)
    elapsed = builder.sub(now, last_poll)
    # so that about ``POLL_NS`` pass: units * POLL_NS / elapsed, in steps
    shortest = int64(POLL_NS // _FASTEST)
    elapsed = builder.select(builder.icmp_signed("<", elapsed, shortest), shortest, elapsed)
    factor = builder.sdiv(int64(16 * POLL_NS), elapsed)
    following = builder.ashr(builder.mul(units, factor), int64(4))
    most = int64(1 << 46)
    following = builder.select(is_first, units, following)
    following = builder.select(builder.icmp_signed(">", following, most), most, following)
    least = int64(1)
    following = builder.select(builder.icmp_signed("<", following, least), least, following)
    builder.store(now, _address(builder, w, _LAST_POLL))
    builder.store(following, _address(builder, w, _UNITS))
    builder.ret(following)


def _now(builder: Any) -> Any:
    """Nanoseconds."""
    words = cgutils.alloca_once(builder, INT64, size=int64(2))
    call_c(builder, "clock_gettime", _I32, ir.Constant(_I32, _MONOTONIC), words)
    seconds, rest = (builder.load(builder.gep(words, [int64(k)])) for k in range(2))
    return builder.add(builder.mul(seconds, int64(10**9)), rest)


def _look(builder: Any) -> None:
    """In the main thread let others run, then handlers of signals; leave if one raises."""
    here = call_c(builder, "pthread_self", INT64)
    main = builder.load(external(builder.module, MAIN_THREAD_SYMBOL))
    with builder.if_then(builder.icmp_signed("==", here, main)):
        held = call_c(builder, "PyGILState_Ensure", _I32)
        # other threads may have waited for the GIL since the kernel began
        state = call_c(builder, "PyEval_SaveThread", BYTE_POINTER)
        call_c(builder, "PyEval_RestoreThread", ir.VoidType(), state)
        raised = call_c(builder, "PyErr_CheckSignals", _I32)
        call_c(builder, "PyGILState_Release", ir.VoidType(), held)
        with builder.if_then(builder.icmp_signed("!=", raised, ir.Constant(_I32, 0)), likely=False):
            builder.ret(int64(-1))
