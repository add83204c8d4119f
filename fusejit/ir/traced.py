"""What the tracer hands on: the graph, what each call must check, how results are built."""

from __future__ import annotations

import enum
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, field
from fusejit.ir.graph import Graph
from fusejit.ir.host import HostExpr, Path
from fusejit.ir.results import ObjectsOfClass, ResultStructure, ResultWithObjects, ResultWithTexts
from fusejit.ir.source import Location
from fusejit.ir.values import Layout


class CheckKind(enum.Enum):
    """How the launcher compares the object at a path with the one that was traced."""

    ARRAY = "array"  # expected is an `ArrayClass`
    TYPE = "type"  # type(x) is expected: a number that becomes a run-time scalar, a container
    IS = "is"  # x is expected: modules, functions, None, dtypes, types
    EQUAL = "equal"  # same exact type and equal: strings, bools, ints that had to be exact
    CODE = "code"  # a Python function: expected is a `FunctionDefinition`
    LIST = "list"  # expected is a class of `fusejit.ir.columns.list_columns`
    KEYS = "keys"  # a dict whose keys are expected, a list or tuple of expected length
    MEMBERS = "members"  # a class with as many members as expected
    SAME = "same"  # the object at the path that is expected: one object in two places
    ABSENT = "absent"  # the name or attribute does not exist


@dataclass(frozen=True, slots=True)
class ArrayClass:
    """The arrays that one variant serves: dtype, rank, layout, class; never the sizes."""

    dtype: np.dtype
    ndim: int
    order: tuple[int, ...]
    layout: Layout
    writeable: bool  # whether the variant serves writeable ones alone: it writes into them, mostly
    kind: type = np.ndarray  # or np.memmap: kernels get an ndarray of its memory


@dataclass(frozen=True, slots=True, eq=False)
class FunctionDefinition:
    """What a function computes, but for what it reads: its code, and where its globals are.

    A function that is defined again by the same statements, in the same module, has the same one.
    """

    code: CodeType
    namespace: dict[str, Any]

    def differs(self, function: Any) -> bool:
        """Whether an object is not a function of this definition."""
        code = getattr(function, "__code__", None)
        namespace = getattr(function, "__globals__", None)
        return bool(code != self.code) or namespace is not self.namespace


@dataclass(frozen=True, slots=True)
class PathCheck:
    """One check of a call, in the order in which the paths can be read."""

    path: Path
    kind: CheckKind
    expected: Any


@dataclass(frozen=True, slots=True)
class LibraryRead:
    """An attribute of a library's module, or a builtin, that the program read: it never changes."""

    namespace: dict[str, Any]
    name: str
    value: Any


@dataclass(eq=False, slots=True)
class TracedFunction:
    """A graph with what surrounds it.

    ``checks`` and the graph's guards together say which calls the graph is right for. ``notes`` are
    lines for `explain` (for example: no source was found, so the function was called untraced).
    ``constants`` are arrays made while tracing, found by ``Path("const", name)``.
    ``made`` are objects that each call makes first, found by ``Path("made", name)``.
    ``written`` are attributes, by owner and name, and lists, without a name, that the call writes:
    its structure is a tuple of its result and of what these hold.
    ``library_reads``, attributes of libraries, are checked as a whole: nearly nobody sets them.
    ``entry_stubs`` are the decorated functions that were called.
    ``capacities`` has the numbers of items that each list has room for, and of arrays: a call that
    needs more of either grows these and starts again.
    ``shows_numbers`` says that guards keep numbers exact of which the program has made text.
    """

    graph: Graph
    checks: list[PathCheck]
    structure: ResultStructure
    location: Location
    notes: list[str] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    made: dict[str, HostExpr] = field(default_factory=dict)
    written: tuple[tuple[Path, str], ...] = ()
    shows_numbers: bool = False
    library_reads: list[LibraryRead] = field(default_factory=list)
    entry_stubs: tuple[FunctionType, ...] = ()
    capacities: tuple[np.ndarray, ...] = ()

    @property
    def classes(self) -> tuple[ObjectsOfClass, ...]:
        """What a call does to objects that it gives numbers."""
        found = self.structure
        found = found.result if isinstance(found, ResultWithTexts) else found
        return found.classes if isinstance(found, ResultWithObjects) else ()

    @property
    def writes(self) -> bool:
        """Whether a call writes to attributes or lists with its result."""
        return bool(self.written) or any(one.written for one in self.classes)
