"""Real and imaginary parts: ``z.real`` and ``z.imag`` are views of the memory of ``z``."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.ir.complex_numbers import joined, parts
from fusejit.ir.ops import Alias
from fusejit.ir.payload import PayloadBuilder
from fusejit.ir.types import Kind, TensorType, part_dtype
from fusejit.ir.values import Buffer, Layout, Value, View
from fusejit.ir.write_access import WriteAccess
from fusejit.tracer.builder.primitives import PRIMITIVES, primitive
from fusejit.tracer.indexing.creation import array_from
from fusejit.tracer.np.arrays.conversions import axes_of_order
from fusejit.tracer.ops.elementwise_op import emit_elementwise, emit_scalar, full
from fusejit.tracer.ops.kernel_numbers import as_kernel_number, is_number, number_type
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import unsupported
from fusejit.tracer.values.array import TracedArray
from fusejit.tracer.values.operand_types import C128, F64, operand_of
from fusejit.tracer.values.storage import DerivedStorage, Storage
from fusejit.tracer.values.symbolic_number import SymbolicNumber


class PartStorage(DerivedStorage):
    """One part of each number of ``base``, in its memory: all stores go through to it.

    It is read through ``base``, so that both parts of a number are one load. A store needs the
    memory itself: every second float of it, a buffer of its own in the class of the base's buffer.
    """

    has_gaps = True

    def __init__(self, base: Storage, part: str) -> None:
        super().__init__(base, part_dtype(base.dtype), base.extents)
        self.part = part
        self._views: dict[Any, TracedArray] = {}
        self._seen: dict[Any, tuple[Value, Any, Value]] = {}
        self.order = base.order
        if base.array is not None:
            self.array = getattr(base.array, part)

    def read(self) -> Value:
        """All elements at this place of the program."""
        value = self.value_of_view(TracedArray.whole(self))
        assert value is not None
        return value

    def value_of_view(self, view: TracedArray) -> Value | None:
        """The parts of what the view would be of the base: only they are computed."""
        key = (view.map, view.extents)
        if key not in self._views:
            self._views[key] = TracedArray(self.base, view.map, view.extents)
        whole = self._views[key]
        source, block = whole.value(), self.trace.block
        known = self._seen.get(key)
        if known is None or known[0] is not source or known[1] is not block:
            value = part_of(whole, self.part).value()
            self._seen[key] = known = (source, block, value)
        return known[2]

    def replace(self, value: Value) -> None:
        """Take on fresh parts, for every view of the base too."""
        if self.base.root.value is None:  # what `np.empty` returns: nothing is known of the others
            self.trace.store(View.whole(self.to_buffer()), value)
            return
        whole = TracedArray.whole(self.base)
        new = TracedArray.of_value(self.trace, value)
        is_real = self.part == "real"

        def compute(builder: PayloadBuilder, refs: list[int]) -> int:
            real, imag = parts(builder, refs[0])
            return joined(builder, *((refs[1], imag) if is_real else (real, refs[1])))

        made = emit_elementwise(
            self.part,
            [whole, new],
            None,
            whole.dtype,
            compute,
            extents=self.extents,
            kind=Kind.ARRAY,
            order=self.base.order,
        )
        self.base.replace(made.value())

    def forward(self, value: Value) -> None:
        """What was stored is read through the base."""

    def _make_alias(self) -> Buffer:
        trace, base = self.trace, self.base.to_buffer()
        alias = Buffer(
            trace.unique_name(f"{base.name}_{self.part}"),
            TensorType(self.dtype, base.type.extents),
            base.alias_class,
            None,
            self.order,
            Layout.STRIDED,
            base.root.writeable,
            base,
            part=self.part,
        )
        trace.graph.buffers.append(alias)
        alias_op = Alias(buffer=alias)
        trace.append(alias_op, self.base.home)
        return alias

    def stride_expr(self, axis: int) -> Any:
        """The stride of an axis in bytes, as the launcher finds it."""
        return self.base.stride_expr(axis)


def part_of(array: TracedArray, part: str) -> TracedArray:
    """The parts as new elements, with the kind of the array."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return parts(builder, refs[0])[part == "imag"]

    order = array.storage.order if array.is_whole else "nditer"
    return emit_elementwise(
        part, [array], None, part_dtype(array.dtype), compute, kind=array.kind, order=order
    )


