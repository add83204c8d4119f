"""`GeneralForm`: compute an op for any extents, windows, strides and dilations, quickly.

A call that has no compiled variant of its own runs this. Inputs become strided views
(`fusejit.ir.definitions.strided_views`), and one compiled op reads them. What BLAS computes is a
product of such views, which NumPy calls.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.errors import FusejitError
from fusejit.ir.definitions.binding import Binding
from fusejit.ir.definitions.definition import Definition, Role
from fusejit.ir.definitions.instance import combiner_row
from fusejit.ir.definitions.strided_views import ViewSource, general_form
from fusejit.ir.scalar_ops.combiners import COMBINERS
from fusejit.notices import warn
from fusejit.structured.call import Call
from fusejit.structured.library_calls import MAX_COLUMN_BYTES, contracted, routine_for
from fusejit.structured.reference import bound_to_numbers, check_outs, computed

_MAX_PLANS = 256  # the one that was not used for longest goes


@dataclass(frozen=True, slots=True)
class _View:
    """An input of the general form; of an operand itself all but its name is empty."""

    operand: str
    number: float | None = None
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] = ()
    start: tuple[slice, ...] | None = None

    def of(self, call: Call) -> Any:
        """The view of an operand of a call."""
        if self.number is not None:
            return self.number
        value = call.operands[self.operand]
        if self.start is None:
            return value
        return np.lib.stride_tricks.as_strided(
            value[self.start], self.shape, self.strides, writeable=False
        )


@dataclass(frozen=True, slots=True)
class _Plan:
    """What calls of some extents compute: a routine of views, else the compiled op.

    Attributes
    ----------
    routine : callable or None
        From the views to the result, without its start.
    merge : callable or None
        Combines a start with what the routine returns.
    """

    binding: Binding
    views: tuple[_View, ...]
    routine: Callable[..., Any] | None = None
    routine_name: str = ""
    merge: Callable[..., Any] | None = None


class Op(Protocol):
    """A structured op, as far as its general form asks it."""

    definition: Definition

    @property
    def entry(self) -> Any:
        """The decorated function that calls run."""

    @property
    def state(self) -> Any:
        """How its entry is compiled."""


class GeneralForm:
    """The general form of one definition.

    Parameters
    ----------
    definition : Definition
    op_of : callable
        From a general definition to its op.
    has_numbers : bool
        Whether the formula has numbers of the call.

    Attributes
    ----------
    op : Op
        The op that reads views: it has one variant for each signature.
    """

    def __init__(
        self, definition: Definition, op_of: Callable[[Definition], Op], *, has_numbers: bool
    ) -> None:
        self.definition = definition
        general, self._sources = general_form(definition, has_numbers=has_numbers)
        self.op = op_of(general)
        self._plans: OrderedDict[Hashable, _Plan] = OrderedDict()
        self._shown: set[str] = set()

    def __call__(self, call: Call) -> Any:
        """Compute a call.

        Raises
        ------
        TypeError, ValueError
            If the arguments do not fit, before anything is written.
        """
        check_outs(call)
        call = replace(call, operands={n: _operand(v) for n, v in call.operands.items()})
        plan = self._plan(call)
        views = [view.of(call) for view in plan.views]
        if plan.routine is not None:
            return self._by_routine(plan, call, views)
        try:
            return self.op.entry(*views, **self._keywords(call))
        except FusejitError as error:  # the time to compile is over, say
            self._warn(str(error))
            return computed(call)

    def explain(self, call: Call, *, detail: bool = False) -> str:
        """What computes a call. Runs nothing."""
        call = replace(call, operands={n: _operand(v) for n, v in call.operands.items()})
        plan = self._plan(call)
        if plan.routine is not None:
            return f"{self.definition.name}: NumPy calls {plan.routine_name}\n"
        views = [view.of(call) for view in plan.views]
        return str(self.op.entry.explain(*views, detail=detail, **self._keywords(call)))

    def _keywords(self, call: Call) -> dict[str, Any]:
        """The keywords of the general op for a call."""
        keywords: dict[str, Any] = {
            name: value
            for name, value in call.attributes.items()
            if name in self.op.definition.attributes
        }
        names = [o.name for o in self.definition.outputs]
        for what, given in (("init", call.starts), ("out", call.outs)):
            values = tuple(given.get(name) for name in names)
            if given:
                keywords[what] = values if len(values) > 1 else values[0]
        if call.dtype is not None:
            keywords["dtype"] = call.dtype
        return keywords

    def _warn(self, why: str) -> None:
        if self.op.state.options.warn and why not in self._shown:
            self._shown.add(why)
            warn(f"{self.definition.name} is computed point by point by an interpreter: {why}")

    # -- plans ----------------------------------------------------------------------------------
    def _plan(self, call: Call) -> _Plan:
        key = _key(call)
        plan = self._plans.pop(key, None)
        if plan is None:
            plan = self._made(call)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.popitem(last=False)
        self._plans[key] = plan
        return plan

    def _made(self, call: Call) -> _Plan:
        binding, _ = bound_to_numbers(call)
        views = tuple(_view(source, binding, call) for source in self._sources)
        routine = routine_for(binding)
        if routine is None or any(0 in _shape(binding, o.name) for o in self.definition.outputs):
            return _Plan(binding, views)
        dtypes = [binding.dtype_of(o) for o in self.definition.inputs]
        (update,) = self.definition.updates
        dtype = binding.dtype_of(self.definition.operand(update.access.operand))
        merge = None
        if update.combiner is not None:
            merge = COMBINERS[combiner_row(self.definition, update, dtype)].ufunc
        inputs = tuple(_View(o.name) for o in self.definition.inputs if o.role is not Role.SHAPE)
        if routine.is_op:  # the windows of a convolution are copied for BLAS
            general = replace(binding, definition=self.op.definition)
            size = max((math.prod(v.shape) for v in views if v.start is not None), default=0)
            if size * dtypes[0].itemsize > MAX_COLUMN_BYTES:
                return _Plan(binding, views)
            name = "BLAS on a copy of the windows"
            return _Plan(binding, views, lambda *x: contracted(general, *x), name, merge)
        if routine.is_traced:
            return _Plan(binding, inputs, lambda *x: routine.function(binding, *x), "BLAS", merge)
        return _Plan(binding, inputs, routine.function, routine.name, merge)

    def _by_routine(self, plan: _Plan, call: Call, views: list[Any]) -> Any:
        (output,) = self.definition.outputs
        dtype = plan.binding.dtype_of(output)
        shape = _shape(plan.binding, output.name)
        result = np.asarray(plan.routine(*map(np.asarray, views)))  # type: ignore[misc]
        out = call.outs.get(output.name)
        start = call.starts.get(output.name, out)
        if start is not None and plan.merge is not None:
            whole = np.broadcast_to(np.asarray(start).astype(dtype, copy=False), shape)
            result = plan.merge(whole, result)
        if out is not None:
            out[...] = result
            return out
        result = result.astype(dtype, copy=False)
        return result if shape else result[()]


def _operand(value: Any) -> Any:
    """An operand as the general op gets it: an array, or a number."""
    return (
        value if isinstance(value, (bool, int, float, complex, np.generic)) else np.asarray(value)
    )


def _shape(binding: Binding, operand: str) -> tuple[int, ...]:
    return tuple(e.constant for e in binding.shapes[operand])


def _view(source: ViewSource, binding: Binding, call: Call) -> _View:
    if source.access is None:
        return _View(source.operand, source.number)
    array = call.operands[source.operand]
    shape, steps, first = source.layout(binding)
    if not math.prod(shape):
        first = [0] * array.ndim
    strides = tuple(
        sum(step * stride for step, stride in zip(along, array.strides, strict=True))
        for along in steps
    )
    return _View(source.operand, None, shape, strides, tuple(slice(k, None) for k in first))


def _key(call: Call) -> Hashable:
    """What calls with one plan agree in."""
    return (
        tuple(map(_kind, call.operands.values())),
        tuple((n, _exact(v)) for n, v in call.attributes.items()),
        tuple((n, _kind(v)) for n, v in call.starts.items()),
        tuple((n, _kind(v)) for n, v in call.outs.items()),
        None if call.dtype is None else np.dtype(call.dtype),
    )


def _kind(value: Any) -> Hashable:
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.strides
    return type(value), np.shape(value)


def _exact(value: Any) -> Hashable:
    """An attribute by type and, of integers, value; for other values there are definitions."""
    if isinstance(value, (tuple, list)):
        return tuple(_exact(v) for v in value)
    return (type(value), value) if isinstance(value, (int, np.integer)) else (type(value),)
