"""`Undefined`: what stands for a name that may be unbound, or has no value that can be told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from fusejit.errors import NeedsPython, UnsupportedError
from fusejit.ir.source import Location
from fusejit.tracer.program.locations import SourceSpan, is_of_program, unsupported


class Undefined:
    """A possibly unbound name; any use raises.

    ``is_unbound``: the program has not bound it either. ``span``: the conditional (or, with
    ``is_loop``, the loop) that may bind it; if Python runs that statement, the name is resolved.
    ``used``: is called first at a use, and may start the trace again.
    """

    def __init__(
        self,
        name: str,
        why: str,
        is_unbound: bool = False,
        span: SourceSpan | None = None,
        is_loop: bool = False,
        used: Callable[[], None] | None = None,
    ) -> None:
        object.__setattr__(self, "_about", (name, why, is_unbound, span, is_loop))
        object.__setattr__(self, "_used", used)

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        name, why, *_ = object.__getattribute__(self, "_about")
        error = unsupported(f"{_shown(name)} {why}", _remedy(name))
        raise Undefined._for_python(self, error)

    @staticmethod
    def refuse(undefined: Undefined) -> NoReturn:
        """Refuse a use of it by code that would not ask."""
        undefined._refuse()

    @staticmethod
    def refusal(undefined: Undefined, at: Location, text: str) -> UnsupportedError:
        """The error at a line, of which ``text`` and the value that cannot be told are said."""
        name, why, *_ = object.__getattribute__(undefined, "_about")
        error = UnsupportedError.at(at, f"{text} {_shown(name)}, which {why}", _remedy(name))
        return Undefined._for_python(undefined, error)

    @staticmethod
    def _for_python(undefined: Undefined, error: UnsupportedError) -> UnsupportedError:
        """The same error for the conditional, if it is due to one."""
        *_, span, is_loop = object.__getattribute__(undefined, "_about")
        used = object.__getattribute__(undefined, "_used")
        if used is not None:
            used()
        if span is None:
            return error
        made = error.become(NeedsPython)
        made.location, made.position = span
        made.is_loop = is_loop
        return made

    @staticmethod
    def is_unbound(obj: Any) -> bool:
        """Whether it stands for a name that the program has not bound."""
        return isinstance(obj, Undefined) and bool(object.__getattribute__(obj, "_about")[2])

    __call__ = _refuse


_BINARY = "add sub mul truediv floordiv mod pow matmul divmod and or xor lshift rshift"
_ASKED = (
    "getattr setattr delattr getitem setitem delitem contains iter next reversed len bool int "
    "float complex index round trunc floor ceil neg pos abs invert lt le gt ge eq ne hash str "
    "format enter exit"
)
for _name in (*(f"{way}{o}" for o in _BINARY.split() for way in ("", "r", "i")), *_ASKED.split()):
    setattr(Undefined, f"__{_name}__", Undefined._refuse)  # whatever is asked


def _shown(name: str) -> str:
    if not is_of_program(name):
        return "a value"
    return name if " " in name else repr(name)


def _remedy(name: str) -> str:
    if not is_of_program(name):
        return "return numbers of one type, or arrays of one shape and dtype, on every path"
    if " " in name:
        return "make both sides numbers of one type, or arrays of one shape and dtype"
    return (
        f"give {name!r} a value of the same type before: a number such as {name} = -1 or np.nan, "
        f"or an array of the same shape and dtype"
    )


UNDEFINED = Undefined("a name", "is not defined", is_unbound=True)
ABSENT = Undefined("an item", "is one of None", is_unbound=True)  # of what may be a tuple


def bound(obj: Any) -> Any:
    """What a name holds that is only handed on: something, or the trace ends."""
    if isinstance(obj, Undefined):
        obj()
    return obj
