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

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from fusejit.codegen.chains import elements, memory_of, mentions
from fusejit.codegen.kernel_statements import flat
from fusejit.codegen.merged_nests import with_bodies
from fusejit.ir.loops import For, Free, Let, ParallelFor, Scratch, Stmt, StoreElement, Var
from fusejit.ir.polynomial import Polynomial

_Access = tuple[bool, str, Polynomial]
"""Whether it is a store, the pointer, the offset."""


def reuse_memory(statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements of a kernel, with fewer pieces of memory.

    Pointers that are exchanged (`fusejit.codegen.rotations`) stay as they are: each of them is
    given back under the name that it has then.
    """
    lets = [s for s in flat(statements) if isinstance(s, Let)]
    exchanged = {s.name for s in lets}
    exchanged |= {s.value.name for s in lets if isinstance(s.value, Var)}
    return _reused(statements, frozenset(exchanged))


def _reused(statements: Sequence[Stmt], exchanged: frozenset[str]) -> list[Stmt]:
    found = [with_bodies(s, partial(_reused, exchanged=exchanged)) for s in statements]
    made = [s for s in found if isinstance(s, Scratch) and not s.on_stack]
    made = [s for s in made if s.name not in exchanged]
    given_up: set[str] = set()
    names = _Names()
    for at, second in enumerate(made):
        for first in made[:at]:
            nest = None if first.name in given_up else _first_use(first, second, found, names)
            if nest is None:
                continue
            new: dict[int, Stmt] = {id(second): Let(second.name, Var(first.name))}
            new[id(nest)] = _stored_to(first.name, second.name, nest)
            found = _without_free(second.name, [new.get(id(s), s) for s in found])
            given_up |= {first.name, second.name}  # the memory goes on under another name
            break
    return found


class _Names:
    """What statements mention, but for giving memory back; each is looked through once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Stmt, frozenset[str]]] = {}  # keeps them: ids stay valid

    def of(self, s: Stmt) -> frozenset[str]:
        """The names that a statement mentions."""
        if id(s) not in self._known:
            left = _without_free(None, [s])
            self._known[id(s)] = (s, frozenset().union(*map(mentions, left)))
        return self._known[id(s)][1]


def _first_use(
    first: Scratch, second: Scratch, statements: Sequence[Stmt], names: _Names
) -> Stmt | None:
    """The nest that fills ``second``, if that may be the memory of ``first``, read there last."""
    if (first.size, first.dtype) != (second.size, second.dtype):
        return None
    uses: dict[str, list[int]] = {first.name: [], second.name: []}
    for at, s in enumerate(statements):
        if isinstance(s, Scratch):
            continue
        for name, places in uses.items():
            if name in names.of(s):
                places.append(at)
    before, behind = uses[first.name], uses[second.name]
    if not before or not behind or before[-1] != behind[0]:
        return None
    nest = statements[behind[0]]
    return nest if _is_in_place(nest, first.name, second.name) else None


def _without_free(name: str | None, statements: Sequence[Stmt]) -> list[Stmt]:
    """The statements without those that give memory back, that of one name or any."""
    kept = [s for s in statements if not isinstance(s, Free) or name not in (None, s.name)]
    return [with_bodies(s, lambda body: _without_free(name, body)) for s in kept]


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
    if isinstance(s, For | ParallelFor):
        return replace(s, body=[_stored_to(name, pointer, inner) for inner in s.body])
    if isinstance(s, StoreElement) and s.pointer == pointer:
        return replace(s, pointer=name)
    return s


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
            found += [((False, p, o), loops) for p, o in elements(s.value)]
        elif isinstance(s, StoreElement):
            found += [((False, p, o), loops) for p, o in elements(s.value)]
            found.append(((True, s.pointer, s.offset), loops))
        else:
            return None
    return found
