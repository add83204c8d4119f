"""Machine code that reads the numbers of a list into an array: two nanoseconds an item, not thirty.

It is a builtin of C's calling convention, which holds the interpreter's lock and runs no code of
Python's. It calls CPython's own functions, and reads of objects their classes alone.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from fusejit.codegen.backend.native_layout import DATA, OB_TYPE, SHAPE, layout_is_known
from fusejit.ir.columns.number_reader import Reader
from fusejit.support.interrupts import is_from_handler
from fusejit.support.locks import cut_short

if TYPE_CHECKING:
    from fusejit.codegen.backend.native_loader import AssembledEntry


def native_reader() -> Reader | None:
    """The builtin; None if it cannot be made here, or does not say what Python says."""
    if cut_short() or not layout_is_known():
        return None
    try:
        read: Reader = _entry().builtin(None)
    except RuntimeError as error:  # of an LLVM that reads another text
        if is_from_handler(error):
            raise
        return None
    return read if _is_right(read) else None


@functools.cache
def _entry() -> AssembledEntry:  # lives as long as the process
    from fusejit.codegen.backend.native_loader import AssembledEntry  # loads a compiler

    return AssembledEntry(_TEXT, "fusejit_read_numbers")


def _is_right(read: Reader) -> bool:
    """Whether it says what Python says of a few lists."""
    whole, fractions = np.empty(3, np.int64), np.empty(3)
    ints, floats = [0, -(2**62), 2**40], [0.5, -1.0, 2.0]
    pairs = [*zip(ints, floats, strict=True)]
    lists: tuple[tuple[list[Any], type], ...] = ((ints, int), (floats, float))
    others = ([1, 2], [1, 2, True], [1, 2, 2.0], [1, 2, 2**70], [1, 2, None])
    return (
        all(
            read(items, kind, column, -1, tuple, 0)
            and read(pairs, kind, column, part, tuple, 2)
            and column.tolist() == items
            for part, ((items, kind), column) in enumerate(
                zip(lists, (whole, fractions), strict=True)
            )
        )
        and not any(read(items, int, whole, -1, tuple, 0) for items in others)
        and not read([*pairs[:2], (1, 2, 3)], int, whole, 0, tuple, 2)
        and not read(ints, int, whole, 0, tuple, 2)
    )


_TEXT = f"""
declare i64 @PyList_Size(ptr)
declare ptr @PyList_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyLong_AsLongLongAndOverflow(ptr, ptr)
declare double @PyFloat_AsDouble(ptr)
declare ptr @PyBool_FromLong(i64)

define ptr @fusejit_read_numbers(ptr %self, ptr %args, i64 %count) {{
entry:
  %overflow = alloca i32
  %items = load ptr, ptr %args
  %kind_at = getelementptr ptr, ptr %args, i64 1
  %kind = load ptr, ptr %kind_at
  %column_at = getelementptr ptr, ptr %args, i64 2
  %column = load ptr, ptr %column_at
  %part_at = getelementptr ptr, ptr %args, i64 3
  %part_number = load ptr, ptr %part_at
  %part = call i64 @PyLong_AsLongLongAndOverflow(ptr %part_number, ptr %overflow)
  %class_at = getelementptr ptr, ptr %args, i64 4
  %class = load ptr, ptr %class_at
  %length_at = getelementptr ptr, ptr %args, i64 5
  %length_number = load ptr, ptr %length_at
  %length = call i64 @PyLong_AsLongLongAndOverflow(ptr %length_number, ptr %overflow)
  %data_at = getelementptr i8, ptr %column, i64 {DATA}
  %data = load ptr, ptr %data_at
  %shape_at = getelementptr i8, ptr %column, i64 {SHAPE}
  %shape = load ptr, ptr %shape_at
  %n = load i64, ptr %shape
  %in_tuples = icmp sge i64 %part, 0
  %is_float = icmp ne ptr %kind, inttoptr (i64 {id(int)} to ptr)
  %size = call i64 @PyList_Size(ptr %items)
  %is_as_long = icmp eq i64 %size, %n
  br i1 %is_as_long, label %loop, label %other

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %stored ]
  %is_more = icmp slt i64 %i, %n
  br i1 %is_more, label %item, label %done

item:
  %found = call ptr @PyList_GetItem(ptr %items, i64 %i)
  br i1 %in_tuples, label %tuple, label %number

tuple:
  %tuple_type_at = getelementptr i8, ptr %found, i64 {OB_TYPE}
  %tuple_type = load ptr, ptr %tuple_type_at
  %is_of_class = icmp eq ptr %tuple_type, %class
  br i1 %is_of_class, label %parts, label %other

parts:
  %tuple_size = call i64 @PyTuple_Size(ptr %found)
  %is_of_length = icmp eq i64 %tuple_size, %length
  br i1 %is_of_length, label %of_tuple, label %other

of_tuple:
  %inner = call ptr @PyTuple_GetItem(ptr %found, i64 %part)
  br label %number

number:
  %obj = phi ptr [ %found, %item ], [ %inner, %of_tuple ]
  %type_at = getelementptr i8, ptr %obj, i64 {OB_TYPE}
  %type = load ptr, ptr %type_at
  %is_of_kind = icmp eq ptr %type, %kind
  br i1 %is_of_kind, label %convert, label %other

convert:
  %to = getelementptr i64, ptr %data, i64 %i
  br i1 %is_float, label %float, label %int

float:
  %real = call double @PyFloat_AsDouble(ptr %obj)
  store double %real, ptr %to
  br label %stored

int:
  %whole = call i64 @PyLong_AsLongLongAndOverflow(ptr %obj, ptr %overflow)
  %beyond = load i32, ptr %overflow
  %fits = icmp eq i32 %beyond, 0
  store i64 %whole, ptr %to
  br i1 %fits, label %stored, label %other

stored:
  %next = add i64 %i, 1
  br label %loop

done:
  %true = call ptr @PyBool_FromLong(i64 1)
  ret ptr %true

other:
  %false = call ptr @PyBool_FromLong(i64 0)
  ret ptr %false
}}
"""
