"""What a module of LLVM declares or defines once: words, functions of C, functions of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.codegen.machine.numba_api import cgutils, ir

Value = Any

INT64 = ir.IntType(64)
BYTE_POINTER = ir.IntType(8).as_pointer()
LOOP_TYPE = ir.FunctionType(
    ir.VoidType(),
    [BYTE_POINTER.as_pointer(), INT64.as_pointer(), INT64.as_pointer(), BYTE_POINTER],
)
"""``void loop(char **args, npy_intp const *dimensions, npy_intp const *steps, void *data)``."""


def int64(number: int) -> Value:
    """A constant of 64 bits."""
    return ir.Constant(INT64, number)


def external(module: Any, name: str, kind: Any = INT64) -> Value:
    """A variable whose address LLVM gets when the code is loaded."""
    known = module.globals.get(name)
    if known is None:
        known = ir.GlobalVariable(module, kind, name)
        known.linkage = "external"
    return known


def call_c(builder: Any, name: str, result: Any, *arguments: Value) -> Value:
    """Call a function that is known by its name: of C, of Python, or of LLVM itself."""
    kind = ir.FunctionType(result, [a.type for a in arguments])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, list(arguments))


def inside_or(builder: Any, inside: Value, number: Value, otherwise: Callable[[], Value]) -> Value:
    """``number`` if it is inside, else the result of ``otherwise``."""
    start = builder.block
    with builder.if_then(builder.not_(inside), likely=False):
        other = otherwise()
        end = builder.block
    chosen = builder.phi(number.type)
    chosen.add_incoming(number, start)
    chosen.add_incoming(other, end)
    return chosen


def new_function(module: Any, name: str, kind: Any, *attributes: str) -> Value:
    """A function that only its module calls."""
    made = ir.Function(module, kind, name)
    made.linkage = "internal"
    for attribute in attributes:
        made.attributes.add(attribute)
    return made


def call_cold(
    builder: Any, name: str, result: Any, write: Callable[..., None], *arguments: Value
) -> Value:
    """Call a function of the module that is seldom called.

    ``write(builder, *arguments)`` writes it the first time.
    """
    function = builder.module.globals.get(name)
    if function is None:
        kind = ir.FunctionType(result, [a.type for a in arguments])
        function = new_function(builder.module, name, kind, "noinline", "cold")
        write(ir.IRBuilder(function.append_basic_block("entry")), *function.args)
    return builder.call(function, list(arguments))
