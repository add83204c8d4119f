"""The function that stands for a decorated one: the user's parameters, asking one launcher first.

::

    def f(x, *, scale=None):
        try:
            result = first(x, scale)
        except Exception as error:
            result = rescued(error)
            if result is None:
                raise
        if result.__class__ is Miss:
            return slow((x, scale), result)
        return result

``first`` is a free variable. Its cell is the one thing that changes: see `Carrier.serve_first`. A
``try`` costs nothing as long as nothing is raised.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any, cast

from fusejit.codegen.launch_runtime import MISS, Miss

Launch = Callable[..., Any]

_TEXT = """
def factory({free}):
    def {carrier}({parameters}):
        try:
            {result} = {first}({arguments})
        except {Exception} as {error}:
            {result} = {rescued}({error})
            if {result} is None:
                raise
        if {result}.__class__ is {Miss}:
            return {slow}({all}, {result})
        return {result}
    return {carrier}
"""
_MISS_TYPE = CellType(Miss)
_EXCEPTION = CellType(Exception)


class Carrier:
    """The plain function that users call, and the cell of what it asks first.

    Parameters
    ----------
    function : callable
        The decorated function.
    signature : inspect.Signature
        Its own: not that of what it wraps.
    slow : callable
        Serves what the first launcher does not: given all arguments in order, and the `Miss`.
    rescued : callable
        Given an exception, a `Miss` if it is a fault of a launcher and NumPy can run the call.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        slow: Callable[[tuple[Any, ...], Miss], Any],
        rescued: Callable[[Exception], Miss | None],
    ) -> None:
        self._first = CellType(no_variant)
        free = {"first": self._first, "slow": CellType(slow), "rescued": CellType(rescued)}
        self._free = free
        made = _compiled(function.__name__, signature, free)
        functools.update_wrapper(made, function)
        made.__defaults__ = cast(Any, function).__defaults__
        made.__kwdefaults__ = cast(Any, function).__kwdefaults__
        self.function = made

    def __reduce__(self) -> tuple[Any, ...]:
        cells = self.function.__closure__ or ()
        places = {
            name: next(k for k, other in enumerate(cells) if other is cell)
            for name, cell in self._free.items()
        }
        return _found_again, (self.function, places)

    def renew(self, function: Callable[..., Any], signature: inspect.Signature) -> None:
        """Take on the parameters and default values of the function as it is now."""
        self.serve_first(no_variant)
        made = _compiled(function.__name__, signature, self._free)
        pairs = zip(made.__closure__ or (), self.function.__closure__ or (), strict=True)
        if all(new is old for new, old in pairs):  # not if parameters have names of ours
            self.function.__code__ = made.__code__
        self.function.__defaults__ = cast(Any, function).__defaults__
        self.function.__kwdefaults__ = cast(Any, function).__kwdefaults__

    @property
    def first(self) -> Launch:
        """What a call asks first."""
        return cast(Launch, self._first.cell_contents)

    def serve_first(self, launch: Launch) -> None:
        """Ask ``launch`` first from now on: it takes the parameters by position."""
        self._first.cell_contents = launch


def _found_again(function: FunctionType, places: dict[str, int]) -> Carrier:
    """The carrier of a function that was pickled by value, with its cells."""
    made = Carrier.__new__(Carrier)
    made.function = function
    assert function.__closure__ is not None
    made._free = {name: function.__closure__[place] for name, place in places.items()}
    made._first = made._free["first"]
    return made


def no_variant(*args: Any) -> Miss:
    """What stands for a launcher as long as there is none."""
    return MISS


def _compiled(name: str, signature: inspect.Signature, free: dict[str, CellType]) -> FunctionType:
    """The function of the text above, whose free names have these cells."""
    free = {**free, "Miss": _MISS_TYPE, "Exception": _EXCEPTION}
    taken = {*signature.parameters}
    spelled: dict[str, str] = {}
    for wanted in (*free, "carrier", "result", "error"):
        spelled[wanted] = wanted
        while spelled[wanted] in taken:  # a parameter of the user's has that name
            spelled[wanted] = f"_{spelled[wanted]}"
        taken.add(spelled[wanted])
    arguments = ", ".join(signature.parameters)
    text = _TEXT.format(
        free=", ".join(spelled[wanted] for wanted in free),
        parameters=", ".join(_parameters(signature)),
        arguments=arguments,
        all=f"({arguments}{',' if len(signature.parameters) == 1 else ''})",
        **spelled,
    )
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<fusejit carrier of {name}>", "exec"), namespace)
    code = namespace["factory"](*free).__code__.replace(co_name=name, co_qualname=name)
    cells = {spelled[wanted]: cell for wanted, cell in free.items()}
    return FunctionType(code, {}, name, None, tuple(cells[name] for name in code.co_freevars))


def _parameters(signature: inspect.Signature) -> Iterator[str]:
    """The parameters as text; defaults are set afterwards."""
    previous = None
    for name, parameter in signature.parameters.items():
        kind = parameter.kind
        if previous is inspect.Parameter.POSITIONAL_ONLY and kind is not previous:
            yield "/"
        if kind is inspect.Parameter.KEYWORD_ONLY and previous not in (
            inspect.Parameter.VAR_POSITIONAL,
            inspect.Parameter.KEYWORD_ONLY,
        ):
            yield "*"
        stars = "*" if kind is inspect.Parameter.VAR_POSITIONAL else ""
        stars = "**" if kind is inspect.Parameter.VAR_KEYWORD else stars
        default = "" if parameter.default is inspect.Parameter.empty else "=None"
        yield f"{stars}{name}{default}"
        previous = kind
    if previous is inspect.Parameter.POSITIONAL_ONLY:
        yield "/"
