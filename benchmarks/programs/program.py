"""What a row of the corpus is: a whole NumPy program, its arguments, and its sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

ProgramArguments = Callable[[np.random.Generator, int], tuple[Any, ...]]
"""``(rng, size) -> arguments``, the same for the same seed; steps and shapes follow the size."""


@dataclass(frozen=True)
class Program:
    """A plain function over NumPy arrays, as people write it.

    Parameters
    ----------
    function
        It may call other functions of its module.
    arguments
        Builds the arguments, see `ProgramArguments`.
    sizes
        A small and a large one for tests. The small one is small enough for kernels that run
        unjitted; NumPy takes less than 50 ms for the large one.
    bench
        The size that is timed: NumPy takes 5 to 500 ms.
    exact
        Only operations occur whose result is one number whatever the order and the library:
        arithmetic element by element, comparisons, square roots, integers, running sums.
    """

    function: Callable[..., Any]
    arguments: ProgramArguments
    sizes: tuple[int, int]
    bench: int
    exact: bool = False

    @property
    def name(self) -> str:
        """The function's own name, unique over the corpus."""
        return self.function.__name__

    @property
    def family(self) -> str:
        """The module it is written in."""
        return self.function.__module__.rpartition(".")[2]

    def build(self, size: int, seed: int = 0) -> tuple[Any, ...]:
        """Fresh arguments; the same seed gives the same ones in every process."""
        return self.arguments(np.random.default_rng([seed, size]), size)
