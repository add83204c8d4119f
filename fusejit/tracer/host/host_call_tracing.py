"""Host calls: functions that NumPy itself runs between our kernels.

What a function returns (dtypes, ranks, which extents are those of the arguments) is found by
running it twice on small sample inputs of other sizes. An extent that both runs explain by the
extents of the arguments is that expression; any other one is a symbol of its own, read from the
result when the program runs. The launcher compares what it gets with what was found here.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir import host_calls
from fusejit.ir.affine import AffineExpr
from fusejit.ir.host import HostExpr, Path, errstate_text
from fusejit.ir.ops import HostCall
from fusejit.ir.values import Value
from fusejit.tracer.builder.layout import classify
from fusejit.tracer.builder.shapes import normal_order
from fusejit.tracer.builder.trace import Trace, current_trace
from fusejit.tracer.host.probes import Found, Probe, SizesAreKnown, is_view, results_of
from fusejit.tracer.ops.kernel_numbers import kernel_number
from fusejit.tracer.ops.union_operators import choice
from fusejit.tracer.program.locations import MOVE_OUTSIDE, needs_python
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.graph_scalars import scalar_value
from fusejit.tracer.values.masked import MaskedElements
from fusejit.tracer.values.symbolic_number import SymbolicNumber
from fusejit.tracer.values.union_scalar import Choice, is_union_scalar

_LITERALS = (type(None), bool, int, float, str)


@dataclass(slots=True)
class Arguments:
    """The arguments of a call as text, and what is traced among them."""

    trace: Trace
    traced: list[TracedArray | SymbolicNumber] = field(default_factory=list)

    def text(self, args: Sequence[Any], kwargs: dict[str, Any]) -> str:
        """``{0}, axis=1``"""
        parts = [self._text(a) for a in args]
        return ", ".join([*parts, *(f"{k}={self._text(v)}" for k, v in kwargs.items())])

    def values(self) -> tuple[Value, ...]:
        """What is traced, as values of the graph."""
        return tuple(
            o.value() if isinstance(o, TracedArray) else scalar_value(o) for o in self.traced
        )

    def _text(self, obj: Any) -> str:
        if isinstance(obj, MaskedElements):
            obj = obj.selected()
        if type(obj) is np.ndarray:
            obj = self.trace.captured_reads.unfollowed(obj)
        if isinstance(obj, SymbolicNumber) and obj.is_local:
            obj = kernel_number(obj)
        if is_union_scalar(obj):
            obj = choice(obj)
        if isinstance(obj, Choice):
            numbers = ", ".join(map(self._text, obj.objects))
            return f"[{numbers}][{self._text(obj.tag)}]"
        if isinstance(obj, TracedArray | SymbolicNumber):
            self.traced.append(obj)
            return f"{{{len(self.traced) - 1}}}"
        if type(obj) in (list, tuple):
            inner = ", ".join(map(self._text, obj))
            if type(obj) is list:
                return f"[{inner}]"
            return f"({inner},)" if obj else "()"
        if isinstance(obj, type):
            obj = np.dtype(obj)
        if isinstance(obj, np.dtype):
            return _dtype_text(obj)
        if type(obj) is complex:
            return f"complex({obj.real!r}, {obj.imag!r})"
        if type(obj) not in _LITERALS and not isinstance(obj, np.generic):
            what = f"an argument of type {type(obj).__name__} of a NumPy function is not traced"
            raise needs_python(what, MOVE_OUTSIDE)
        return repr(obj).replace("{", "{{").replace("}", "}}")


def _dtype_text(dtype: np.dtype) -> str:
    """A dtype as Python text; `repr` leaves out its metadata, and calls ``longlong`` int64."""
    if dtype.metadata is not None:
        raise needs_python(
            f"an argument of a NumPy function is {dtype} with metadata", MOVE_OUTSIDE
        )
    text = f"dtype({dtype.char!r})" if dtype.char in "qQ" else repr(dtype)
    return text.replace("{", "{{").replace("}", "}}")


@dataclass(frozen=True, slots=True)
class Source:
    """Where random numbers come from: the path of a generator, the function's first argument.

    Sample inputs draw from ``like``. Without a path the function knows its generator itself.
    """

    path: Path | None
    like: Any


def host_call(
    name: str,
    function: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    by_data: bool = False,
    multiplies: bool = False,
    size: AffineExpr | None = None,
    rng: Source | None = None,
) -> Any:
    """Emit the call of a host function; its result as the traced program sees it.

    Parameters
    ----------
    name : str
        Where the launcher finds the function: ``numpy.linalg.solve``.
    function : callable
        The function itself.
    args, kwargs
        As the program gives them; traced arrays and numbers may stand inside lists and tuples.
    by_data
        Whether extents of the results depend on the elements.
    multiplies
        Whether the work is the product of all sizes.
    size
        What such an extent is, where that is known.
    rng
        The generator of random numbers that the function draws from. The call is then an effect.

    Raises
    ------
    Fallback
        If NumPy raises for arguments like these.
    UnsupportedError
        If a result is of a dtype or type that is not traced, or a view of an argument.
    """
    trace = current_trace()
    arguments = Arguments(trace)
    call = arguments.text(args, kwargs)
    if rng is not None and rng.path is not None:
        call = f"{{o0}}, {call}" if call else "{o0}"
    while True:
        probe = Probe(
            trace, name, function, call, arguments.traced, by_data, size, multiplies=multiplies
        )
        probe.rng = None if rng is None else rng.like
        try:
            runs, assignments = probe.run()
        except SizesAreKnown:
            continue
        if not (_has_order(runs[0]) and _some_axis_is_one(arguments.traced)):
            break
    results, sizes = results_of(probe, runs, assignments, probe.of_this_call())
    op = HostCall(
        results=tuple(results),
        function=name,
        arguments=arguments.values(),
        pure=rng is None,
        call=call,
        sizes=sizes,
        objects=() if rng is None or rng.path is None else (HostExpr.path(rng.path),),
        errstate=errstate_text(trace.errstate),
    )
    trace.emit(op)
    made = [TracedArray.of_value(trace, r) for r in results]
    pairs = zip(made, runs[0].parts, strict=True)
    return runs[0].build([m.as_view() if is_view(like) else m for m, like in pairs])


def _has_order(found: Found) -> bool:
    """Whether some result is an array in another order than C."""
    arrays = [p for p in found.parts if isinstance(p, np.ndarray) and p.ndim > 1 and p.size]
    return any(normal_order(classify(a)[0]) is not None for a in arrays)


def _some_axis_is_one(arguments: Sequence[TracedArray | SymbolicNumber]) -> bool:
    """Whether an axis turns out to be 1 long of an argument that is not in C order.

    Along such an axis there is no order, and the results may lie in another one.
    """
    arrays = [a for a in arguments if isinstance(a, TracedArray) and a.sorted_order() is not None]
    return any(
        a.trace.decisions.equal(extent, 1, "the order of the axes")
        for a in arrays
        for extent in a.extents
        if a.trace.decisions.constant(extent) is None and not a.trace.decisions.is_local(extent)
    )


def select(array: TracedArray, mask: TracedArray) -> TracedArray:
    """``array[mask]`` as an array of its own, which NumPy makes between kernels."""
    trace = array.trace
    key = ("selected", mask.value())  # one mask selects as many elements each time
    size = trace.locals.find_bound(key)
    made = host_call(
        "operator.getitem", operator.getitem, (array, mask), {}, by_data=True, size=size
    )
    assert isinstance(made, TracedArray)
    trace.locals.note_bound(key, made.extents[0])
    return made


def with_selected(array: TracedArray, mask: TracedArray, values: TracedArray) -> TracedArray:
    """``array`` after ``array[mask] = values``, as an array of its own."""
    name = "fusejit.ir.host_calls.with_selected"
    made = host_call(name, host_calls.with_selected, (array, mask, values), {})
    assert isinstance(made, TracedArray)
    return made
