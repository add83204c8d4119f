"""The object behind ``_st``: the callbacks of one traced function within one trace."""

from __future__ import annotations

import builtins
import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from fusejit.errors import FusejitError
from fusejit.ir.host import Path
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.capture.asked_methods import AskedMethods
from fusejit.tracer.capture.attribute_access import AttributeAccess
from fusejit.tracer.capture.container_primitives import ContainerPrimitives
from fusejit.tracer.capture.patterns import pattern_value, subject
from fusejit.tracer.capture.recursion_primitives import Invoke, RecursionPrimitives
from fusejit.tracer.capture.slots import Slot
from fusejit.tracer.carried.regions import RegionNames
from fusejit.tracer.flow.conditions import (
    and_,
    and_value,
    asserted,
    chain,
    choose,
    none_of,
    not_,
    or_,
    or_value,
    stop_flag,
)
from fusejit.tracer.flow.filled_arrays import numbered
from fusejit.tracer.flow.membership import compared_tuples, contained, is_tuple_or_none
from fusejit.tracer.flow.raises import caught_inside, raises, trying
from fusejit.tracer.flow.same_objects import has_traced, same_object
from fusejit.tracer.flow.taken_apart import Parts
from fusejit.tracer.flow.traced_for import TracedFor
from fusejit.tracer.flow.traced_if import TracedIf
from fusejit.tracer.flow.traced_while import TracedWhile
from fusejit.tracer.lists.comparisons import require_numbers
from fusejit.tracer.lists.displays import needs_kernel_keys
from fusejit.tracer.ops.union_types import narrowed
from fusejit.tracer.program.callables import is_library_module, is_library_object, is_library_source
from fusejit.tracer.program.captures import CaptureRegistry, closure_path, global_path
from fusejit.tracer.program.fallback import Fallback, Retrace
from fusejit.tracer.program.locations import needs_python
from fusejit.tracer.program.native_control import NativeIf, NativeLoop
from fusejit.tracer.rewriting.generated_items import Generated, Listed, few_steps, never_changes
from fusejit.tracer.rewriting.generators import python_is_faster
from fusejit.tracer.strings.joined_text import f_string
from fusejit.tracer.values.containers import is_tuple
from fusejit.tracer.values.pooled_objects import pooled
from fusejit.tracer.values.undefined import bound


