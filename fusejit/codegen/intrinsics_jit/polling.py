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
from fusejit.codegen.machine.numba_api import (
    TypingError,
    cgutils,
    intrinsic,
    ir,
    models,
    register_model,
    types,
)

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_POINTER = ir.IntType(8).as_pointer()
_LAST_POLL, _UNITS, _LAST_LOOK = range(3)
_MONOTONIC = 1  # from linux/time.h
_FASTEST = 16  # times as many units from one poll to the next


class PollState(types.Type):  # type: ignore[misc]
    """Words of a kernel, or of a chunk of a parallel loop."""

    def __init__(self) -> None:
        super().__init__(name="PollState")


@register_model(PollState)
class _PollStateModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, fe_type: Any) -> None:
        super().__init__(manager, fe_type, _I64.as_pointer())


_STATE = PollState()


def _number(value: int) -> Any:
    return ir.Constant(_I64, value)


def _address(builder: Any, w: Any, at: int) -> Any:
    return builder.gep(w, [_number(at)], inbounds=True)


@intrinsic
def poll_state(typingctx: Any, units: Any) -> Any:
    """Words on the stack."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        w = cgutils.alloca_once(builder, _I64, size=_number(3))
        for at, value in ((_LAST_POLL, _number(0)), (_UNITS, args[0]), (_LAST_LOOK, _number(0))):
            builder.store(value, _address(builder, w, at))
        return w

    return _STATE(types.int64), codegen


@intrinsic
def poll(typingctx: Any, w: Any) -> Any:
    """A call of a function of the module."""
    if not isinstance(w, PollState):
        raise TypingError(f"poll({w})")

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if not can_raise():
            return _number(NEVER)
        return builder.call(_function(builder.module), [args[0]])

    return types.int64(w), codegen


def _function(module: Any) -> Any:
    known = module.globals.get("fusejit_poll")
    if known is not None:
        return known
    made = ir.Function(module, ir.FunctionType(_I64, [_I64.as_pointer()]), "fusejit_poll")
    made.linkage = "internal"
    made.attributes.add("noinline")
    made.attributes.add("cold")
    _write(ir.IRBuilder(made.append_basic_block("entry")), made.args[0])
    return made


def _write(builder: Any, w: Any) -> None:
    """The time since the last poll, a look for signals if it is due, the units until the next."""
    now = _now(builder)
    last_poll, units, last_look = (builder.load(_address(builder, w, at)) for at in range(3))
    is_first = builder.icmp_signed("==", last_poll, _number(0))
    with builder.if_then(is_first):
        builder.store(now, _address(builder, w, _LAST_LOOK))
    is_due = builder.icmp_signed(">=", builder.sub(now, last_look), _number(CHECK_NS))
    with builder.if_then(builder.and_(is_due, builder.not_(is_first)), likely=False):
        builder.store(now, _address(builder, w, _LAST_LOOK))
        _look(builder)
    elapsed = builder.sub(now, last_poll)
    # so that about ``POLL_NS`` pass: units * POLL_NS / elapsed, in steps
    shortest = _number(POLL_NS // _FASTEST)
    elapsed = builder.select(builder.icmp_signed("<", elapsed, shortest), shortest, elapsed)
    factor = builder.sdiv(_number(16 * POLL_NS), elapsed)
    following = builder.ashr(builder.mul(units, factor), _number(4))
    most = _number(1 << 46)
    following = builder.select(is_first, units, following)
    following = builder.select(builder.icmp_signed(">", following, most), most, following)
    least = _number(1)
    following = builder.select(builder.icmp_signed("<", following, least), least, following)
    builder.store(now, _address(builder, w, _LAST_POLL))
    builder.store(following, _address(builder, w, _UNITS))
    builder.ret(following)


def _now(builder: Any) -> Any:
    """Nanoseconds."""
    kind = ir.FunctionType(_I32, [_I32, _I64.as_pointer()])
    clock = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
    words = cgutils.alloca_once(builder, _I64, size=_number(2))
    builder.call(clock, [ir.Constant(_I32, _MONOTONIC), words])
    seconds, rest = (builder.load(builder.gep(words, [_number(k)])) for k in range(2))
    return builder.add(builder.mul(seconds, _number(10**9)), rest)


def _look(builder: Any) -> None:
    """In the main thread let others run, then handlers of signals; leave if one raises."""
    module = builder.module
    word = module.globals.get(MAIN_THREAD_SYMBOL)
    if word is None:
        word = ir.GlobalVariable(module, _I64, MAIN_THREAD_SYMBOL)
        word.linkage = "external"
    here = cgutils.get_or_insert_function(module, ir.FunctionType(_I64, []), "pthread_self")
    is_main = builder.icmp_signed("==", builder.call(here, []), builder.load(word))
    with builder.if_then(is_main):
        names = "PyGILState_Ensure", "PyErr_CheckSignals"
        ensure, check = (
            cgutils.get_or_insert_function(module, ir.FunctionType(_I32, []), name)
            for name in names
        )
        release = cgutils.get_or_insert_function(
            module, ir.FunctionType(ir.VoidType(), [_I32]), "PyGILState_Release"
        )
        held = builder.call(ensure, [])
        # other threads may have waited for the GIL since the kernel began
        save = cgutils.get_or_insert_function(
            module, ir.FunctionType(_POINTER, []), "PyEval_SaveThread"
        )
        restore = cgutils.get_or_insert_function(
            module, ir.FunctionType(ir.VoidType(), [_POINTER]), "PyEval_RestoreThread"
        )
        builder.call(restore, [builder.call(save, [])])
        raised = builder.call(check, [])
        builder.call(release, [held])
        with builder.if_then(builder.icmp_signed("!=", raised, ir.Constant(_I32, 0)), likely=False):
            builder.ret(_number(-1))
