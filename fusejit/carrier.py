"""The function that stands for a decorated one: the user's parameters, asking one launcher first.

::

    def f(x, *, scale=None):
        result = first(x, scale)
        if result.__class__ is Miss:
            return slow((x, scale), result)
        return result

``first`` is a free variable. Its cell is the one thing that changes: see `Carrier.serve_first`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any, cast

from fusejit.codegen.launch_runtime import MISS, Miss

Launch = Callable[..., Any]


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
    """

    def __init__(
        self,
        function: Callable[..., Any],
        signature: inspect.Signature,
        slow: Callable[[tuple[Any, ...], Miss], Any],
    ) -> None:
        self._first = CellType(no_variant)
        made = _compiled(function.__name__, signature, self._first, slow)
        functools.update_wrapper(made, function)
        made.__defaults__ = cast(Any, function).__defaults__
        made.__kwdefaults__ = cast(Any, function).__kwdefaults__
        self.function = made

    @property
    def first(self) -> Launch:
        """What a call asks first."""
        return cast(Launch, self._first.cell_contents)

    def serve_first(self, launch: Launch) -> None:
        """Ask ``launch`` first from now on: it takes the parameters by position."""
        self._first.cell_contents = launch


def no_variant(*args: Any) -> Miss:
    """What stands for a launcher as long as there is none."""
    return MISS


def _compiled(
    name: str, signature: inspect.Signature, first: CellType, slow: Callable[..., Any]
) -> FunctionType:
    """The function of the text above."""
    names = list(signature.parameters)
    taken = {*names}

    def fresh(name: str) -> str:
        while name in taken:
            name = f"_{name}"
        taken.add(name)
        return name

    asked, miss, slowly, result = fresh("first"), fresh("Miss"), fresh("slow"), fresh("result")
    made = fresh("carrier")
    given = ", ".join(names)
    whole = f"({given}{',' if len(names) == 1 else ''})"
    text = (
        f"def factory({asked}, {miss}, {slowly}):\n"
        f"    def {made}({', '.join(_parameters(signature))}):\n"
        f"        {result} = {asked}({given})\n"
        f"        if {result}.__class__ is {miss}:\n"
        f"            return {slowly}({whole}, {result})\n"
        f"        return {result}\n"
        f"    return {made}\n"
    )
    namespace: dict[str, Any] = {}
    exec(compile(text, f"<fusejit carrier of {name}>", "exec"), namespace)
    cells = {asked: first, miss: CellType(Miss), slowly: CellType(slow)}
    code = namespace["factory"](None, None, None).__code__.replace(co_name=name, co_qualname=name)
    closure = tuple(cells[free] for free in code.co_freevars)
    return FunctionType(code, {}, name, None, closure)


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
