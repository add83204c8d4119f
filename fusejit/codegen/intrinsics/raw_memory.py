"""Raw memory in generated code, and its bounds-checked Python implementation.

Kernels address memory by *element* offsets from the first element of an array, so that one flat
index expression serves every layout; an offset may be negative (negative strides). Nothing is
converted: `put` stores exactly the dtype of the memory.

Examples
--------
>>> pointer = flat(np.arange(4.0)[::-1])
>>> get(pointer, 0), get(pointer, -3)
(np.float64(3.0), np.float64(0.0))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fusejit.codegen.intrinsics.arithmetic import DtypeToken
from fusejit.codegen.intrinsics.intrinsic_table import python_implementation
from fusejit.ir.types import part_dtype

MAX_SCOPES = 32
"""Alias scopes are numbered 1 to this; 0 promises nothing."""

MAX_STACK_BYTES = 16 * 1024
"""Largest `scratch` in bytes; beyond it use `heap_scratch`."""

_PYTHON_SCALARS = {bool: np.bool_, int: np.int64, float: np.float64}


class Flat:
    """A typed pointer in Python: the memory it may touch and the index of its first element.

    Attributes
    ----------
    memory : ndarray, shape (n,)
        Everything within reach.
    origin : int
        Index in `memory` of the element with offset 0.
    """

    __slots__ = ("memory", "origin")

    def __init__(self, memory: npt.NDArray[Any], origin: int) -> None:
        self.memory = memory
        self.origin = origin

    def index(self, offset: int) -> int:
        """Index in `memory`; raises IndexError outside, also below 0."""
        index = self.origin + int(offset)
        if not 0 <= index < len(self.memory):
            raise IndexError(
                f"element offset {offset} is outside the memory: "
                f"[{-self.origin}, {len(self.memory) - self.origin})"
            )
        return index

    def parts(self) -> Flat:
        """Memory of complex numbers as memory of their parts."""
        parts = self.memory.view(part_dtype(self.memory.dtype))
        return Flat(parts, 2 * self.origin)


@python_implementation
def flat(array: npt.NDArray[Any]) -> Flat:
    """Typed pointer to the first element of an array of any layout."""
    itemsize = array.itemsize
    if array.size == 0:
        return Flat(np.empty(0, array.dtype), 0)
    if any(stride % itemsize for stride in array.strides):
        raise ValueError("flat: a stride is not a multiple of the itemsize")
    reach = [(n - 1) * s // itemsize for n, s in zip(array.shape, array.strides, strict=True)]
    below = -sum(r for r in reach if r < 0)
    above = sum(r for r in reach if r > 0)
    flips = (slice(None, None, -1) if r < 0 else slice(None) for r in reach)
    lowest = array[(*flips, ...)]  # the Ellipsis keeps a 0-d array a view
    memory = np.lib.stride_tricks.as_strided(lowest, (below + above + 1,), (itemsize,))
    return Flat(memory, below)


@python_implementation
def flat_scoped(array: npt.NDArray[Any], scope: int) -> Flat:
    """`flat`, promising that pointers of different scopes above 0 never meet; a literal scope."""
    if not 0 <= scope <= MAX_SCOPES:
        raise ValueError(f"flat_scoped: scope {scope} is not in [0, {MAX_SCOPES}]")
    return flat(array)


@python_implementation
def get(pointer: Flat, offset: int) -> Any:
    """Load the element at an element offset: no wraparound, no bounds check when jitted."""
    return pointer.memory[pointer.index(offset)]


@python_implementation
def put(pointer: Flat, offset: int, value: Any) -> None:
    """Store an element; `value` must have exactly the dtype of the memory."""
    given = _PYTHON_SCALARS.get(type(value), type(value))
    if given is not pointer.memory.dtype.type:
        raise TypeError(f"put: {given.__name__} into memory of {pointer.memory.dtype}")
    pointer.memory[pointer.index(offset)] = value


def _garbage(n: int, token: DtypeToken) -> Flat:
    memory = np.full(n * token.dtype.itemsize, 0x5A, np.uint8).view(token.dtype)
    if token.dtype.kind in "fc":
        memory[...] = np.nan
    elif token.dtype.kind == "b":
        memory[...] = True
    return Flat(memory, 0)


@python_implementation
def scratch(n: int, token: DtypeToken, scope: int = 0) -> Flat:
    """Uninitialised stack memory of `n` elements for this call; `n` and `scope` are literals.

    It is allocated once per function call, however often the statement runs, 64-byte aligned, at
    most 16 KiB.
    """
    if n * token.dtype.itemsize > MAX_STACK_BYTES:
        raise ValueError(
            f"scratch: {n} elements are over {MAX_STACK_BYTES} bytes; use heap_scratch"
        )
    return _garbage(n, token)


@python_implementation
def heap_scratch(n: int, token: DtypeToken, scope: int = 0) -> Flat:
    """Uninitialised heap memory of `n` elements, 64-byte aligned, for `free_scratch`."""
    return _garbage(max(int(n), 0), token)


@python_implementation
def any_step(n: int) -> int:
    """`n`, which LLVM does not see to be a name alone (`codegen.loop_passes.stride_versioning`)."""
    return n


@python_implementation
def is_null(pointer: Flat) -> bool:
    """True if `heap_scratch` found no memory."""
    return False


@python_implementation
def free_scratch(pointer: Flat) -> None:
    """Free what `heap_scratch` gave; every later use raises in the Python implementation."""
    pointer.memory = pointer.memory[:0]


@python_implementation
def address(array: npt.NDArray[Any]) -> int:
    """Address of the first element, an int64."""
    return int(array.__array_interface__["data"][0])


@python_implementation
def itemsize_aligned(array: npt.NDArray[Any]) -> bool:
    """True if the data address and all strides are multiples of the itemsize."""
    return not any(number % array.itemsize for number in (address(array), *array.strides))


@python_implementation
def low_address(array: npt.NDArray[Any]) -> int:
    """Lowest byte address of any element; equals `high_address` for an empty array."""
    if array.size == 0:
        return address(array)
    reach: int = sum(min((n - 1) * s, 0) for n, s in zip(array.shape, array.strides, strict=True))
    return address(array) + reach


@python_implementation
def high_address(array: npt.NDArray[Any]) -> int:
    """One past the highest byte address of any element."""
    if array.size == 0:
        return address(array)
    reach: int = sum(max((n - 1) * s, 0) for n, s in zip(array.shape, array.strides, strict=True))
    return address(array) + array.itemsize + reach
