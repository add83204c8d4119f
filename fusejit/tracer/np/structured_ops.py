"""Calls of structured ops in a traced program: each is one generic op of the graph."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

import numpy as np

from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import Binding, bind
from fusejit.ir.definitions.definition import Role
from fusejit.ir.definitions.extents import Given
from fusejit.ir.definitions.indices import DIM
from fusejit.ir.definitions.instance import Accumulated, Instance, combiner_row, instantiate
from fusejit.ir.definitions.output_starts import check_starts, is_scalar_start
from fusejit.ir.ops import GenericOp, HostCall
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.ir.types import Kind
from fusejit.structured import library_calls
from fusejit.structured.call import Call
from fusejit.structured.generic import OpFamily
from fusejit.structured.library_calls import LibraryCall, routine_for
from fusejit.structured.op import InPython, StructuredOp
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.indexing.gathers import check_index
from fusejit.tracer.np.elementwise.ufuncs import apply_ufunc
from fusejit.tracer.np.numbers.complex_parts import joined_parts, part_of
from fusejit.tracer.ops.elementwise_op import copy_of, full
from fusejit.tracer.ops.stores import assign_operand
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import Operand, contains_traced, dtype_argument, operand_of
from fusejit.tracer.values.symbolic_number import SymbolicNumber


def primitive_of(function: Any) -> Callable[..., Any] | None:
    """What traces a call of a structured op, or of a function of these packages; else None.

    Their functions are made of such ops and of what arrays can do, and run as they are.
    """
    if isinstance(function, StructuredOp):
        return functools.partial(_called, function)
    if isinstance(function, InPython):
        return functools.partial(_called, function.op)
    if isinstance(function, OpFamily):
        return functools.partial(_of_family, function)
    if isinstance(function, FunctionType):
        inner = getattr(function, "__wrapped__", None)
        return function if inner is None else functools.partial(_inlined, inner)
    return None


def _inlined(function: FunctionType, *args: Any, **kwargs: Any) -> Any:
    return current_trace().inlined(function, args, kwargs)


def _of_family(family: OpFamily, *args: Any, **kwargs: Any) -> Any:
    definition, inputs, keywords = family.resolve(*args, **kwargs)
    reads = current_trace().captured_reads
    operands = [
        reads.table(x) if type(x) is np.ndarray and all(x is not a for a in args) else x
        for x in inputs  # arrays that the family itself made, such as Winograd's matrices
    ]
    return _called(StructuredOp(definition), *operands, **keywords)


def _called(op: StructuredOp, *args: Any, **kwargs: Any) -> Any:
    if not contains_traced([*args, *kwargs.values()]):
        return NotImplemented
    try:
        call = op.bound(args, {name: _exact(name, v) for name, v in kwargs.items()})
        return _Emission(call).results()
    except (TypeError, ValueError) as error:  # the call in Python raises it, with numbers in it
        raise numpy_raises(error) from error


def _exact(name: str, value: Any) -> Any:
    """An attribute's value: a number of the call is guarded to be this one."""
    if name in ("init", "out"):
        return value
    if isinstance(value, SymbolicNumber):
        return value.exact()
    if type(value) in (tuple, list):
        return type(value)(_exact(name, v) for v in value)
    return value


MAX_KNOWN_POINTS = 25
"""The extents of a window of at most so many points are known: small ones are written out, and the
others are those of Winograd's convolutions."""


