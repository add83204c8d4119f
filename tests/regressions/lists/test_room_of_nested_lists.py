"""NaN cannot be an int: lists in lists were made of the room behind their items, too.

That room was never written to: numbers of several types, constants and lists of what was there.
"""

from __future__ import annotations

import numpy as np

from fusejit.codegen.launcher.made_containers import list_of
from fusejit.ir.results import ListColumns, NumberColumn, Texts, TupleColumns

STARTS, LENGTHS = np.array([3, 0, 6, 6, -1]), np.array([2, 1, 0, 1, 99])  # the last one is no list


def test_what_is_never_written_is_not_looked_at() -> None:
    numbers = np.array([1, np.nan, np.nan, 2.0, 3.0, np.nan, 4.0, np.inf])
    tags = np.array([0, 0, 9, 1, 0, 0, 2, 0])
    form = ListColumns(0, 1, 2, NumberColumn(3, (int, np.float64, None), 4))
    columns = iter((STARTS, LENGTHS, np.array(8), numbers, tags))
    made = list_of(form, 4, columns)
    assert made == [[2.0, 3], [1], [], [None]]
    assert [type(item) for item in made[0]] == [np.float64, int]


def test_parts_of_parts() -> None:
    a, b = 1 + ord("a"), 1 + ord("b")
    texts = np.array([b, 2**40, -5, a, b, 2**41, b, 2**42])
    item = TupleColumns(tuple, (NumberColumn(3, (Texts(),)), NumberColumn(4, (int,), None)))
    columns = iter((STARTS, LENGTHS, np.array(8), texts, np.arange(8)))
    made = list_of(ListColumns(0, 1, 2, item), 4, columns)
    assert made == [[("a", 3), ("b", 4)], [("b", 0)], [], [("b", 6)]]


def test_lists_of_lists_of_lists() -> None:
    inner = ListColumns(3, 4, 5, NumberColumn(6, (int,), None))
    starts, lengths = np.array([0, -9, 1, 2, 1, 4, 0]), np.array([2, -3, 1, 1, 2, 5, 3])
    columns = iter((STARTS, LENGTHS, np.array(7), starts, lengths, np.array(3), np.arange(3)))
    made = list_of(ListColumns(0, 1, 2, inner), 4, columns)
    assert made == [[[2], [1, 2]], [[0, 1]], [], [[0, 1, 2]]]
