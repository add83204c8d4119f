"""Lists that the program may reach in two ways, while a trace has two copies of them.

``rows.append(row)`` puts a copy of ``row`` into the memory of ``rows``: the list itself is *given*
away, and must not be used under its old name. ``best = cur`` makes a copy, too, and both lists are
*frozen*: they may be read, but not be asked whether they are one object, nor both be returned. Both
end where the name gets another list, in most programs at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fusejit.ir.affine import AffineExpr
from fusejit.tracer.builder.trace import Trace
from fusejit.tracer.lists.item_forms import IDENTITIES
from fusejit.tracer.program.fallback import Retrace


class ContainersByKey(dict[tuple[Any, ...], Any]):
    """The lists, dictionaries and sets of one trace."""


class AliasSets(NamedTuple):
    """The keys of lists that are given away, and of those that are frozen, at one place."""

    given: frozenset[Any] = frozenset()
    frozen: frozenset[Any] = frozenset()

    def without(self, one: Any) -> AliasSets:
        """The sets after ``one`` has become another list."""
        return AliasSets(self.given - {one.key}, self.frozen - {one.key})

    def joined(self, other: AliasSets) -> AliasSets:
        """The sets after either of two branches."""
        return AliasSets(self.given | other.given, self.frozen | other.frozen)


class Aliases:
    """The sets where one trace is now."""

    def __init__(self) -> None:
        self.now = AliasSets()

    def give(self, one: Any) -> None:
        """Note that a list has been put into another one."""
        self.now = self.now._replace(given=self.now.given | {one.key})

    def freeze(self, *lists: Any) -> None:
        """Note that lists may be one object."""
        self.now = self.now._replace(frozen=self.now.frozen.union(one.key for one in lists))

    def may_be_another(self, one: Any) -> bool:
        """Whether a list may be the same object as another one."""
        return one.key in self.now.frozen

    def renew(self, one: Any) -> None:
        """Note that the memory of a list now stands for another one."""
        self.now = self.now.without(one)


class SharedPool:
    """The key under which the lists of a pool are frozen, if lists of another pool may be the same.

    See `fusejit.tracer.lists.aliases`.
    """

    def __init__(self, pool: Any) -> None:
        self.key = (pool.key, "shared")
        self.home = pool.home
        pool.trace.owned(ContainersByKey)[self.key] = self


def is_shared_pool(pool: Any) -> bool:
    """Whether lists of a pool may be in another list, too."""
    shared = getattr(pool, "shared", None)
    return shared is not None and pool.trace.owned(Aliases).may_be_another(shared)


def share_pools(pool: Any, other: Any) -> None:
    """Note that lists of two pools are the same; each has an identity, which a result shows."""
    if IDENTITIES not in pool.trace.table:
        pool.trace.table[IDENTITIES] = True
        raise Retrace
    pool.trace.owned(Aliases).freeze(pool.shared, other.shared)


class ListIdentities:
    """How many lists a call has put into lists, if some may stand in several places."""

    def __init__(self) -> None:
        self.given: Any = None  # a list without items, as long as there are such lists

    def new(self, trace: Trace) -> AffineExpr:
        """The identity of another list."""
        number: AffineExpr = self.given.length()
        self.given.set_length(number + 1)
        return number
