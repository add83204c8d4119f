"""Memory of a kernel that is not read any more becomes that of what is computed from it.

Before and after::

    p_t0 = heap_scratch(n, f64)                p_t0 = heap_scratch(n, f64)
    ..                                         ..
    p_t3 = heap_scratch(n, f64)                p_t3 = p_t0
    for d0 in range(n):                        for d0 in range(n):
        total = total + get(p_t0, d0)              total = total + get(p_t0, d0)
        put(p_t3, d0, total)                       put(p_t0, d0, total)
    ..                                         ..
    free_scratch(p_t0)                         free_scratch(p_t0)
    free_scratch(p_t3)

Large memory is handed out page by page, which takes as long as a pass over it. Only where each
point reads, of what is given up, nothing but the element that it writes itself. The nest itself
has one name for both: LLVM does not vectorise a loop whose pointers it finds to be equal.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from functools import partial

from fusejit.codegen.analysis.chains import elements, reads_memory
from fusejit.codegen.analysis.kernel_statements import flat
from fusejit.codegen.analysis.rewriting import subexpressions, with_bodies
from fusejit.dataclass import replace
from fusejit.ir.loops.mentioned_names import memory_of, mentions
from fusejit.ir.loops.nodes import (
    For,
    Free,
    Let,
    ParallelFor,
    Pointer,
    Scratch,
    Stmt,
    StoreElement,
    Var,
)
from fusejit.ir.loops.polynomial import Polynomial

_Access = tuple[bool, Pointer, Polynomial]
"""Whether it is a store, the pointer, the offset."""


def reuse_memory(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel, with fewer pieces of memory.

    Pointers that are exchanged (`codegen.loop_passes.rotations`) stay as they are: each of them is
    given back under the name that it has then.
    """
    lets = [s for s in flat(statements) if isinstance(s, Let)]
    exchanged = {s.name for s in lets}
    exchanged |= {s.value.name for s in lets if isinstance(s.value, Var)}
    return _reused(statements, frozenset(exchanged))


def _reused(statements: Sequence[Stmt], exchanged: frozenset[str]) -> list[Stmt]:
    found = [with_bodies(s, partial(_reused, exchanged=exchanged)) for s in statements]
    made = {
        s.name: at
        for at, s in enumerate(found)
        if isinstance(s, Scratch) and not s.on_stack and s.name not in exchanged
    }
    uses = _uses(found, made.keys())
    given_up: set[str] = set()
    renamed: set[str] = set()
    for second, at in made.items():
        if not uses[second]:
            continue
        place = uses[second][0]
        read = sorted(_mentioned(found[place]) & made.keys(), key=made.__getitem__)
        for first in read:
            is_last = made[first] < at and first not in given_up and uses[first][-1] == place
            if not is_last or not _are_alike(found[made[first]], found[at]):
                continue
            if _is_in_place(found[place], first, second):
                found[at] = Let(second, Var(first))
                found[place] = _stored_to(first, second, found[place])
                given_up |= {first, second}  # the memory goes on under another name
                renamed.add(second)
                break
    return _without_free(renamed, found) if renamed else found


def _uses(statements: Sequence[Stmt], names: Set[str]) -> dict[str, list[int]]:
    """The places of the statements that mention each name, but for making it."""
    uses: dict[str, list[int]] = {name: [] for name in names}
    for at, s in enumerate(statements):
        if not isinstance(s, Scratch):
            for name in _mentioned(s) & names:
                uses[name].append(at)
    return uses


def _mentioned(s: Stmt) -> frozenset[str]:
    """The names that a statement mentions, but for giving memory back."""
    return frozenset().union(*map(mentions, _without_free(None, [s])))


def _are_alike(first: Stmt, second: Stmt) -> bool:
    """Whether two pieces of memory have one size and dtype."""
    if not isinstance(first, Scratch) or not isinstance(second, Scratch):
        return False
    return (first.size, first.dtype) == (second.size, second.dtype)


def _without_free(names: Set[str] | None, statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements without those that give memory back, that of some names or any."""
    kept = [
        s
        for s in statements
        if not isinstance(s, Free) or (names is not None and s.name not in names)
    ]
    return [with_bodies(s, lambda body: _without_free(names, body)) for s in kept]


def _is_in_place(nest: Stmt, first: str, second: str) -> bool:
    """Whether each point of a nest loads from ``first`` only what it then stores to ``second``."""
    if not isinstance(nest, For | ParallelFor):
        return False
    if isinstance(nest, ParallelFor) and (nest.of_program or nest.streamed is not None):
        return False
    accesses = _accesses([nest], ())
    if not accesses:
        return False
    *loads, (store, loops) = [a for a in accesses if memory_of(a[0][1]) in (first, second)]
    place = store[2]
    if store[:2] != (True, second) or len(loops) != 1:
        return False
    if (place - Polynomial.name(loops[0])).mentions(loops[0]):
        return False  # several points might have one element
    return all(load == ((False, first, place), loops) for load in loads)


def _stored_to(name: str, pointer: str, s: Stmt) -> Stmt:
    """A nest with its stores to ``pointer`` under another name."""
    if isinstance(s, StoreElement) and s.pointer == pointer:
        return replace(s, pointer=name)
    return with_bodies(s, lambda body: [_stored_to(name, pointer, t) for t in body], nests=True)


def _accesses(
    statements: Sequence[Stmt], loops: tuple[str, ...]
) -> list[tuple[_Access, tuple[str, ...]]] | None:
    """Loads and stores in the order of one point; None if there is anything but loops of them."""
    found: list[tuple[_Access, tuple[str, ...]]] = []
    for s in statements:
        if isinstance(s, For | ParallelFor):
            inside = (*loops, s.var) if isinstance(s, For) else loops
            inner = _accesses(s.body, inside)
            if inner is None:
                return None
            found += inner
        elif isinstance(s, Let):
            if any(map(reads_memory, subexpressions(s.value))):
                return None
            found += [((False, p, o), loops) for p, o in elements(s.value)]
        elif isinstance(s, StoreElement):
            found += [((False, p, o), loops) for p, o in elements(s.value)]
            found.append(((True, s.pointer, s.offset), loops))
        else:
            return None
    return found
