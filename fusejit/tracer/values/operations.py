"""Operations on traced values that are defined by floors above this one.

A traced value is an operand of Python's operators, and ``x[i]``, ``x + y`` or ``x.copy()`` need
most of the tracer. The classes of values call these slots, which `fusejit.tracer.capture.bindings`
fills once, when the tracer is imported. It is the only late binding of the tracer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from fusejit.ir.affine import AffineExpr
from fusejit.ir.values import Value

A = TypeVar("A")
"""The class of traced arrays."""


class ArrayOperations(Generic[A]):
    """Operations on arrays, and on numbers of the kernel, which are arrays of rank 0.

    Attributes
    ----------
    operator : callable
        ``operator(ufunc, operands, out=None)``: what one of Python's operators makes.
    ufunc : callable
        ``ufunc(ufunc, method, args, kwargs)``, as for ``__array_ufunc__``.
    compute : callable
        ``compute(ufunc, operands)``: a ufunc, applied to arrays and numbers.
    compute_where : callable
        ``compute_where(ufunc, args, out, dtype, mask)``.
    with_host_fallback : callable
        ``with_host_fallback(function, handler)``: the handler; NumPy runs what it refuses.
    """

    operator: Callable[..., Any]
    ufunc: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]
    compute: Callable[[Any, Any], Any]
    with_host_fallback: Callable[[Any, Callable[..., Any]], Callable[..., Any]]
    getitem: Callable[[A, Any], Any]
    setitem: Callable[[A, Any, Any], None]
    item: Callable[[A, tuple[Any, ...]], Any]
    tolist: Callable[[A], Any]
    astype: Callable[..., A]
    copy: Callable[[A, Any], A]
    reshape: Callable[..., A]
    complex_part: Callable[[A, str], Any]
    array_of_list: Callable[..., A]
    selected: Callable[[A, A], A]
    selected_rows: Callable[[A, A], A]
    check_fits: Callable[[A, Any], None]
    int_value: Callable[[A], Any]
    compute_where: Callable[..., Any]


class NumberOperations(Generic[A]):
    """Operations on numbers of the call.

    Attributes
    ----------
    kernel_arithmetic : callable
        ``kernel_arithmetic(op, operands)``: a row of `HOST_OPS` on numbers that the kernel knows.
    complex_arithmetic : callable
        The same of a number and a complex one.
    as_array : callable
        A NumPy scalar as an array of rank 0.
    kernel_value : callable
        A number that depends on symbols of a block, as a value of the kernel.
    symbol : callable
        Such an integer as a symbol of the block.
    unsupported_operand : callable
        ``unsupported_operand(op, number, other)``: an operator that gives way to another class.
    """

    ufunc: Callable[[Any, str, tuple[Any, ...], dict[str, Any]], Any]
    kernel_arithmetic: Callable[[str, tuple[Any, ...]], Any]
    complex_arithmetic: Callable[[str, tuple[Any, ...]], Any]
    as_array: Callable[[Any], A]
    kernel_value: Callable[[Any], Value]
    symbol: Callable[[Any], AffineExpr]
    unsupported_operand: Callable[[str, Any, Any], Any]
    product: Callable[[Any, Any], Any]
    complex_of_parts: Callable[[Any, Any], A]


class UnionOperations:
    """Operations on numbers of several types, and on what may be None.

    Attributes
    ----------
    for_each_type : callable
        ``for_each_type(function, *args)``: the call, in a branch for each type.
    operator : callable
        ``operator(ufunc, operands)``: what one of Python's operators makes.
    present : callable
        ``present(maybe, text)``: the tuple; a TypeError with ``text`` where it is None.
    choose : callable
        ``choose(test, first, second)``: ``first() if test else second()``.
    """

    for_each_type: Callable[..., Any]
    operator: Callable[[Any, tuple[Any, ...]], Any]
    present: Callable[[Any, str], Any]
    type_text: Callable[[Any], str]
    choose: Callable[[Any, Callable[[], Any], Callable[[], Any]], Any]
    truth: Callable[[Any], Any]
    one_of_two: Callable[[Any, Any, Any], Any]


class TextOperations:
    """Operations on strings that only the kernel knows, of several characters.

    Attributes
    ----------
    view : callable
        ``view(text)``: the string as one whose characters kernels read.
    number : callable
        ``number(view)``: the number that a call gives it.
    compared : callable
        ``compared(ufunc, left, right)``: which one comes first.
    added : callable
        ``added(left, right)``: the string that has the characters of both.
    decimal : callable
        ``decimal(number)``: ``str(number)`` of an integer.
    part : callable
        ``part(points, refused, start, length)``: the string of some code points of an array.
    """

    view: Callable[[Any], Any]
    number: Callable[[Any], Any]
    compared: Callable[[Any, Any, Any], Any]
    added: Callable[[Any, Any], Any]
    decimal: Callable[[Any], Any]
    part: Callable[[Any, Any, Any, Any], Any]
