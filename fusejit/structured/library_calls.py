"""Routines that compute structured ops: BLAS for contractions and convolutions, and those of users.

An op whose definition names a routine is computed by it where the routine's ``legal`` says that it
may be, and by the op's own loops elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass
from fusejit.ir.definitions.binding import Binding
from fusejit.ir.definitions.indices import DIM


@dataclass(frozen=True, slots=True)
class LibraryCall:
    """A registered routine.

    Attributes
    ----------
    function : callable
        ``function(binding, *inputs)`` for one that is traced, else ``function(*inputs)``. A traced
        one returns `NotImplemented` where it should not compute operands of these extents.
    legal : callable
        Whether it computes the op for the dtypes, maps and attributes of a `Binding`.
    is_traced : bool
        Whether it is made of functions of NumPy that become ops of the graph.
    is_op : bool
        Whether the op is traced as it is, with the routine as its ``library_call``, where
        ``function(binding, *inputs)`` is true.
    """

    name: str
    function: Callable[..., Any]
    legal: Callable[[Binding], bool]
    is_traced: bool = False
    is_op: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it is one of fusejit's, and no function that kernels call."""
        return self.is_traced or self.is_op


ROUTINES: dict[str, LibraryCall] = {}
"""The routines by name."""


def register_library_call(
    name: str, function: Callable[..., Any], legal: Callable[[Binding], bool]
) -> None:
    """Register a routine for the ops that name it.

    Parameters
    ----------
    name : str
        What ``library_call=`` of an op says: an identifier.
    function : callable
        ``function(*inputs)`` returns what the op computes from the combiner's identity: an array of
        the output's shape and dtype. It gets NumPy arrays and must not keep or change them.
    legal : callable
        ``legal(binding)`` says whether the routine computes the op for the dtypes, the indexing
        maps and the attributes of a call. Extents are not known there.

    Raises
    ------
    ValueError
        If the name is no identifier, or is taken by a routine of fusejit's own.
    """
    if not name.isidentifier() or (name in ROUTINES and ROUTINES[name].is_own):
        raise ValueError(f"{name!r} cannot name a library call")
    ROUTINES[name] = LibraryCall(name, function, legal)


def routine_for(binding: Binding) -> LibraryCall | None:
    """The routine that computes an op, or None."""
    routine = ROUTINES.get(str(binding.definition.library_call))
    return routine if routine is not None and routine.legal(binding) else None


def __getattr__(name: str) -> Any:
    """The function of a routine: kernels find it by its dotted name."""
    if name in ROUTINES:
        return ROUTINES[name].function
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ------------------------------------------------------------------------------------ contractions
_BLAS = "fd"  # characters of the dtypes that BLAS multiplies


def _dims(binding: Binding) -> tuple[list[str], list[str], list[str]]:
    """The dims of the two factors and of the output, axis by axis."""
    definition = binding.definition
    accesses = [*definition.accesses, definition.updates[0].access]
    first, second, out = ([d for s in a.subscripts for d in s.names(DIM)] for a in accesses)
    return first, second, out


def _is_contraction(binding: Binding) -> bool:
    """Whether both factors have the output's type, BLAS multiplies it, and no dim is broadcast."""
    definition = binding.definition
    dtypes = {binding.dtype_of(operand).char for operand in definition.operands}
    first, second, out = _dims(binding)
    return (
        len(dtypes) == 1
        and dtypes.pop() in _BLAS
        and {*out} <= {*first, *second}
        and {*first, *second} - {*out} <= {*first} & {*second}
    )


def contracted(binding: Binding, first: Any, second: Any) -> Any:
    """The contraction as a product of matrices, or of stacks of matrices.

    The dims of each factor that the other one lacks become one axis, and so do the dims that are
    summed. They are views where each is one dim, and copies elsewhere.
    """
    left, right, out = _dims(binding)
    if [d for d in out if d in left] and _comes_later(out, left, right):
        first, second, left, right = second, first, right, left
    batch = [d for d in out if d in left and d in right]
    rows = [d for d in out if d in left and d not in right]
    columns = [d for d in out if d in right and d not in left]
    depth = [d for d in binding.dims if d in left and d in right and d not in out]
    shapes = (*first.shape, *second.shape)
    sizes = dict(zip((*left, *right), shapes, strict=True))
    row_axis = bool(rows or (batch and columns))
    column_axis = bool(columns or batch)
    a = _arranged(first, left, [batch, *([rows] if row_axis else []), depth], sizes)
    b = _arranged(second, right, [batch, depth, *([columns] if column_axis else [])], sizes)
    product = np.matmul(a, b)
    if row_axis and not rows:
        product = product[..., 0, :]
    elif column_axis and not columns:
        product = product[..., 0]
    made = [*batch, *rows, *columns]
    if len(rows) > 1 or len(columns) > 1:
        product = product.reshape(tuple(sizes[d] for d in made))
    order = [made.index(d) for d in out]
    return product if order == sorted(order) else product.transpose(order).copy()