class FunctionPrimitives:
    """Hooks of one function; the rewritten code calls the methods (see `rewrite`).

    Parameters
    ----------
    function : FunctionType
        The user's function.
    path : Path or None
        Where each call finds the function; None for the traced function itself and for functions
        that were reached in a way that cannot be followed.
    entry : FunctionType
        The traced function: its globals and cells have the short paths ``global:x``, ``closure:w``.
    """

    slice = staticmethod(slice)

    def __init__(
        self,
        function: FunctionType,
        path: Path | None,
        entry: FunctionType,
        captures: CaptureRegistry,
        access: AttributeAccess,
        invoke: Invoke,
        exact: Callable[[Any], Any],
        asked: AskedMethods,
    ) -> None:
        self._function = function
        self._captures = captures
        self._access = access
        self._invoke = invoke
        self._path = path
        self._entry = entry
        self.definitely_assigned: frozenset[str] = (
            frozenset()
        )  # see `fusejit.tracer.source.definite_assignment`
        self._globals: dict[str, Any] = {}
        self._closure: dict[str, Any] = {}
        self.attr = access.attr
        self.item = access.item
        self._operators = operators = asked.operators
        self._asked = asked
        self.binary, self.unary = operators.binary, operators.unary
        self.unpacked = asked.unpacked
        self.formatted = exact
        self.text = functools.partial(f_string, exact, invoke)
        self.same_object = functools.partial(same_object, captures)
        self.subject = functools.partial(subject, captures)
        for part in (
            ContainerPrimitives(self._key, access, asked, invoke),
            RecursionPrimitives(function, captures, access, invoke),
        ):
            callbacks = (name for name in dir(part) if not name.startswith("_"))
            self.__dict__.update((name, getattr(part, name)) for name in callbacks)

    # -------------------------------------------------------------------------------------- names
    def load_global(self, name: str) -> Any:
        """A global or builtin name."""
        if name in self._globals:
            return self._globals[name]
        namespace = self._function.__globals__
        path = global_path(self._function, self._path, self._entry, name)
        if name in namespace:
            value = self._read(path, namespace[name], f"global {name}")
            if path is None and is_library_source(self._function):
                self._captures.read_library(namespace, name, value)
        else:
            if path is not None:
                self._captures.absent(path)
            known = namespace.get("__builtins__", builtins)
            table = known if isinstance(known, dict) else vars(known)
            if (value := table.get(name, self)) is self:
                raise NameError(f"name {name!r} is not defined", name=name)
            self._captures.read_library(table, name, value)
        self._globals[name] = value
        return value

    def load_closure(self, name: str, value: Any) -> Any:
        """A free variable; ``value`` is what its cell holds now."""
        if name not in self._closure:
            path = closure_path(self._function, self._path, self._entry, name)
            self._closure[name] = self._read(path, value, f"closure {name}")
        return self._closure[name]

    def _read(self, path: Path | None, value: Any, text: str) -> Any:
        if path is not None:
            return self._captures.read(path, value)
        if is_library_object(value) or is_library_source(self._function):
            return value
        name = self._function.__qualname__
        what = f"{name} reads {text}, and later calls could not read it again"
        raise needs_python(what, "pass it as an argument")

    def class_binds(self, name: str) -> bool:
        """Whether the class block that is running has assigned a name."""
        return name in sys._getframe(1).f_locals

    def store_name(self, origin: str, name: str, value: Any = None) -> NoReturn:
        """A global or nonlocal name of somebody else is assigned."""
        kind = "global" if origin == "global" else "nonlocal"
        where = "where the function is called" if kind == "global" else "outside"
        remedy = f"return the new value, and assign {name} {where}"
        raise needs_python(f"assigns the {kind} name {name!r}", remedy)

    def name_slot(self, origin: str, name: str) -> Slot:
        """A global or nonlocal name as a target: every use is refused."""
        return Slot(self.store_name, self.store_name, self.store_name, (origin, name))

    # ------------------------------------------------------------------------------- control flow
    def names(self) -> dict[str, Any]:
        """The local names of the user's frame."""
        return dict(sys._getframe(1).f_locals)

    def _key(self, line: int, column: int) -> tuple[Any, ...]:
        return (self._function.__qualname__, line, column)

    def for_(
        self, iterable: Any, parts: Parts, line: int, column: int, *names: tuple[str, ...]
    ) -> TracedFor | NativeLoop:
        """A ``for`` statement; ``names`` are those of `RegionNames`, as for the next two."""
        if (trace := running_trace()) is None:
            return NativeLoop(iterable)
        about = RegionNames(*names)
        items = self._asked.iterated(iterable, ends_early=bool(about.flags))
        loop = TracedFor(trace, self._key(line, column), items, about, parts)
        loop.definitely_assigned = self.definitely_assigned
        return loop

    def while_(self, line: int, column: int, *names: tuple[str, ...]) -> TracedWhile | NativeLoop:
        """A ``while`` statement."""
        if (trace := running_trace()) is None:
            return NativeLoop()
        loop = TracedWhile(trace, self._key(line, column), RegionNames(*names))
        loop.definitely_assigned = self.definitely_assigned
        return loop

    def recursion(
        self, line: int, column: int, *names: tuple[str, ...]
    ) -> TracedWhile | NativeLoop:
        """The loop of a function that calls itself, which reads no name before it binds it."""
        loop = self.while_(line, column, *names)
        return loop if isinstance(loop, NativeLoop) else loop.begin_recursion()

    def if_(
        self, condition: Any, line: int, column: int, *names: tuple[str, ...]
    ) -> TracedIf | NativeIf:
        """An ``if`` statement."""
        if (trace := running_trace()) is None:
            return NativeIf(bool(condition))
        branches = TracedIf(trace, self._key(line, column), condition, RegionNames(*names))
        branches.definitely_assigned = self.definitely_assigned
        return branches

    def chain(self, first: Any, name: str, second: Any, *others: Any) -> Any:
        """``first < second < others[1]()``; see `chain`."""
        return chain(self.compared, first, name, second, *others)

    def compared(self, name: str, left: Any, right: Any) -> Any:
        """``left == right``, and what else compares; ``name`` is that of `operator`."""
        if name in ("is_", "is_not"):
            same = self.same_object(left, right)
            return same if name == "is_" else not_(same)
        if name in ("eq", "ne"):
            for side in (left, right):
                if pooled(side) is None:
                    self.operand(side)
        if is_tuple(left) and is_tuple(right) and needs_kernel_keys((left, right)):
            return compared_tuples(name, left, right)
        if name in ("eq", "ne") and (is_tuple_or_none(left) or is_tuple_or_none(right)):
            return compared_tuples(name, narrowed(left), narrowed(right))
        if type(left) in (list, tuple) and type(right) in (list, tuple):
            require_numbers((left, right))
        return self._operators.compared(name, left, right)

    def augmented(self, name: str, old: Any, value: Any) -> Any:
        """What ``old += value`` binds; ``name`` is that of `operator`."""
        return self._operators.in_place(name, old, self._access.augment(old, value))

    few_steps = staticmethod(few_steps)
    pattern_value = staticmethod(pattern_value)
    bound = staticmethod(bound)
    numbered = staticmethod(numbered)
    none_of = staticmethod(none_of)
    stop_flag = staticmethod(stop_flag)
    not_ = staticmethod(not_)
    and_ = staticmethod(and_)
    or_ = staticmethod(or_)
    and_value = staticmethod(and_value)
    or_value = staticmethod(or_value)
    asserted = staticmethod(asserted)
    raises = staticmethod(raises)
    python_is_faster = staticmethod(python_is_faster)
    trying = staticmethod(trying)
    choose = staticmethod(choose)

    # --------------------------------------------------------------------------- calls and objects
    def generated(self, source: Any, item: Any, is_taken_apart: bool) -> Generated:
        """What an ``__iter__`` returns that runs over ``source()`` and yields ``item(..)``."""

        def made(found: Any) -> Any:
            parts = tuple(self.unpacked(found)) if is_taken_apart else (found,)
            return self._invoke(item, parts, {})

        return Generated(lambda: self._invoke(source, (), {}), made)

    def listed_generator(
        self, run: Any, python: Any, given: tuple[Any, ...], outside: Any, is_short: bool
    ) -> Any:
        """What a generator returns that may run at once, if what it is given never changes."""
        trace = running_trace()
        key = ("generator", self._function.__module__, self._function.__qualname__)
        is_known = all(map(never_changes, given)) and all(map(never_changes, outside))
        if trace is None or key in trace.table or not is_known:
            return self._invoke(python, given, {})

        def leave() -> NoReturn:
            trace.table[key] = "runs in Python"
            raise Retrace

        return Listed(lambda: self._invoke(run, given, {}), leave, is_short)

    def call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """``function(*args, **kwargs)``."""
        return self._invoke(function, args, kwargs)

    def decorator(self, function: Any) -> Callable[[Any], Any]:
        """A decorator, applied through `call`."""
        return lambda decorated: self._invoke(function, (decorated,), {})

    def attr_slot(self, obj: Any, name: str) -> Slot:
        """A target ``obj.name``."""
        access = self._access
        changes = access.store_attr, access.delete_attr
        return Slot(access.attr, *changes, (obj, name), self.augmented)

    def item_slot(self, obj: Any, key: Any) -> Slot:
        """A target ``obj[key]``."""
        access = self._access
        changes = access.store_item, access.delete_item
        return Slot(access.item, *changes, (obj, key), self.augmented)

    def caught(self, depth: int) -> None:
        """The user's ``except`` must not swallow what stops the trace."""
        error = sys.exc_info()[1]
        if error is None:
            return
        if isinstance(error, (FusejitError, Fallback, Retrace)):
            raise error
        caught_inside(error, depth)

    def ending(self, depth: int) -> None:
        """A ``finally`` that jumps must not swallow it either."""
        error = sys.exc_info()[1]
        trace = None if error is None else error.__traceback__
        if trace is not None and trace.tb_frame is sys._getframe(1):  # it has come through here
            self.caught(depth)

    def importing(self, module: str) -> None:
        """An import statement in the function."""
        if module.startswith(".") or not is_library_module(module):
            raise needs_python(f"imports {module}", "import it at the top of the file")

    def operand(self, obj: Any) -> Any:
        """An operand of ``==`` or ``!=``, or a key, which Python compares."""
        self._captures.compare(obj)
        return obj

    def contained(self, item: Any, container: Any, is_in: Callable[[Any, Any], bool]) -> Any:
        """``item in container``."""
        found = self._asked.contains(container, item)
        if found is not NotImplemented:
            return found
        if pooled(item) is None:
            self._captures.compare(item)
        self._captures.compare(container)
        return contained(item, container, is_in)

    def identity(self, obj: Any) -> Any:
        """An operand of ``is`` that Python compares, in a chain of comparisons."""
        if has_traced(self.bound(obj)):
            what = "compares arrays or numbers by `is` in a chain of comparisons"
            raise needs_python(what, "write them one by one")
        self._captures.identify(obj)
        return obj
