"""`SharedNames`: what a function and the functions inside it hold under names that both bind."""

from __future__ import annotations

from typing import NoReturn

from fusejit.tracer.program.locations import needs_python


class SharedNames:
    """An object whose attributes are names: see `fusejit.tracer.source.shared_names`.

    To the tracer it is an object that the program has made, of a class of the program's.
    """

    __module__ = "program"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise needs_python(f"reads {name!r} before it is bound", f"give {name!r} a value before")
