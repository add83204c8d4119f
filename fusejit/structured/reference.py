"""What a structured op computes, by the interpreter of the IR on NumPy arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import Binding, bind
from fusejit.ir.definitions.definition import Definition
from fusejit.ir.definitions.extents import Given, Numbers
from fusejit.ir.definitions.instance import Accumulated, Instance, instantiate
from fusejit.ir.definitions.output_starts import check_starts, is_scalar_start
from fusejit.ir.interpreter.interpret_generic import run_generic
from fusejit.ir.ops import GenericOp
from fusejit.ir.types import IteratorType, Kind, TensorType
from fusejit.ir.values import Value
from fusejit.structured.call import Call

_MAX_POINTS = 1 << 20  # of a domain that are computed at once


def computed(call: Call) -> Any:
    """The result of a call, or its results as a tuple.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit, before anything is written.
    """
    definition = call.definition
    check_outs(call)
    arrays = {name: np.asarray(value) for name, value in call.operands.items()}
    begins = {**call.starts, **call.outs}
    with np.errstate(all="ignore"):
        binding, instances = bound_to_numbers(call)
        _check_places(definition, arrays)
        results: dict[str, np.ndarray] = {}
        for instance in instances:
            made = _run(binding, instance, arrays, begins)
            results |= zip([o.name for o in instance.outputs], made, strict=True)
    returned = []
    for update in definition.updates:
        name = update.access.operand
        result = results[name]
        if name in call.outs:
            call.outs[name][...] = result
            result = call.outs[name]
        returned.append(result if result.ndim or name in call.outs else result[()])
    return returned[0] if len(returned) == 1 else tuple(returned)


def bound_to_numbers(call: Call) -> tuple[Binding, list[Instance]]:
    """The definition with the extents and the dtypes of a call, and its ops.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit.
    """
    definition = call.definition
    starts = {
        name: value
        for name, value in call.starts.items()
        if np.ndim(value) or is_scalar_start(definition, name, getattr(value, "dtype", None))
    }
    given = {
        name: _given(value) for name, value in {**call.operands, **starts, **call.outs}.items()
    }
    dtype = None if call.dtype is None else np.dtype(call.dtype)
    binding = bind(definition, given, call.attributes, dtype, Numbers())
    instances = instantiate(binding)
    tokens = {name: _given(value).token for name, value in {**call.starts, **call.outs}.items()}
    for instance in instances:
        check_starts(definition, instance, tokens)
    return binding, instances


def _given(value: Any) -> Given:
    array = np.asarray(value)
    token = type(value) if type(value) in (int, float, complex) else array.dtype
    return Given(token, tuple(map(AffineExpr.const, array.shape)))


def _check_places(definition: Definition, arrays: dict[str, np.ndarray]) -> None:
    """Refuse integers that are no places of what they index.

    Raises
    ------
    IndexError
        If there are such.
    """
    for operand, axis, integers in definition.gathers():
        size, places = arrays[operand].shape[axis], arrays[integers]
        wrong = places[(places < -size) | (places >= size)]
        if wrong.size:
            raise IndexError(
                f"{definition.name}: index {wrong[0]} of {integers} is out of bounds for axis "
                f"{axis} of {operand} with size {size}"
            )


def check_outs(call: Call) -> None:
    """Refuse memory for a result that cannot be written or that overlaps another operand.

    Raises
    ------
    TypeError, ValueError
        If some is of this kind.
    """
    name = call.definition.name
    arrays = {k: np.asarray(value) for k, value in call.operands.items()} if call.outs else {}
    for out_name, out in call.outs.items():
        if not isinstance(out, np.ndarray):
            raise TypeError(f"{name}: out= takes arrays, not {type(out).__name__}")
        if not out.flags.writeable:
            raise ValueError(f"{name}: the array given for {out_name} is read-only")
        for other, array in {**arrays, **call.outs}.items():
            if other != out_name and np.shares_memory(out, array):
                raise ValueError(f"{name}: the output {out_name} overlaps {other}")


def _run(
    binding: Binding,
    instance: Instance,
    arrays: dict[str, np.ndarray],
    starts: dict[str, Any],
) -> list[np.ndarray]:
    values: dict[Value, np.ndarray] = {}

    def value_of(array: np.ndarray) -> Value:
        extents = tuple(map(AffineExpr.const, array.shape))
        value = Value(f"v{len(values)}", TensorType(array.dtype, extents), Kind.ARRAY)
        values[value] = array
        return value

    inputs = []
    for name, _ in instance.reads:
        dtype = binding.dtype_of(binding.definition.operand(name))
        inputs.append(value_of(arrays[name].astype(dtype)))
    parts: list[Value] = []
    begins: list[Value | None] = []
    for output in instance.outputs:
        shape = tuple(e.constant for e in binding.shapes[output.name])
        for part, dtype in enumerate(output.dtypes):
            start = _start(output, part, dtype, shape, starts.get(output.name))
            begins.append(None if start is None else value_of(start))
            parts.append(Value(f"r{len(parts)}", TensorType(dtype, binding.shapes[output.name])))
    op = _in_pieces(instance.generic(inputs, begins, parts))
    results = iter(run_generic(op, values, {}))
    return [output.joined([next(results) for _ in output.dtypes]) for output in instance.outputs]


def _start(
    output: Accumulated, part: int, dtype: np.dtype, shape: tuple[int, ...], given: Any
) -> np.ndarray | None:
    """What one accumulated part starts from; None if it needs to hold nothing."""
    if given is None:
        return None if output.fill is None else np.full(shape, output.fill, dtype)
    whole = np.full(shape, given, output.dtype) if not np.ndim(given) else np.asarray(given)
    if len(output.dtypes) > 1:
        whole = whole.imag if part else whole.real
    return whole.astype(dtype)


def _in_pieces(op: GenericOp) -> GenericOp:
    """The op with so many parallel dims in sequence that few points are computed at once."""
    iterators = list(op.iterators)
    points = math.prod(e.constant for e in op.domain)
    for d, extent in enumerate(op.domain):
        if points <= _MAX_POINTS:
            break
        if iterators[d] is IteratorType.PARALLEL:
            iterators[d] = IteratorType.SEQUENTIAL
            points //= max(extent.constant, 1)
    return replace(op, iterators=tuple(iterators))
