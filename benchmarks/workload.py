"""What a workload is: a plain NumPy function, its arguments, and where it is measured."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.programs.program import Program

Array = np.ndarray[Any, np.dtype[Any]]
"""An array of any shape and dtype."""

ArgumentBuilder = Callable[[np.random.Generator, int, "np.dtype[Any]"], tuple[Any, ...]]
"""``(rng, size, dtype) -> arguments``, the largest of about ``size`` elements."""

DTYPES: dict[str, np.dtype[Any]] = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "u8": np.dtype(np.uint8),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
}
"""Short names of dtypes, as used in options, tables and JSON."""

FLOATS = ("f32", "f64")
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
FUSION_SIZES = (100, 1_000, 10_000, 100_000, 1_000_000, 2**22, 2**25)
"""With 4096 rows of 1024, and with at least 128 MiB: several times a last-level cache."""
SMALL_SIZES = (10, 30, 100, 300, 1_000)


@dataclass(frozen=True)
class Reference:
    """The least a kernel can do for a workload: read its first argument, write a like result.

    Parameters
    ----------
    function, out_function
        NumPy functions over the parameters of the workload, and with ``out`` as one more.
    """

    function: Callable[..., Any]
    out_function: Callable[..., Any] | None = None

    def form(self, with_out: bool) -> Callable[..., Any]:
        """The function of the form asked for."""
        if not with_out:
            return self.function
        assert self.out_function is not None
        return self.out_function


@dataclass(frozen=True)
class Workload:
    """A function to measure and all that is needed to measure it fairly.

    Parameters
    ----------
    name
        Unique over all families.
    family
        The group it is plotted and summarised with.
    function
        Ordinary NumPy code; every engine gets this very function.
    arguments
        Builds the arguments, see `ArgumentBuilder`.
    dtypes, sizes
        What is measured unless options say otherwise. Sizes between the first and the last are
        allowed.
    numexpr
        The same as a numexpr expression over the parameter names, where numexpr can say it.
    out_function
        The function with one more parameter, ``out``, written in place the way NumPy does it best.
    mutates
        The function writes to its arguments; they are compared like results.
    reassociates
        Sums are involved, whose order an engine may choose: the tolerance grows with the size.
    tags
        Facts that suites and speed bars ask for: ``trig`` (sin, cos), ``single`` (one ufunc call),
        ``fusion`` (several ops to be grouped), ``one_kernel`` (must become a single kernel).
    reference
        Timed beside the workload by the engine ``copy``.
    program
        The program of the corpus that this is. Its arguments are put back before every timed call,
        outside the clock, and what NumPy's own answer shows decides how far results may be apart.
    """

    name: str
    family: str
    function: Callable[..., Any]
    arguments: ArgumentBuilder
    dtypes: tuple[str, ...] = FLOATS
    sizes: tuple[int, ...] = SIZES
    numexpr: str | None = None
    out_function: Callable[..., Any] | None = None
    mutates: bool = False
    reassociates: bool = False
    tags: frozenset[str] = frozenset()
    reference: Reference | None = None
    program: Program | None = None

    def allows(self, size: int) -> bool:
        """Whether `size` lies in the range this workload is meant for."""
        return self.sizes[0] <= size <= self.sizes[-1]

    def build(self, size: int, dtype: str, seed: int = 0) -> tuple[Any, ...]:
        """Arguments for one case; the same seed gives the same arguments in every process."""
        return self.arguments(np.random.default_rng([seed, size]), size, DTYPES[dtype])
