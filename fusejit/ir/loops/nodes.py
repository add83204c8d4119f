"""Loop nests: what a schedule is lowered to, and what is written out as Numba source.

    stmt  ::= let name = expr | name = expr | store pointer[expr] = expr | scratch name : n x dtype
            | for name in range(expr, expr, step) body | while expr body | if expr body else body
            | parallel for name in range(lo, hi) of expr (work ns) body | free name | exit status
            | launch function(expr...) | return expr
    expr  ::= name | number : dtype | (polynomial of names) | pointer[expr] | array.field[axis]
            | operation(expr...) | function(expr...)

An operation is a row of the payload's table (`fusejit.ir.scalar_ops`), or arithmetic of indices and
sizes (`fusejit.ir.loops.index_math`), which never leaves 64 bits; a function is one of
`fusejit.codegen.intrinsics`. A `ParallelFor` owns its body. `fusejit.codegen.printer.outlining`
makes functions of these, whose parameters are the names they read from outside: a `LoopModule` has
launches and returns in place of parallel loops and exits.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir.loops.polynomial import Polynomial


# ----------------------------------------------------------------------------------- expressions
@dataclass(frozen=True, slots=True)
class Var:
    """A name of the generated source."""

    name: str


@dataclass(frozen=True, slots=True)
class Number:
    """A number of an exact dtype."""

    value: Any
    dtype: np.dtype


@dataclass(frozen=True, slots=True)
class Integer:
    """An int64 computed from names: an extent, an offset, a loop bound."""

    value: Polynomial


@dataclass(frozen=True, slots=True)
class Parts:
    """The complex numbers at a pointer as real and imaginary parts, one after the other."""

    pointer: str

    def __str__(self) -> str:
        return f"parts({self.pointer})"


class Role(enum.Enum):
    """What memory is to a kernel."""

    ARGUMENT = "argument"
    RESULT = "result"  # an array that the launcher has made for this call
    OWN = "own"


Pointer = str | Parts
"""Memory: the name of a pointer, or the parts of the numbers that are there."""


@dataclass(frozen=True, slots=True)
class Element:
    """The element of ``pointer`` at an offset counted in elements."""

    pointer: Pointer
    offset: Polynomial


@dataclass(frozen=True, slots=True)
class Field:
    """What an array says of itself: ``shape[axis]``, ``strides[axis]``, its ``size``."""

    array: str
    name: str
    axis: int | None = None


@dataclass(frozen=True, slots=True)
class Operation:
    """What an `Apply` computes.

    Attributes
    ----------
    name : str
        Of a row of `fusejit.ir.scalar_ops`, or of `fusejit.ir.loops.index_math`.
    kind : str
        The dtype kind of the first operand, which decides between the forms of a row; empty for
        arithmetic of indices.
    scalar_form : bool
        Whether it is the form for numbers on their own, where nothing is vectorised.
    """

    name: str
    kind: str = ""
    scalar_form: bool = False

    def __str__(self) -> str:
        kind = f".{self.kind}" if self.kind else ""
        return f"{self.name}{kind}{' alone' if self.scalar_form else ''}"


@dataclass(frozen=True, slots=True)
class Apply:
    """An operation on operands; ``dtype`` is that of the result, but for arithmetic of indices."""

    op: Operation
    operands: tuple[Expr, ...]
    dtype: np.dtype | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A function of `fusejit.codegen.intrinsics`; a pointer or an array is given by its name.

    One that ``reads_memory`` loads elements that no `Element` says.
    """

    function: str
    operands: tuple[Expr, ...]
    reads_memory: bool = False


Expr = Var | Number | Integer | Element | Field | Apply | Call


# ------------------------------------------------------------------------------------ statements
@dataclass(frozen=True, slots=True)
class Let:
    """Give an expression a name; ``rebind`` when the name exists (a loop-carried scalar).

    What is ``guarded`` is not computed before a loop, which may have no iteration: it reads an
    element that is known to be there only for the points of the loop.
    """

    name: str
    value: Expr
    rebind: bool = False
    guarded: bool = False


@dataclass(frozen=True, slots=True)
class StoreElement:
    """``pointer[offset] = value``."""

    pointer: Pointer
    offset: Polynomial
    value: Expr


@dataclass(frozen=True, slots=True)
class Scratch:
    """Uninitialised memory. ``on_stack`` with a literal size, else from the heap.

    ``scope`` numbers memory that nothing else can reach (0: no promise). ``exit_status`` is what
    the kernel returns when the heap is exhausted; None inside functions that cannot return one.
    """

    name: str
    size: Expr
    dtype: np.dtype
    on_stack: bool
    scope: int = 0
    exit_status: int | None = None


