"""Which axes a reshape splits or merges, as MLIR's ``expand_shape`` and ``collapse_shape`` say it.

    expand [[0], [1, 2]]      (s0, s1) -> (s0, s2, s3)   axis 1 is split into axes 1 and 2
    collapse [[0], [1, 2]]    (s0, s2, s3) -> (s0, s1)   axes 1 and 2 are merged into axis 1

The elements keep their row-major order: an index of the merged axis is ``i * s3 + j``. A reshape
that does neither, ``(4, 6) -> (3, 8)``, is a collapse and then an expansion.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from fusejit.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Reassociation:
    """Groups of neighbouring axes of the side with more axes, one group per axis of the other.

    >>> split = Reassociation(((0,), (1, 2)), expands=True)
    >>> print(split, split.source_rank, split.result_rank)
    expand [[0], [1, 2]] 2 3
    >>> print(split.inverse())
    collapse [[0], [1, 2]]
    """

    groups: tuple[tuple[int, ...], ...]
    expands: bool

    @staticmethod
    def of_lengths(lengths: Sequence[int], expands: bool) -> Reassociation:
        """Groups of the given lengths: ``[1, 2]`` gives ``[[0], [1, 2]]``."""
        starts = [sum(lengths[:k]) for k in range(len(lengths))]
        groups = (tuple(range(s, s + n)) for s, n in zip(starts, lengths, strict=True))
        return Reassociation(tuple(groups), expands)

    @property
    def num_fine(self) -> int:
        """The number of axes of the side with more of them."""
        return sum(map(len, self.groups))

    @property
    def source_rank(self) -> int:
        """The rank of what is reshaped."""
        return len(self.groups) if self.expands else self.num_fine

    @property
    def result_rank(self) -> int:
        """The rank of the result."""
        return self.num_fine if self.expands else len(self.groups)

    @property
    def is_well_formed(self) -> bool:
        """Whether the groups are not empty and count the axes from the first to the last."""
        listed = list(chain.from_iterable(self.groups))
        return listed == list(range(len(listed))) and all(self.groups)

    def inverse(self) -> Reassociation:
        """The reshape back."""
        return Reassociation(self.groups, not self.expands)

    def order(self, order: tuple[int, ...] | None) -> tuple[int, ...] | None:
        """The axis order of the result in memory, for a source that lies in ``order``."""
        if order is None:
            return None
        if self.expands:
            return tuple(chain.from_iterable(self.groups[axis] for axis in order))
        coarse = {axis: at for at, group in enumerate(self.groups) for axis in group}
        return tuple(dict.fromkeys(coarse[axis] for axis in order))

    def __str__(self) -> str:
        word = "expand" if self.expands else "collapse"
        groups = ", ".join(f"[{', '.join(map(str, g))}]" for g in self.groups)
        return f"{word} [{groups}]"