def joined_parts(real: TracedArray, imag: TracedArray) -> TracedArray:
    """The complex numbers with two parts of one dtype, with the kind of the parts."""

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return joined(builder, *refs)

    dtype, order = np.dtype(f"c{2 * real.dtype.itemsize}"), real.storage.order
    return emit_elementwise(
        "complex", [real, imag], None, dtype, compute, kind=real.kind, order=order
    )


def complex_number(real: Any, imag: Any) -> TracedArray:
    """A complex number of two numbers: Python's unless they are NumPy's."""
    operands = [operand_of(x) for x in (real, imag)]
    strong = [o.token for o in operands if isinstance(o.token, np.dtype)]
    part = np.result_type(*strong) if strong else F64

    def compute(builder: PayloadBuilder, refs: list[int]) -> int:
        return joined(builder, *(builder.cast(ref, part) for ref in refs))

    loop = [part if strong or o.array is None else o.array.dtype for o in operands]
    kind = Kind.SCALAR if strong else Kind.PYTHON
    dtype = np.dtype(f"c{2 * part.itemsize}")
    return emit_scalar("complex", operands, loop, dtype, compute, kind)


@primitive(complex, complex=True)
def complex_of(real: Any = 0, imag: Any = 0) -> Any:
    """Python's ``complex(a, b)``; ``NotImplemented`` where both are known here."""
    given = (real, imag)
    if not any(isinstance(x, TracedArray | SymbolicNumber) for x in given):
        return NotImplemented
    if not all(map(is_number, given)):
        raise numpy_raises("TypeError: complex() of something that is no number")
    if number_type(real)[1].kind == "c" and type(imag) is int and imag == 0:
        return as_kernel_number(real, Kind.PYTHON, C128)
    if any(number_type(x)[1].kind == "c" for x in given):
        raise Fallback("complex() of two numbers, one of which is complex")
    return complex_number(*(as_kernel_number(x, Kind.PYTHON, F64) for x in given))


def part_view(array: TracedArray, part: str) -> Any:
    """``z.real`` or ``z.imag``: a view, but for numbers; 0 for the imaginary part of a real one."""
    if array.dtype.kind != "c":
        if part == "real":
            is_python_bool = array.kind is Kind.PYTHON and array.dtype.kind == "b"
            return PRIMITIVES[int](array) if is_python_bool else array
        if array.kind is Kind.ARRAY:
            return _zeros(array)
        zero: Any = array.scalar_type(0)  # type: ignore[misc]
        return int(zero) if type(zero) is bool else zero
    if array.kind is not Kind.ARRAY:
        return part_of(array, part)
    storage = array.storage
    seen = storage.reshapes.get(part)
    if seen is None:
        seen = storage.reshapes[part] = PartStorage(storage, part)
    view = TracedArray(seen, array.map, array.extents)
    view.access = array.access
    view.is_view = True
    return view


def _zeros(array: TracedArray) -> TracedArray:
    """The imaginary parts of real numbers, which are an array of their own, and read-only."""
    zero = operand_of(array.dtype.type(0))
    order = axes_of_order(array, "A")
    zeros = full(array.extents, zero, array.dtype, order, "imag")
    zeros.access = WriteAccess.READ_ONLY
    return zeros


class ImaginarySizes(dict[Storage, SymbolicNumber]):
    """``n * 1j`` of one trace, of integers ``n`` of the call."""


_NUMBERS = (SymbolicNumber, np.generic, int, float, complex)


@primitive(np.real, complex=True)
def real(val: Any) -> Any:
    """``np.real(z)``: ``z.real``; of a Python number Python's."""
    return val.real if isinstance(val, _NUMBERS) else part_view(array_from(val), "real")


@primitive(np.imag, complex=True)
def imag(val: Any) -> Any:
    """``np.imag(z)``: ``z.imag``; of a Python number Python's."""
    return val.imag if isinstance(val, _NUMBERS) else part_view(array_from(val), "imag")


@primitive(np.angle, complex=True)
def angle(z: Any, deg: Any = False) -> TracedArray:
    """``np.angle(z)``: ``arctan2(z.imag, z.real)``, the imaginary part of a real number being 0."""
    array = array_from(z)
    is_complex = array.dtype.kind == "c"
    imag = part_view(array, "imag") if is_complex else 0
    result: TracedArray = PRIMITIVES[np.arctan2](imag, part_view(array, "real"))
    if deg is False:
        return result
    if deg is not True:
        raise unsupported(f"np.angle with deg={deg!r}", "use True or False")
    scaled: TracedArray = PRIMITIVES[np.multiply](result, 180 / np.pi)
    return scaled