class _Decisions:
    """Answers about extents that are symbols: proved, or guarded."""

    def __init__(self, trace: Trace) -> None:
        self._decisions = trace.decisions

    def equal(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether two extents are one number; checked by the kernel if only it knows them."""
        return self._decisions.checked_equal(left, right, reason, or_raises=True)

    def at_most(self, left: AffineExpr, right: AffineExpr, reason: str) -> bool:
        """Whether ``left <= right``."""
        return self._decisions.at_most(left, right, reason)


class _Emission:
    """One call: its operands as values of the graph, and the op."""

    def __init__(self, call: Call) -> None:
        self.trace = current_trace()
        self.call = call
        self.operands = {name: operand_of(value) for name, value in call.operands.items()}
        self.outs = {name: self._out(value) for name, value in call.outs.items()}
        self.starts = {name: operand_of(value) for name, value in call.starts.items()}
        given = {name: _given(o) for name, o in self.operands.items()}
        for name, operand in self.starts.items():
            if operand.extents or is_scalar_start(call.definition, name, operand.token):
                given[name] = _given(operand)
        given |= {name: Given(o.dtype, o.extents) for name, o in self.outs.items()}
        self.binding = self._bound(given)

    def _out(self, value: Any) -> TracedArray:
        if not isinstance(value, TracedArray) or value.kind is not Kind.ARRAY:
            what = "out= is neither an argument nor an array that the function makes"
            raise Fallback(f"{self.call.definition.name}: {what}")
        for name, operand in self.operands.items():
            array = operand.array
            if array is not None and value.storage.may_overlap(array.storage):
                what = f"{self.call.definition.name} writes into memory of its input {name}"
                raise needs_python(what, "give out= an array of its own")
        return value

    def _bound(self, given: Mapping[str, Given]) -> Binding:
        call, decide = self.call, _Decisions(self.trace)
        dtype = None if call.dtype is None else dtype_argument(call.dtype)
        binding = bind(call.definition, given, call.attributes, dtype, decide)
        window = self._window(binding)
        if not window:
            return binding
        decisions = self.trace.decisions
        for dim in window:
            decisions.exactly(binding.dims[dim], "the extent of a small window")
        known = {
            name: Given(g.token, tuple(map(decisions.canonical, g.extents)))
            for name, g in given.items()
        }
        return bind(call.definition, known, call.attributes, dtype, decide)

    def _window(self, binding: Binding) -> list[str]:
        """The reduction dims of a window whose extents are guarded: those of sums in subscripts."""
        definition, decisions = binding.definition, self.trace.decisions
        moving = {
            dim
            for access in definition.accesses
            for subscript in access.subscripts
            if len(subscript.names(DIM)) > 1
            for dim in subscript.names(DIM)
        }
        window = [d for d in definition.dims if d in moving & definition.reductions]
        extents = [binding.dims[d] for d in window]
        if any(decisions.is_local(e) for e in extents):
            return []
        points = math.prod(map(decisions.hint, extents))
        return window if 0 < points <= MAX_KNOWN_POINTS else []

    # -- the op ---------------------------------------------------------------------------------
    def results(self) -> Any:
        """Emit the op; its result, or its results as a tuple."""
        routine = routine_for(self.binding)
        if routine is not None:
            result = self._by_routine(routine)
            if result is not NotImplemented:
                return result
        instances = instantiate(self.binding)
        for operand, axis, integers in self.call.definition.gathers():
            extent = self.binding.shapes[operand][axis]
            check_index(self.trace, self._input(integers), extent, axis)
        tokens = {name: o.token for name, o in self.starts.items()}
        tokens |= {name: o.dtype for name, o in self.outs.items()}
        for instance in instances:
            check_starts(self.call.definition, instance, tokens)
        emitted = [made for instance in instances for made in self._emit(instance)]
        made = {output.name: self._finished(output, parts) for output, parts in emitted}
        results = [made[update.access.operand] for update in self.call.definition.updates]
        return results[0] if len(results) == 1 else tuple(results)

    def _emit(self, instance: Instance) -> list[tuple[Accumulated, list[TracedArray]]]:
        """Each output of an op, with the parts that make it up."""
        inputs = [self._input(name).value() for name, _ in instance.reads]
        starts: list[Any] = []
        values = []
        for output in instance.outputs:
            shape = tuple(map(self.trace.decisions.canonical, self.binding.shapes[output.name]))
            kind = Kind.ARRAY if shape else Kind.SCALAR
            for part, dtype in enumerate(output.dtypes):
                start = self._start(output, part, dtype)
                starts.append(None if start is None else start.value())
                values.append(self.trace.new_value(dtype, shape, kind))
        op = instance.generic(inputs, starts, values)
        op.domain = tuple(map(self.trace.decisions.canonical, op.domain))
        self.trace.emit(op)
        parts = iter([TracedArray.of_value(self.trace, value) for value in values])
        return [(output, [next(parts) for _ in output.dtypes]) for output in instance.outputs]

    def _by_routine(self, routine: LibraryCall) -> Any:
        """The op by a routine, whose result the start is merged with."""
        definition = self.call.definition
        (instance,) = instantiate(self.binding, in_order=False)
        (output,) = instance.outputs
        inputs = [self._input(o.name) for o in definition.inputs if o.role is not Role.SHAPE]
        if routine.is_op:
            if not routine.function(self.binding, *inputs):
                return NotImplemented
            result = self._as_op(instance, routine.name)
        elif routine.is_traced:
            before = len(self.trace.block.ops)
            result = routine.function(self.binding, *inputs)
            if result is NotImplemented:
                return result
            for op in self.trace.block.ops[before:]:
                if isinstance(op, GenericOp) and op.library_call is not None:
                    op.name, op.is_named = definition.name, True
        else:
            shape = tuple(map(self.trace.decisions.canonical, self.binding.shapes[output.name]))
            made = self.trace.new_value(output.dtype, shape, Kind.ARRAY if shape else Kind.SCALAR)
            name = f"{library_calls.__name__}.{routine.name}"
            arguments = tuple(x.value() for x in inputs)
            self.trace.emit(HostCall(function=name, arguments=arguments, results=(made,)))
            result = TracedArray.of_value(self.trace, made)
        (update,) = definition.updates
        start = self._start(output, 0, output.dtype)
        if start is not None and update.combiner is not None:
            ufunc = COMBINERS[combiner_row(definition, update, output.dtype)].ufunc
            result = apply_ufunc(ufunc, (start, result))
        return self._finished(output, [result])

    def _as_op(self, instance: Instance, routine: str) -> TracedArray:
        """The op itself, which a pass makes a product for the routine."""
        state, (output,) = self.trace.errstate, instance.outputs
        shape = tuple(map(self.trace.decisions.canonical, self.binding.shapes[output.name]))
        made = self.trace.new_value(output.dtype, shape, Kind.ARRAY if shape else Kind.SCALAR)
        call = f"np.errstate(**{state})({routine})" if state else routine
        inputs = [self._input(name).value() for name, _ in instance.reads]
        op = instance.generic(inputs, [None], [made], library_call=call)
        op.domain = tuple(map(self.trace.decisions.canonical, op.domain))
        self.trace.emit(op)
        return TracedArray.of_value(self.trace, made)

    def _input(self, name: str) -> TracedArray:
        operand = self.operands[name]
        dtype = self.binding.dtype_of(self.call.definition.operand(name))
        if operand.array is not None and operand.array.dtype == dtype:
            return operand.array
        return full((), operand, dtype)

    def _start(self, output: Accumulated, part: int, dtype: np.dtype) -> TracedArray | None:
        """What one accumulated part starts from; None if it needs to hold nothing."""
        shape = self.binding.shapes[output.name]
        given: Any = self.outs.get(output.name)
        if given is None and output.name not in self.starts:
            if output.fill is None:
                return None
            return full(shape, operand_of(output.fill), dtype)
        if not output.reads_init:
            return None
        if given is None:
            operand = self.starts[output.name]
            if operand.array is None or operand.extents != shape:
                given = full(shape, operand, output.dtype)
            else:
                given = operand.array
        if len(output.dtypes) > 1:
            given = part_of(given, "imag" if part else "real")
        return given if given.dtype == dtype else copy_of(given, dtype, None, "astype")

    def _finished(self, output: Accumulated, parts: list[TracedArray]) -> Any:
        """The output of its parts, in the memory that was given for it."""
        result = joined_parts(*parts) if len(parts) > 1 else parts[0]
        if result.dtype != output.dtype:
            result = copy_of(result, output.dtype, None, "astype", result.kind)
        out = self.outs.get(output.name)
        if out is None:
            return result
        assign_operand(out, result)
        return out


def _given(operand: Operand) -> Given:
    return Given(operand.token, operand.extents)
