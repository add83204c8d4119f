"""Jitted meaning of `fusejit.codegen.lanes`: one wide load, then halves of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fusejit.codegen.lanes import FOLDS
from fusejit.codegen.memory_jit import FlatPointer
from fusejit.codegen.numba_api import TypingError, cgutils, intrinsic, ir, types

Value = Any
_INT32 = ir.IntType(32)


def _half(builder: Any, vector: Value, start: int, count: int) -> Value:
    mask = ir.Constant(ir.VectorType(_INT32, count), list(range(start, start + count)))
    return builder.shuffle_vector(vector, ir.Constant(vector.type, ir.Undefined), mask)


def _merge(builder: Any, merged: str, left: Value, right: Value) -> Value:
    if merged == "add":
        return builder.fadd(left, right)
    if merged == "multiply":
        return builder.fmul(left, right)
    element = "f64" if isinstance(left.type.element, ir.DoubleType) else "f32"
    function = cgutils.get_or_insert_function(
        builder.module,
        ir.FunctionType(left.type, [left.type, left.type]),
        f"llvm.{merged}.v{left.type.count}{element}",
    )
    return builder.call(function, [left, right])


def _fold(combiner: str) -> Any:
    lanes, merged = FOLDS[combiner]

    def fold(typing_context: Any, pointer: Any) -> Any:
        if not isinstance(pointer, FlatPointer) or not isinstance(pointer.dtype, types.Float):
            raise TypingError(f"fold_{combiner}({pointer})")

        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Value:
            element = args[0].type.pointee
            wide = ir.VectorType(element, lanes)
            vector = builder.load(builder.bitcast(args[0], wide.as_pointer()), align=64)
            count = lanes
            while count > 1:
                count //= 2
                left = _half(builder, vector, 0, count)
                right = _half(builder, vector, count, count)
                vector = _merge(builder, merged, left, right)
            return builder.extract_element(vector, ir.Constant(_INT32, 0))

        return pointer.dtype(pointer), codegen

    fold.__name__ = f"fold_{combiner}"
    fold.__doc__ = f"Merge {lanes} lanes with {merged} in a halving tree of vector registers."
    made: Callable[..., Any] = intrinsic(fold)
    return made


fold_add = _fold("add")
fold_multiply = _fold("multiply")
fold_max = _fold("max")
fold_min = _fold("min")
