"""The door from Python into a kernel: a ``METH_FASTCALL`` function in LLVM IR.

It reads the arrays' fields where NumPy's ABI has them, calls the kernel through Numba's calling
convention without taking references, and returns the status as a Python int:

    -1           wrong number of arguments, one that is not what was compiled for, or a word of
                 memory that was changed (`codegen.backend.native_loader.comparing`); nothing ran
    0            done
    1, 2, ...    the kernel's own statuses

An array must be exactly `numpy.ndarray` (no subclass) of the compiled rank and dtype in native byte
order and without metadata. Shape, strides, alignment, writeability and overlap are not looked at:
that is the launcher's and the kernel's part.

Source
------
``PyArrayObject_fields`` and ``_PyArray_Descr`` in numpy/ndarraytypes.h: stable since NumPy 2.0, and
compared with Python's view of a sample array before the first use: see
`fusejit.codegen.backend.native_layout`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit.codegen.backend.native_layout import (
    BYTEORDER,
    DATA,
    DESCR,
    METADATA,
    NDIM,
    OB_TYPE,
    SHAPE,
    STRIDES,
    TYPE_NUM,
)
from fusejit.codegen.backend.native_loader import NDARRAY_TYPE_SYMBOL
from fusejit.codegen.intrinsics.statuses import Status
from fusejit.codegen.intrinsics_jit.module_symbols import (
    BYTE_POINTER,
    INT64,
    call_c,
    external,
    int64,
)
from fusejit.codegen.machine.numba_api import cgutils, ir, populate_array, types

Value = Any

_INT8, _INT32 = ir.IntType(8), ir.IntType(32)


def _field(builder: Any, start: Value, offset: int, kind: Any) -> Value:
    at = builder.gep(start, [int64(offset)])
    return builder.load(builder.bitcast(at, kind.as_pointer()))


class _Entry:
    """Emits one entry; `miss` is the block that returns `Status.MISMATCH`."""

    def __init__(self, context: Any, module: Any, name: str, num_args: int) -> None:
        self.context = context
        entry_type = ir.FunctionType(BYTE_POINTER, [BYTE_POINTER, BYTE_POINTER.as_pointer(), INT64])
        function = ir.Function(module, entry_type, name=name)
        self.builder = ir.IRBuilder(function.append_basic_block("entry"))
        self.miss = function.append_basic_block("miss")
        self.args = function.args[1]
        self.num_elements: Value = int64(0)
        with self.builder.goto_block(self.miss):
            self.builder.ret(self.status_object(int64(int(Status.MISMATCH))))
        count = int64(num_args)
        self.require(self.builder.icmp_signed("==", function.args[2], count))
        self._compare_words(function.args[0])

    def _compare_words(self, owner: Value) -> None:
        """Go on if the words that the builtin's ``__self__`` names hold what they must."""
        builder = self.builder
        start = call_c(builder, "PyByteArray_AsString", BYTE_POINTER, owner)
        words = builder.bitcast(start, INT64.as_pointer())
        one, two = (int64(k) for k in (1, 2))
        with cgutils.for_range(builder, builder.load(words)) as loop:
            place = builder.add(builder.mul(loop.index, two), one)
            address = builder.load(builder.gep(words, [place]))
            expected = builder.load(builder.gep(words, [builder.add(place, one)]))
            now = builder.load(builder.inttoptr(address, INT64.as_pointer()))
            self.require(builder.icmp_unsigned("==", now, expected))

    def status_object(self, status: Value) -> Value:
        return call_c(self.builder, "PyLong_FromLongLong", BYTE_POINTER, status)

    def require(self, condition: Value) -> None:
        """Go on if `condition`, else return the mismatch status."""
        passed = self.builder.append_basic_block("passed")
        self.builder.cbranch(condition, passed, self.miss)
        self.builder.position_at_end(passed)

    def argument(self, k: int) -> Value:
        return self.builder.load(self.builder.gep(self.args, [int64(k)]))

    def array(self, obj: Value, array_type: Any, dtype: np.dtype[Any]) -> Value:
        """The array as Numba's struct."""
        builder = self.builder
        ndarray = external(builder.module, NDARRAY_TYPE_SYMBOL, _INT8)
        object_type = _field(builder, obj, OB_TYPE, BYTE_POINTER)
        self.require(builder.icmp_unsigned("==", object_type, ndarray))
        ndim = _field(builder, obj, NDIM, _INT32)
        descr = _field(builder, obj, DESCR, BYTE_POINTER)
        order = _field(builder, descr, BYTEORDER, _INT8)
        type_num = _field(builder, descr, TYPE_NUM, _INT32)
        fits = builder.and_(
            builder.icmp_signed("==", ndim, ir.Constant(_INT32, array_type.ndim)),
            builder.icmp_signed("==", type_num, ir.Constant(_INT32, dtype.num)),
        )
        native = builder.icmp_unsigned("==", order, ir.Constant(_INT8, ord(dtype.byteorder)))
        metadata = cgutils.is_null(builder, _field(builder, descr, METADATA, BYTE_POINTER))
        self.require(builder.and_(builder.and_(fits, native), metadata))
        shape = self._numbers(_field(builder, obj, SHAPE, INT64.as_pointer()), array_type.ndim)
        strides = self._numbers(_field(builder, obj, STRIDES, INT64.as_pointer()), array_type.ndim)
        size = int64(1)
        for extent in shape:
            size = builder.mul(size, extent)
        self.num_elements = builder.add(self.num_elements, size)
        array = self.context.make_array(array_type)(self.context, builder)
        data = builder.bitcast(_field(builder, obj, DATA, BYTE_POINTER), array.data.type)
        populate_array(array, data, shape, strides, dtype.itemsize, None)
        return array._getvalue()

    def _numbers(self, start: Value, count: int) -> list[Value]:
        builder = self.builder
        return [builder.load(builder.gep(start, [int64(k)])) for k in range(count)]

    def scalar(self, obj: Value, scalar_type: Any) -> Value:
        """A number by Python's own conversion; one that cannot be converted is a mismatch."""
        builder = self.builder
        if isinstance(scalar_type, types.Float):
            value = call_c(builder, "PyFloat_AsDouble", ir.DoubleType(), obj)
            self._miss_on_error(builder.fcmp_ordered("==", value, ir.Constant(value.type, -1.0)))
            is_single = scalar_type == types.float32
            return builder.fptrunc(value, ir.FloatType()) if is_single else value
        if scalar_type == types.boolean:
            truth = call_c(builder, "PyObject_IsTrue", _INT32, obj)
            self._miss_on_error(builder.icmp_signed("==", truth, ir.Constant(_INT32, -1)))
            return builder.icmp_signed("!=", truth, ir.Constant(_INT32, 0))
        value = self._integer(obj, wide_unsigned=scalar_type == types.uint64)
        bits = scalar_type.bitwidth
        return value if bits == 64 else builder.trunc(value, ir.IntType(bits))

    def _integer(self, obj: Value, wide_unsigned: bool) -> Value:
        builder = self.builder
        if not wide_unsigned:
            value = call_c(builder, "PyLong_AsLongLong", INT64, obj)
        else:  # PyLong_AsUnsignedLongLong does not take NumPy's integers
            number = call_c(builder, "PyNumber_Index", BYTE_POINTER, obj)
            self._miss_on_error(cgutils.is_null(builder, number))
            value = call_c(builder, "PyLong_AsUnsignedLongLong", INT64, number)
            call_c(builder, "Py_DecRef", ir.VoidType(), number)
        self._miss_on_error(builder.icmp_signed("==", value, int64(-1)))
        return value

    def _miss_on_error(self, suspicious: Value) -> None:
        """If `suspicious` and a Python error is set, clear it and return the mismatch status."""
        builder = self.builder
        with builder.if_then(suspicious, likely=False):
            occurred = call_c(builder, "PyErr_Occurred", BYTE_POINTER)
            with builder.if_then(cgutils.is_not_null(builder, occurred), likely=False):
                call_c(builder, "PyErr_Clear", ir.VoidType())
                builder.branch(self.miss)

    def call_kernel(self, fndesc: Any, values: list[Value], keep_gil_below: int) -> None:
        """Call, give the GIL up where that pays, return the status."""
        builder, convention = self.builder, self.context.call_conv
        function_type = convention.get_function_type(fndesc.restype, fndesc.argtypes)
        callee = cgutils.get_or_insert_function(
            builder.module, function_type, fndesc.llvm_func_name
        )
        thread_state = cgutils.alloca_once_value(builder, ir.Constant(BYTE_POINTER, None))
        is_large = builder.icmp_signed(">=", self.num_elements, int64(keep_gil_below))
        with builder.if_then(is_large):
            builder.store(call_c(builder, "PyEval_SaveThread", BYTE_POINTER), thread_state)
        _, status = convention.call_function(
            builder, callee, fndesc.restype, fndesc.argtypes, values, attrs=("noinline",)
        )
        with builder.if_then(is_large):
            state = builder.load(thread_state)
            call_c(builder, "PyEval_RestoreThread", ir.VoidType(), state)
        is_over = builder.icmp_signed("!=", status, int64(0))
        with builder.if_then(is_over, likely=False):  # the handler of a signal may have raised
            occurred = call_c(builder, "PyErr_Occurred", BYTE_POINTER)
            with builder.if_then(cgutils.is_not_null(builder, occurred), likely=False):
                builder.ret(ir.Constant(BYTE_POINTER, None))
        builder.ret(self.status_object(status))


def emit_entry(
    context: Any,
    module: Any,
    fndesc: Any,
    name: str,
    dtypes: tuple[np.dtype[Any], ...],
    keep_gil_below: int,
) -> None:
    """Add the entry `name` of the kernel `fndesc` to an LLVM module.

    Parameters
    ----------
    context
        Numba's target context.
    module
        The module to add to; it is linked with the kernel's.
    fndesc
        Numba's descriptor of the kernel; it returns int64.
    name : str
        Symbol of the entry.
    dtypes : tuple of numpy.dtype
        Of each argument.
    keep_gil_below : int
        Elements in all arrays together from which on a call gives up the GIL.
    """
    entry = _Entry(context, module, name, len(dtypes))
    values = []
    for k, (argument_type, dtype) in enumerate(zip(fndesc.argtypes, dtypes, strict=True)):
        obj = entry.argument(k)
        if isinstance(argument_type, types.Array):
            values.append(entry.array(obj, argument_type, dtype))
        else:
            values.append(entry.scalar(obj, argument_type))
    entry.call_kernel(fndesc, values, keep_gil_below)
