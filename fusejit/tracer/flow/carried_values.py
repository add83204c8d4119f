"""The values of a graph that loops and conditionals hand on for the names of a program.

A name may stand for several: a number of one of several types has a tag beside it, an array the
number of the object that it may be instead, and arrays that lose rows the number that is left.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import NamedTuple

from fusejit.ir.values import Value
from fusejit.tracer.values.union_scalar import NumberType


class Role(enum.Enum):
    """What a value is of the name that it belongs to; the values of this enum name it in graphs."""

    CONTENTS = "{0}"
    TAG = "{0}_as"
    """Which of several types a number has."""
    OBJECT = "object_of_{0}"
    """Which object an array may be instead: `fusejit.tracer.ops.origins`."""
    ROWS = "rows_of_{0}"
    """How many rows are left of an array, and of those that are cut with it."""
    COUNTER = "{0}_"
    """A number of the tracer's own."""


class ValueOf(NamedTuple):
    """A value that belongs to a name of the program."""

    name: str
    role: Role = Role.CONTENTS

    @property
    def label(self) -> str:
        """Its name in the graph."""
        return self.role.value.format(self.name)


class CarriedNumber(NamedTuple):
    """A number that a loop carries.

    Attributes
    ----------
    argument : Value
        What the body's block takes.
    start : Value
        What that is in the first iteration.
    """

    of: ValueOf
    type: NumberType
    argument: Value
    start: Value


class LateNumber(NamedTuple):
    """A number that only the body of a loop defines, and that is read after the loop."""

    of: ValueOf
    type: NumberType


def values_of(name: str, types: Sequence[NumberType]) -> list[ValueOf]:
    """What a number is carried as: itself, and its tag if it has one of several types."""
    return [ValueOf(name), ValueOf(name, Role.TAG)][: len(types)]
