"""Every function of the copied modules, replaced by one whose calls are judged.

An import hook looks at each module of the judged packages when it has run: its functions, those
behind NumPy's dispatchers, and the methods and properties of its classes.
What stands in a module afterwards is a *entry_stub* of ours: fusejit sees a decorated function in
it and traces the undecorated one, as where users decorate functions that call each other.
"""

from __future__ import annotations

import functools
import gc
import importlib.abc
import importlib.machinery
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, cast

from fusejit import fuse_jit
from fusejit.tracer.source.entry_stubs import mark_entry_stub
from fusejit_testing.libraries.counters import Counters

Judge = Callable[["Entry", tuple[Any, ...], dict[str, Any]], Any]

_OF_ATTRIBUTES = frozenset({"__getattribute__", "__getattr__", "__setattr__", "__delattr__"})
# of an object that is half gone, and of an array that is half made
_NEVER = _OF_ATTRIBUTES | {"__del__", "__array_finalize__"}
_NO_FUNCTIONS = (
    inspect.iscoroutinefunction,
    inspect.isasyncgenfunction,
    inspect.isgeneratorfunction,
)

_DEEPEST_TABLE = 3

_ENTRY_STUB = "def entry_stub(*args, **kwargs):\n    return judge(entry, args, kwargs)\n"


@dataclass(slots=True, eq=False)
class Entry:
    """A decorated function.

    Attributes
    ----------
    name : str
        Module and qualified name.
    function : FunctionType
        As the library has it.
    fused : callable
        As fusejit runs it.
    """

    name: str
    function: FunctionType
    fused: Callable[..., Any]
    entry_stub: Callable[..., Any] | None = field(default=None, repr=False)


class Decorated:
    """The functions of the judged packages.

    Parameters
    ----------
    packages : sequence of str
        Names of packages, as they are imported.
    root : Path
        The folder of the copies: no function from elsewhere is decorated.
    judge : callable
        Gets an entry and the arguments of each call.
    """

    def __init__(self, packages: Sequence[str], root: Path, judge: Judge) -> None:
        self.packages = tuple(packages)
        self.root = str(root.resolve())
        self.judge = judge
        self.entries: dict[FunctionType, Entry] = {}

    def is_judged(self, module: str) -> bool:
        """Whether the functions of a module are decorated: tests are not."""
        inside = any(module == p or module.startswith(f"{p}.") for p in self.packages)
        return inside and not {"tests", "conftest", "testutils"} & set(module.split("."))

    def decorate_module(self, module: ModuleType) -> None:
        """Replace the functions in the namespace of a module and in its classes."""
        for name, value in [*vars(module).items()]:
            made = self.replaced(value)
            if made is not value:
                setattr(module, name, made)
            elif isinstance(value, type) and value.__module__ == module.__name__:
                self._decorate_class(value)
            elif not name.startswith("__"):
                self._held(value, 0)

    def _held(self, value: Any, depth: int) -> Any:
        """What stands for a value in a table: SciPy compares what it finds there with its names."""
        if isinstance(value, FunctionType):
            return self.replaced(value)
        if depth == _DEEPEST_TABLE or type(value) not in (dict, list, tuple):
            return value
        pairs = [*value.items()] if type(value) is dict else [*enumerate(value)]
        changed = {}
        for key, item in pairs:
            made = self._held(item, depth + 1)
            if made is not item:
                changed[key] = made
        if type(value) is tuple:
            return tuple(changed.get(k, item) for k, item in pairs) if changed else value
        for key, made in changed.items():
            value[key] = made
        return value

    def note_in_tables(self) -> None:
        """Give entry stubs the entries of their functions in all dictionaries keyed by functions.

        Libraries register their own functions there, before they are replaced: SciPy's tests ask
        such a table what a function is capable of.
        """
        for table in gc.get_objects():
            if type(table) is not dict or table is self.entries or not table:
                continue
            if isinstance(next(iter(table)), FunctionType):
                for function in [key for key in table if isinstance(key, FunctionType)]:
                    if function in self.entries:
                        table[self.entries[function].entry_stub] = table[function]

    def replaced(self, value: Any) -> Any:
        """The entry stub of a function, or the value itself."""
        if type(value).__name__ == "_ArrayFunctionDispatcher":
            value_of = getattr(value, "_implementation", None)
            return value if value_of is None else self._entry_stub(value_of, value)
        return self._entry_stub(value, value)

    def _entry_stub(self, function: Any, otherwise: Any) -> Any:
        if not isinstance(function, FunctionType) or not self._is_own(function):
            return otherwise
        known = self.entries.get(function)
        if known is None:
            known = self._entered(function)
        return known.entry_stub

    def _is_own(self, function: FunctionType) -> bool:
        if hasattr(function, "__fusejit_state__") or function.__name__ in _NEVER:
            return False
        if not self.is_judged(function.__module__ or ""):
            return False
        if any(test(function) for test in _NO_FUNCTIONS):
            return False
        file = function.__code__.co_filename
        if file.startswith("<"):  # generated text, as the methods of a dataclass
            return True
        return str(Path(file).resolve()).startswith(self.root)

    def _entered(self, function: FunctionType) -> Entry:
        fused: Any = fuse_jit(function)
        entry = Entry(f"{function.__module__}:{function.__qualname__}", function, fused)
        namespace: dict[str, Any] = {"judge": self.judge, "entry": entry}
        exec(compile(_ENTRY_STUB, f"<fusejit entry stub of {entry.name}>", "exec"), namespace)
        entry.entry_stub = functools.wraps(function)(namespace["entry_stub"])
        mark_entry_stub(namespace["entry_stub"])
        cast(Any, entry.entry_stub).__fusejit_state__ = fused.__fusejit_state__
        self.entries[function] = entry
        return entry

    def _decorate_class(self, cls: type) -> None:
        Counters.watch(cls)
        for name, value in [*vars(cls).items()]:
            made = self._method(name, value)
            if made is not value:
                try:
                    type.__setattr__(cls, name, made)
                except (AttributeError, TypeError):  # a class that does not let itself be changed
                    continue
        for inner in [*vars(cls).values()]:
            if isinstance(inner, type) and inner.__qualname__.startswith(f"{cls.__qualname__}."):
                self._decorate_class(inner)

    def _method(self, name: str, value: Any) -> Any:
        if isinstance(value, staticmethod | classmethod):
            made = self.replaced(value.__func__)
            return value if made is value.__func__ else type(value)(made)
        if type(value) is property:
            get, put, delete = map(self.replaced, (value.fget, value.fset, value.fdel))
            if (get, put, delete) == (value.fget, value.fset, value.fdel):
                return value
            return property(get, put, delete, value.__doc__)
        made = self.replaced(value)
        return staticmethod(made) if name == "__new__" and made is not value else made


class DecoratingFinder(importlib.abc.MetaPathFinder):
    """Finds modules as Python does; those of the judged packages are decorated when they ran."""

    def __init__(self, decorated: Decorated) -> None:
        self.decorated = decorated

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The module's spec with a loader that decorates; None for all other modules."""
        if not self.decorated.is_judged(fullname):
            if "tests" in fullname.split("."):
                self.decorated.note_in_tables()
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _DecoratingLoader(spec.loader.name, spec.loader.path, self.decorated)
        return spec


class _DecoratingLoader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, decorated: Decorated) -> None:
        super().__init__(name, path)
        self.decorated = decorated

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        self.decorated.decorate_module(module)


def install(decorated: Decorated) -> None:
    """Decorate what is imported from now on."""
    sys.meta_path.insert(0, DecoratingFinder(decorated))