def _comes_later(out: Sequence[str], left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether the output has the dims of the second factor alone before those of the first."""
    rows = [k for k, d in enumerate(out) if d not in right]
    columns = [k for k, d in enumerate(out) if d not in left]
    return bool(rows and columns) and max(columns) < min(rows)


def _arranged(
    array: Any, dims: Sequence[str], groups: Sequence[Sequence[str]], sizes: dict[str, Any]
) -> Any:
    """The array with its axes in the order of ``groups``; all but the first are one axis each.

    What is merged after a transposition is copied before it, whatever the extents: whether a view
    would do depends on which of them are 1.
    """
    batch, *merged = groups
    order = [dims.index(d) for group in groups for d in group]
    is_merged = any(len(group) != 1 for group in merged)
    if order != sorted(order):
        array = array.transpose(order)
        array = array.copy() if is_merged else array
    if not is_merged:
        return array
    lengths = (math.prod(sizes[d] for d in group) for group in merged)
    return array.reshape((*(sizes[d] for d in batch), *lengths))


ROUTINES["contraction"] = LibraryCall("contraction", contracted, _is_contraction, is_traced=True)


# ------------------------------------------------------------------------------------ convolutions
MAX_COLUMN_BYTES = 2**28
"""A convolution copies its windows for BLAS only if the copy is not larger than this."""

TILE_BYTES = 128
"""Bytes of neighbouring filters that a register tile has: two of the widest registers."""

MIN_TERMS = 256
"""Terms of a sum from which on a tile of sums hides what it costs to begin and to store it."""


def _is_convolution_of_channels(binding: Binding) -> bool:
    """Whether windows of the image and the kernel are matrices of which BLAS has enough to do.

    Beside the window a channel is summed, and the kernel has filters of its own.
    """
    if not _is_contraction(binding):
        return False
    first, second, out = _dims(binding)
    image = binding.definition.accesses[0]
    plain = {d for s in image.subscripts if len(s.names(DIM)) == 1 for d in s.names(DIM)}
    return bool(plain - {*out}) and bool({*second} - {*first})


def loops_are_faster(filters: Any, terms: Any, window: Any, itemsize: int) -> Any:
    """Whether loops that keep sums in registers beat BLAS on copied windows.

    They do where filters fill the tiles of `fusejit.fuse.tiling.tile_sums`, a sum has enough terms,
    and a window has more points than one, so that BLAS would need a copy.
    ``benchmarks.convolution_sweep`` measures what this choice loses.
    """
    return window > 1 and filters % (TILE_BYTES // itemsize) == 0 and terms >= MIN_TERMS


def may_copy_windows(binding: Binding, image: Any, kernel: Any) -> bool:
    """Whether a window fits, and a copy of all windows is not too large.

    The op that is traced then says ``library_call "convolution"``: `fusejit.fuse.im2col` makes a
    product of it, unless a schedule does something else.
    """
    _, kernel_dims, out = _dims(binding)
    dims = [s.names(DIM) for s in binding.definition.accesses[0].subscripts]
    axes = [axis for axis, names in enumerate(dims) if len(names) == 2]
    strides = binding.attributes.get("strides", (1,) * len(axes))
    dilations = binding.attributes.get("dilations", (1,) * len(axes))
    extents = [kernel.shape[kernel_dims.index(dims[axis][1])] for axis in axes]
    *depth, filters = kernel.shape
    if kernel_dims[-1] == out[-1] and loops_are_faster(
        filters, math.prod(depth), math.prod(extents), kernel.dtype.itemsize
    ):
        return False
    lengths = tuple((n - 1) * step + 1 for n, step in zip(extents, dilations, strict=True))
    if any(length > image.shape[axis] for axis, length in zip(axes, lengths, strict=True)):
        return False
    sizes = [n for axis, n in enumerate(image.shape) if axis not in axes] + extents
    for axis, length, step in zip(axes, lengths, strides, strict=True):
        sizes.append((image.shape[axis] - length) // step + 1)
    return bool(math.prod(sizes) * image.dtype.itemsize <= MAX_COLUMN_BYTES)


ROUTINES["convolution"] = LibraryCall(
    "convolution", may_copy_windows, _is_convolution_of_channels, is_op=True
)
