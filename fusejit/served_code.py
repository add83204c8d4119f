"""`ServedCode`: the code that an entry stub was given by us, and whether somebody gave it another.

Whoever edits a module while it is in use (IPython's ``%autoreload``), or patches a function,
assigns ``old.__code__ = new.__code__``. Both may be entry stubs: then the old one asks its own
launchers with the new one's parameters. So what checks that a function is the one that was compiled
compares the code of its entry stub as well. We exchange that code ourselves; the tables of native
code, in which it stands, are told.

The code of an entry stub has that of the user's function as its last constant, so that what was
assigned can be read off it, even when the other entry stub is no more.
"""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable
from types import CellType, CodeType, FunctionType
from typing import Any, cast

_MARK = "fusejit: what this stands for"
_MOST = 3  # entry stubs of one function that are looked at: the newest ones

_OF_FUNCTION: weakref.WeakKeyDictionary[FunctionType, list[weakref.ref[ServedCode]]]
_OF_FUNCTION = weakref.WeakKeyDictionary()
_OF_ENTRY_STUB: weakref.WeakKeyDictionary[FunctionType, weakref.ref[ServedCode]]
_OF_ENTRY_STUB = weakref.WeakKeyDictionary()


def standing_for(code: CodeType, of_user: CodeType) -> CodeType:
    """The code of an entry stub, with that of the user's function."""
    return code.replace(co_consts=(*code.co_consts, (_MARK, of_user)))


def code_of_user(code: CodeType) -> CodeType | None:
    """What the code of an entry stub stands for; None for other code."""
    last: Any = code.co_consts[-1] if code.co_consts else None
    is_ours = type(last) is tuple and len(last) == 2 and last[0] == _MARK
    return cast(CodeType, last[1]) if is_ours else None


class ServedCode:
    """What an entry stub runs.

    Parameters
    ----------
    entry_stub : FunctionType
        The function that users call.
    function : FunctionType
        The user's.
    adopt : callable
        Makes the user's function what was assigned to the entry stub.

    Attributes
    ----------
    code : CodeType
        The code that we gave it last.
    """

    def __init__(
        self, entry_stub: FunctionType, function: FunctionType, adopt: Callable[[], None]
    ) -> None:
        self.entry_stub, self.function, self.adopt = entry_stub, function, adopt
        self.code = entry_stub.__code__
        self._tables: list[tuple[weakref.ref[bytearray], int]] = []
        known = [ref for ref in _OF_FUNCTION.get(function, ()) if ref() is not None]
        _OF_FUNCTION[function] = [*known, weakref.ref(self)]
        _OF_ENTRY_STUB[entry_stub] = weakref.ref(self)

    @property
    def is_replaced(self) -> bool:
        """Whether somebody has assigned other code."""
        return self.entry_stub.__code__ is not self.code

    def give(self, code: CodeType) -> None:
        """Have the entry stub run something."""
        self.code, tables = code, self._tables
        for ref, place in tables:
            table = ref()
            if table is not None:
                struct.pack_into("Q", table, place, id(code))
        self.entry_stub.__code__ = code

    def tell(self, table: bytearray, place: int) -> None:
        """Keep the word of a table at a byte what the code is to be compared with."""
        struct.pack_into("Q", table, place, id(self.code))
        known = [entry for entry in self._tables if entry[0]() is not None]
        self._tables = [*known, (weakref.ref(table), place)]


def is_of_function(cell: CellType, function: FunctionType) -> bool:
    """Whether a cell holds what tells the user's function in an attribute ``function``."""
    try:
        return getattr(cell.cell_contents, "function", None) is function
    except ValueError:  # it is empty
        return False


def served_for(function: FunctionType) -> tuple[ServedCode, ...]:
    """Those of the entry stubs of a user's function, the newest ones."""
    alive = [ref() for ref in _OF_FUNCTION.get(function, ())]
    return tuple(served for served in alive if served is not None)[-_MOST:]


def served_by(entry_stub: Any) -> ServedCode | None:
    """That of an entry stub; None for other functions."""
    ref = _OF_ENTRY_STUB.get(entry_stub) if type(entry_stub) is FunctionType else None
    return None if ref is None else ref()
