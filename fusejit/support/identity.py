"""What a function consists of and anybody may replace: its code and its default values.

Whoever edits a module while it is in use (IPython's ``%autoreload``), or patches a function,
assigns ``old.__code__ = new.__code__``. Both may be entry stubs: then the old one asks its own
launchers with the new one's parameters. So what checks that a function is the one that was compiled
compares the code of its entry stub as well. We exchange that code ourselves; the tables of native
code, in which it stands, are told.

The code of an entry stub has that of the user's function as its last constant, so that what was
assigned can be read off it, even when the other entry stub is no more.
"""

from __future__ import annotations

import inspect
import operator
import struct
import weakref
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, cast

_MARK = "fusejit: what this stands for"
_LAUNCHES = "and launches"
_MOST = 3  # entry stubs of one function that are looked at: the newest ones

_OF_FUNCTION: weakref.WeakKeyDictionary[FunctionType, list[weakref.ref[ServedCode]]]
_OF_FUNCTION = weakref.WeakKeyDictionary()


def own_signature(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that a function has, whatever it says of itself.

    A decorator may give ``__signature__`` to its wrapper, as it gives ``__wrapped__``: both are for
    readers, and Python passes arguments by the code.

    >>> def wrapper(*args): ...
    >>> wrapper.__signature__ = inspect.Signature()
    >>> own_signature(wrapper)
    <Signature (*args)>
    """
    if not isinstance(function, FunctionType):
        return inspect.signature(function, follow_wrapped=False)
    code, defaults = function.__code__, function.__defaults__
    bare = FunctionType(code, {}, function.__name__, defaults, function.__closure__)
    bare.__kwdefaults__ = function.__kwdefaults__
    return inspect.signature(bare)


def parts_of(function: FunctionType) -> tuple[Any, ...]:
    """What a function consists of and anybody may replace."""
    return function.__code__, function.__defaults__, function.__kwdefaults__


class FunctionIdentity:
    """The code and the default values of a function, its ``parts``, as they were at one moment.

    What has replaced the code of its entry stubs counts as well.
    """

    def __init__(self, function: FunctionType) -> None:
        self._function = function
        self.parts = parts_of(function)
        self.served = served_for(function) if type(function) is FunctionType else ()

    def holds(self) -> bool:
        """Whether the function has still the same ones."""
        return all(map(operator.is_, parts_of(self._function), self.parts)) and not any(
            served.is_replaced for served in self.served
        )

    def given(
        self, signature: inspect.Signature, args: tuple[Any, ...]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Leave out the arguments of a call that are the function's present default values.

        ``args`` are in the order of the parameters, default values filled in.
        """
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        by_keyword = False  # after an argument that was left out
        for parameter, value in zip(signature.parameters.values(), args, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                keywords |= value
            elif value is parameter.default:
                by_keyword = True
            elif parameter.kind is parameter.KEYWORD_ONLY or by_keyword:
                keywords[parameter.name] = value
            else:
                positional.append(value)
        return positional, keywords


# -- what an entry stub runs ---------------------------------------------------------------------
def standing_for(code: CodeType, of_user: CodeType, *, is_body: bool) -> CodeType:
    """The code of an entry stub, with that of the user's function.

    ``is_body`` says whether it has the user's statements; else its frames are fusejit's own.
    """
    mark = (_MARK, of_user) if is_body else (_MARK, of_user, _LAUNCHES)
    return code.replace(co_consts=(*code.co_consts, mark))


def is_entry_code(code: CodeType) -> bool:
    """Whether it is the code of an entry stub without the user's statements."""
    last: Any = code.co_consts[-1] if code.co_consts else None
    return type(last) is tuple and len(last) == 3 and last[0] == _MARK


def code_of_user(code: CodeType) -> CodeType | None:
    """What the code of an entry stub stands for; None for other code."""
    last: Any = code.co_consts[-1] if code.co_consts else None
    is_ours = type(last) is tuple and len(last) in (2, 3) and last[0] == _MARK
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
    is_instrumented : bool
        Whether a profiler has put its own instructions after the end of that code, by which it
        finds the function's calls: the entry stub keeps it.
    """

    def __init__(
        self, entry_stub: FunctionType, function: FunctionType, adopt: Callable[[], None]
    ) -> None:
        self.entry_stub, self.function, self.adopt = entry_stub, function, adopt
        self.code = entry_stub.__code__
        self.is_instrumented = False
        self._tables: list[tuple[weakref.ref[bytearray], int]] = []
        known = [ref for ref in _OF_FUNCTION.get(function, ()) if ref() is not None]
        _OF_FUNCTION[function] = [*known, weakref.ref(self)]

    @property
    def is_replaced(self) -> bool:
        """Whether somebody has assigned other code."""
        code = self.entry_stub.__code__
        if code is not self.code and _is_lengthened(code, self.code):
            self.give(code)
            self.is_instrumented = True
        return code is not self.code

    def give(self, code: CodeType) -> None:
        """Have the entry stub run something."""
        self.code, self.is_instrumented, tables = code, False, self._tables
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


def _is_lengthened(code: CodeType, of: CodeType) -> bool:
    """Whether code differs from other code only by instructions after its end."""
    is_longer = len(code.co_code) > len(of.co_code) and code.co_code.startswith(of.co_code)
    return is_longer and code.replace(co_code=of.co_code) == of


def served_for(function: FunctionType) -> tuple[ServedCode, ...]:
    """Those of the entry stubs of a user's function, the newest ones."""
    alive = [ref() for ref in _OF_FUNCTION.get(function, ())]
    return tuple(served for served in alive if served is not None)[-_MOST:]


def served_by(function: Any) -> ServedCode | None:
    """What a function's calls go to, if it is an entry stub; None for other functions.

    That tells its code and its cells, which IPython assigns as well.
    """
    if type(function) is not FunctionType or code_of_user(function.__code__) is None:
        return None
    place = place_of_served(function)
    if place is None:
        return None
    return cast(ServedCode, cast(Any, function.__closure__)[place].cell_contents.served)


def place_of_served(entry_stub: FunctionType) -> int | None:
    """Which cell of an entry stub holds an object with its `ServedCode`."""
    for place, cell in enumerate(entry_stub.__closure__ or ()):
        try:
            held = cell.cell_contents
        except ValueError:  # it is empty
            continue
        if isinstance(held, HoldsServed) and held.served is not None:
            return place
    return None


class HoldsServed:
    """What a cell of an entry stub's holds is of this class."""

    __slots__ = ()

    @property
    def served(self) -> ServedCode | None:
        """Of the entry stub to which the cell belongs."""
        raise NotImplementedError