@dataclass(frozen=True, slots=True)
class Free:
    """Give heap scratch back."""

    name: str


@dataclass(frozen=True, slots=True)
class For:
    """``for var in range(lower, upper, step)``; ``step`` is a positive literal.

    ``of_program`` is a loop of the user's. One with ``lanes`` is one vector of so many numbers.
    """

    var: str
    lower: Expr
    upper: Expr
    body: Sequence[Stmt]
    step: int = 1
    of_program: bool = False
    lanes: int = 0


@dataclass(frozen=True, slots=True)
class While:
    """``while condition``: ``head`` computes what the condition reads, each time."""

    head: Sequence[Stmt]
    condition: Expr
    body: Sequence[Stmt]


@dataclass(frozen=True, slots=True)
class If:
    """``if condition: body else: orelse``."""

    condition: Expr
    body: Sequence[Stmt]
    orelse: Sequence[Stmt] = ()


@dataclass(frozen=True, slots=True)
class Streamed:
    """A pointer whose elements ``[lo, hi)`` a chunk writes and never reads.

    ``num_bytes`` is what the loop touches in all, ``fresh_bytes`` the size of the result if the
    call allocated it, else 0.
    """

    pointer: str
    num_bytes: Expr
    fresh_bytes: Expr


@dataclass(frozen=True, slots=True)
class ParallelFor:
    """Chunks of ``[0, extent)`` that may run on several threads: ``body`` sees ``lo`` and ``hi``.

    ``work_ns`` is an estimate of the whole work; ``comment`` says in the source what it computes.
    ``streamed`` is the one result it writes element by element, if that may go around the caches.
    ``fault`` is memory of one int64 in which a chunk that ends early leaves its status. A loop
    that ``is_uneven`` has more and smaller chunks. ``of_program`` is a loop of the user's, whose
    body may hold nests of its own.
    """

    extent: Expr
    work_ns: Expr
    body: Sequence[Stmt]
    comment: str = ""
    streamed: Streamed | None = None
    fault: str = ""
    is_uneven: bool = False
    of_program: bool = False


@dataclass(frozen=True, slots=True)
class Exit:
    """Leave the kernel with a status; 0 is success. In a chunk it goes to the loop's ``fault``.

    ``values`` are the index and the size that the text of an error mentions.
    """

    status: int
    values: tuple[Integer, Integer] | None = None


@dataclass(frozen=True, slots=True)
class Comment:
    """A line of explanation in the generated source."""

    text: str


@dataclass(frozen=True, slots=True)
class Launch:
    """Run a function of the module over chunks: a `ParallelFor` whose body is that function.

    ``numbers`` are the extent, the work and, where a result is streamed, the sizes of `Streamed`;
    ``function`` is called with the bounds of a chunk and the ``arguments``.
    """

    function: str
    numbers: tuple[Expr, ...]
    arguments: tuple[Expr, ...]
    is_uneven: bool = False

    @property
    def is_streamed(self) -> bool:
        """Whether the first argument is a result that may go around the caches."""
        return len(self.numbers) > 2


@dataclass(frozen=True, slots=True)
class Return:
    """End a function: a kernel with its status, another one with nothing."""

    value: Expr | None = None


Stmt = (
    Let
    | StoreElement
    | Scratch
    | Free
    | For
    | While
    | If
    | ParallelFor
    | Exit
    | Comment
    | Launch
    | Return
)


# --------------------------------------------------------------------------------------- kernels
@dataclass(eq=False, slots=True)
class KernelParameter:
    """A parameter of a kernel: an array (rank and dtype) or a number.

    ``value`` is what it is at every call, of a number that kernels alike differ in.
    """

    name: str
    dtype: np.dtype
    ndim: int | None = None  # None for a number
    value: int | None = None


@dataclass(eq=False, slots=True)
class LoopKernel:
    """One kernel: parameters, statements, and the names of library functions it needs."""

    name: str
    parameters: tuple[KernelParameter, ...]
    body: list[Stmt] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class LoopFunction:
    """A function without parallel loops and exits: the kernel, or what a launch runs."""

    name: str
    parameters: tuple[str, ...]
    body: Sequence[Stmt]
    comment: str = ""


@dataclass(frozen=True, slots=True)
class LoopModule:
    """The functions of one kernel, the kernel itself last; a launch names one before it."""

    functions: tuple[LoopFunction, ...]

    @property
    def kernel(self) -> LoopFunction:
        """The function that is called from outside."""
        return self.functions[-1]
