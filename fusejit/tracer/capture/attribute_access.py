"""Attributes and items: reads from outside go by path, writes to outside are refused."""

from __future__ import annotations

import functools
import keyword
from collections.abc import Callable
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from fusejit.ir.host import Path
from fusejit.tracer.builder.trace import current_trace, note_change, running_trace
from fusejit.tracer.capture.native_access import (
    known_attribute,
    known_item,
    native_delattr,
    native_delitem,
    native_getattr,
    native_getitem,
    native_setattr,
    native_setitem,
)
from fusejit.tracer.carried.attributes import read_attribute, write_attribute
from fusejit.tracer.carried.missing_attributes import present, require_all, require_number
from fusejit.tracer.carried.outside_attributes import OutsideAttributes
from fusejit.tracer.keyed.known_dicts import known_dict
from fusejit.tracer.lists.changed_lists import ask_to_change
from fusejit.tracer.lists.displays import CONTAINERS, change_container, combine, look_up, read_list
from fusejit.tracer.np.arrays.index_tricks import ITEMS_OF
from fusejit.tracer.ops.union_operators import object_of_maybe
from fusejit.tracer.program.callables import (
    CONSTANT_TYPES,
    is_library_module,
    is_traced_type,
    is_user_function,
)
from fusejit.tracer.program.captures import CaptureRegistry
from fusejit.tracer.program.fallback import numpy_raises
from fusejit.tracer.program.locations import needs_python, unsupported
from fusejit.tracer.strings.string_view import characters_of, needs_places
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.pooled_objects import is_given
from fusejit.tracer.values.undefined import Undefined

_NATIVE_TYPES = (
    *CONSTANT_TYPES,
    list,
    tuple,
    dict,
    set,
    frozenset,
    range,
    slice,
    np.dtype,
)
_ATTRIBUTE_REMEDY = "make an array of that shape or dtype outside the decorated function"
_BY_PYTHON = "keep this statement out of loops, as Python runs it"
_AS_ARRAY = "write into an array: out[i] = ..., or return the new items"


class AttributeAccess:
    """Attribute and item callbacks.

    Parameters
    ----------
    captures : CaptureRegistry
        Tells what comes from outside.
    invoke : callable
        ``invoke(function, args, kwargs)`` calls user code with callbacks (properties,
        ``__getitem__``).
    made_here : callable
        Whether a function was made by the traced code itself.
    """

    def __init__(
        self,
        captures: CaptureRegistry,
        invoke: Callable[[Any, tuple[Any, ...], dict[str, Any]], Any],
        made_here: Callable[[FunctionType], bool],
    ) -> None:
        self._captures = captures
        self._invoke = invoke
        self._made_here = made_here
        self._native: set[type] = set(_NATIVE_TYPES)

    def is_native(self, cls: type) -> bool:
        """Whether objects of a type know themselves what to do: builtins and traced objects."""
        if cls in self._native:
            return True
        if is_traced_type(cls) or (
            issubclass(cls, np.generic | np.dtype) and cls.__module__.startswith("numpy")
        ):
            self._native.add(cls)
            return True
        return False

    # ------------------------------------------------------------------------------------ reading
    def attr(self, obj: Any, name: str) -> Any:
        """``obj.name``."""
        obj = object_of_maybe(obj, name)
        cls = type(obj)
        if self.is_native(cls):
            if is_traced_type(cls) and hasattr(cls, "user_attribute"):
                return obj.user_attribute(name)
            return known_attribute(obj, name)
        if isinstance(obj, ModuleType) and is_library_module(obj.__name__):
            found = known_attribute(obj, name)
            self._captures.read_library(vars(obj), name, found)
            return found
        if cls is super:
            return self._super_attr(obj, name)
        owner, raw = class_attribute(cls, name)
        if owner is not None and not isinstance(obj, type):
            if isinstance(raw, property) and is_user_function(raw.fget):
                self._note_member(obj, owner, name, "fget", raw.fget)
                return self._invoke(raw.fget, (obj,), {})
            if isinstance(raw, functools.cached_property) and name not in vars(obj):
                return self._cached_property(obj, owner, name, raw)
        path = self._captures.path_of(obj)
        if path is None or self._captures.is_container_copy(obj):
            return self._local_attr(obj, owner, name, raw)
        if not name.isidentifier() or keyword.iskeyword(name):
            what = f"reads the attribute {name!r} of {path.user_text()}"
            raise unsupported(what, "give it a name that is an identifier")
        if self._captures.is_overwritten(path.attribute(name)):
            return self._captures.seen(path.attribute(name))
        try:
            value = known_attribute(obj, name)
        except AttributeError:
            self._captures.absent(path.attribute(name))
            raise
        if isinstance(value, MethodType):
            self.note_class(obj)
            if isinstance(value.__func__, FunctionType):
                self._captures.read(path.attribute(name).attribute("__func__"), value.__func__)
            return value
        if getattr(value, "__self__", None) is obj and not isinstance(value, FunctionType):
            return value  # a method written in C
        return self._captures.read(path.attribute(name), value)

    def _local_attr(self, obj: Any, owner: type | None, name: str, raw: Any) -> Any:
        """Of an object made in the trace, or of a library's object."""
        if isinstance(obj, ModuleType):
            what = f"the module {obj.__name__} was reached in a way that cannot be followed"
            raise unsupported(what, "import it at the top of the file")
        if isinstance(obj, type):
            owner, raw = class_attribute(obj, name)
        if name == "__dict__":
            require_all(obj, "reads all attributes")
        self._note_given(obj)
        held = read_attribute(obj, name)
        if held is not NotImplemented:
            return held
        value = present(obj, name, native_getattr(obj, name))
        if owner is None or (name in getattr(obj, "__dict__", ()) and not isinstance(obj, type)):
            return value
        return self._member(obj, owner, name, raw, value)

    def _super_attr(self, obj: Any, name: str) -> Any:
        """``super().name``: the next class of the method resolution order that defines it."""
        bound = obj.__self__
        order = (bound if isinstance(bound, type) else type(bound)).__mro__
        for owner in order[order.index(obj.__thisclass__) + 1 :]:
            if name in owner.__dict__:
                raw = owner.__dict__[name]
                break
        else:
            return native_getattr(obj, name)
        if isinstance(raw, property) and is_user_function(raw.fget):
            self._note_member(bound, owner, name, "fget", raw.fget)
            return self._invoke(raw.fget, (bound,), {})
        return self._member(bound, owner, name, raw, native_getattr(obj, name))

    def _member(self, obj: Any, owner: type, name: str, raw: Any, value: Any) -> Any:
        """What a class holds under a name, read by the path of the class."""
        path = self._class_path(obj, owner)
        if path is None:
            return value
        member = path.attribute("__dict__").item(name)
        function = raw.__func__ if isinstance(raw, (staticmethod, classmethod)) else raw
        if isinstance(function, FunctionType):
            at = member if function is raw else member.attribute("__func__")
            if not self._made_here(function):
                self._captures.read(at, function)
            return value
        if hasattr(type(raw), "__get__"):  # slots, C methods
            return value
        return self._captures.read(member, value)

    def _cached_property(
        self, obj: Any, owner: type, name: str, raw: functools.cached_property[Any]
    ) -> Any:
        if self._captures.path_of(obj) is not None:
            what = f"the cached property {name} is computed for the first time"
            raise needs_python(what, "read it once before the call")
        self._note_member(obj, owner, name, "func", raw.func)
        value = vars(obj)[name] = self._invoke(raw.func, (obj,), {})
        return value

    def item(self, obj: Any, key: Any) -> Any:
        """``obj[key]``."""
        if type(obj) is list:
            read_list(obj, key)
        elif type(obj) is str and needs_places(key):
            return characters_of(obj)[key]
        elif type(obj) is str and type(key) is slice:
            part = known_item(obj, key)
            current_trace().captured_reads.note_part(part, obj)
            return part
        elif type(obj) in CONTAINERS:
            look_up(obj, (key,))
            known = known_dict(obj, (key,))
            if known is not None:
                return known[key]
            self._captures.compare(key)
        made_by = ITEMS_OF.get(type(obj))
        if made_by is not None:  # np.r_ and its like
            return made_by(key)
        if self.is_native(type(obj)):
            kind = getattr(obj, "scalar_type", None) if is_traced_type(type(obj)) else None
            if kind in (bool, int, float, complex):
                raise numpy_raises(f"TypeError: '{kind.__name__}' object is not subscriptable")
            found = known_item(obj, key)
            if isinstance(obj, np.generic) and type(found) is np.ndarray:
                return current_trace().captured_reads.constant(found)  # np.float64(1)[None]
            return found
        method = self.note_method(obj, "__getitem__")
        if method is not None:
            return self._invoke(method, (obj, key), {})
        path = self._captures.path_of(obj)
        if path is None or isinstance(obj, type) or self._captures.is_container_copy(obj):
            return native_getitem(obj, key)
        return self._captures.read(path.item(key), known_item(obj, key))

    # ------------------------------------------------------------------------------------ writing
    def store_attr(self, obj: Any, name: str, value: Any) -> None:
        """``obj.name = value``."""
        note_change()
        obj = object_of_maybe(obj, name)
        if is_traced_type(type(obj)):
            raw = class_attribute(type(obj), name)[1]
            if not isinstance(raw, property) or raw.fset is None:
                raise _not_assignable(obj, name)
            native_setattr(obj, name, value)
            return
        if not self.is_native(type(obj)):
            if self._is_there(obj, name, value) or self._writes_later(obj, name, value):
                return
            owner, raw = class_attribute(type(obj), name)
            is_property = isinstance(raw, property) and is_user_function(raw.fset)
            if owner is not None and is_property and not _has_setattr(obj):
                self._note_member(obj, owner, name, "fset", raw.fset)
                self._invoke(raw.fset, (obj, value), {})
                return
            self._refuse_write(obj, f"attribute {name!r}")
            method = self.note_method(obj, "__setattr__")
            if method is not None:
                self._invoke(method, (obj, name, value), {})
                return
            self._note_given(obj)
            if write_attribute(obj, name, value):
                return
            require_number(obj, name, value)
        native_setattr(obj, name, value)

    def delete_attr(self, obj: Any, name: str) -> None:
        """``del obj.name``."""
        note_change()
        if is_traced_type(type(obj)):
            raise _not_assignable(obj, name)
        self._refuse_write(obj, f"attribute {name!r}")
        require_all(obj, "takes away an attribute")
        native_delattr(obj, name)

    def store_item(self, obj: Any, key: Any, value: Any) -> None:
        """``obj[key] = value``."""
        note_change()
        if self._captures.is_container_copy(obj) and self._holds(obj, key, value):
            return
        self._refuse_write(obj, "an item")
        if type(obj) in CONTAINERS:
            look_up(obj, (key,))
            change_container(obj)
        method = self.note_method(obj, "__setitem__")
        if method is not None:
            self._invoke(method, (obj, key, value), {})
            return
        if is_traced_type(type(obj)) and not hasattr(obj, "__setitem__"):
            raise numpy_raises("TypeError: a number does not support item assignment")
        native_setitem(obj, key, value)

    def delete_item(self, obj: Any, key: Any) -> None:
        """``del obj[key]``."""
        note_change()
        if isinstance(obj, Undefined):
            obj()
        self._refuse_write(obj, "an item")
        if type(obj) in CONTAINERS:
            look_up(obj, (key,))
            change_container(obj)
        method = self.note_method(obj, "__delitem__")
        if method is not None:
            self._invoke(method, (obj, key), {})
            return
        if is_traced_type(type(obj)) and not isinstance(obj, TracedContainer):
            raise numpy_raises("items of arrays and numbers cannot be deleted")
        native_delitem(obj, key)

    def augment(self, old: Any, value: Any) -> Any:
        """The right-hand side of ``old += value``, if ``old`` may be changed."""
        if type(old) in (list, dict, set):
            self._refuse_write(old, "items in place")
            combine(old, (value,))
        return value

    # `params["w"] -= g` and `self.w -= g` store into the array and then write back that very array
    def _is_there(self, obj: Any, name: str, value: Any) -> bool:
        """Whether an attribute of a captured object is the traced value ``value`` already."""
        path = self._captures.path_of(obj)
        if path is None or not is_traced_type(type(value)):
            return False
        setter = class_attribute(type(obj), "__setattr__")[1]
        if isinstance(setter, FunctionType):
            return False
        return self._captures.seen(path.attribute(name)) is value

    def _writes_later(self, obj: Any, name: str, value: Any) -> bool:
        """Whether an attribute of a captured object is written by an effect of the call."""
        path = self._captures.path_of(obj)
        trace = running_trace()
        if path is None or isinstance(obj, type | ModuleType | FunctionType) or trace is None:
            return False
        outside = trace.owned(OutsideAttributes)
        return outside.write(trace, self._captures, obj, name, value, self.attr)

    @staticmethod
    def _holds(obj: Any, key: Any, value: Any) -> bool:
        """Whether a copied container holds the traced value ``value`` under ``key`` already."""
        if not is_traced_type(type(value)) or type(key) is slice:
            return False
        try:
            return native_getitem(obj, key) is value
        except (LookupError, TypeError):
            return False

    def _refuse_write(self, obj: Any, part: str) -> None:
        path = self._captures.path_of(obj)
        if path is not None:
            ask_to_change(path, obj)
            what = f"writes {part} to {self._captures.described(path)}"
            raise needs_python(what, _write_remedy(obj))
        if isinstance(obj, (ModuleType, type)) or (
            isinstance(obj, FunctionType) and not self._made_here(obj)
        ):
            what = f"writes {part} of {getattr(obj, '__name__', obj)!r}"
            raise needs_python(what, _write_remedy(obj))

    # -------------------------------------------------------------------------- classes of objects
    def note_method(self, obj: Any, name: str) -> FunctionType | None:
        """A special method written in Python by the user, found on the class; else None."""
        cls = type(obj)
        if self.is_native(cls) or isinstance(obj, type):
            return None
        owner, raw = class_attribute(cls, name)
        if owner is None or not isinstance(raw, FunctionType) or not is_user_function(raw):
            return None
        self._note_member(obj, owner, name, "", raw)
        return raw

    def note_constructor(self, cls: type, name: str) -> FunctionType | None:
        """The user's ``__new__`` or ``__init__`` of a class."""
        owner, raw = class_attribute(cls, name)
        inner = raw.__func__ if isinstance(raw, staticmethod) else raw
        if owner is None or not isinstance(inner, FunctionType) or not is_user_function(inner):
            return None
        self._note_member(cls, owner, name, "" if inner is raw else "__func__", inner)
        return inner

    def note_number_of_members(self, cls: type) -> None:
        """Note how many members a class and its bases have: a new one may hide an attribute.

        A property, another descriptor or ``__setattr__`` decides what objects hold.
        """
        for owner in cls.__mro__[:-1]:
            path = self._class_path(cls, owner)
            if path is not None:
                self._captures.has_members(path, len(vars(owner)))

    def note_absent(self, obj: Any, name: str) -> None:
        """Note that the class of an object has no such method."""
        path = self._class_path(obj, type(obj))
        if path is not None and not hasattr(type, name):
            self._captures.absent(path.attribute(name))

    def note_default(self, obj: Any, name: str, default: Any) -> None:
        """Note that the class of an object has a method of `object`."""
        path = self._class_path(obj, type(obj))
        if path is not None:
            self._captures.require(path.attribute(name), default)

    def note_class(self, obj: Any) -> None:
        """Note the class of an object from outside."""
        path = self._captures.path_of(obj)
        if path is not None and not isinstance(obj, type):
            self._captures.note(path.attribute("__class__"), type(obj))

    def _note_given(self, obj: Any) -> None:
        """Note the class of an object of a list from outside, whatever it may get later."""
        if is_given(obj):
            self._captures.outside(type(obj))
            self.note_number_of_members(type(obj))

    def _class_path(self, obj: Any, owner: type) -> Path | None:
        """A path of ``owner``, a base of the class of ``obj`` (or of ``obj``, a class)."""
        self.note_class(obj)
        known = self._captures.path_of(owner)
        if known is not None:
            return known
        cls = obj if isinstance(obj, type) else type(obj)
        self._note_given(obj)
        path = self._captures.path_of(cls)
        if path is None:
            return None
        return path.attribute("__mro__").item(cls.__mro__.index(owner))

    def _note_member(self, obj: Any, owner: type, name: str, part: str, function: Any) -> None:
        """Note where a function of a class is found, with a check of its code."""
        path = self._class_path(obj, owner)
        if path is None or self._made_here(function):
            return
        member = path.attribute("__dict__").item(name)
        self._captures.read(member.attribute(part) if part else member, function)


def _not_assignable(obj: Any, name: str) -> Exception:
    """Of an array or a number: few attributes can be written, and those change its type."""
    if hasattr(np.ndarray, name):
        return needs_python(f"writes the attribute {name!r} of an array", _ATTRIBUTE_REMEDY)
    return numpy_raises(f"AttributeError: no attribute {name!r} can be set")


def _has_setattr(obj: Any) -> bool:
    """Whether a method of the user's writes the attributes of an object."""
    return isinstance(class_attribute(type(obj), "__setattr__")[1], FunctionType)


def class_attribute(cls: type, name: str) -> tuple[type | None, Any]:
    """The class of the method resolution order that defines a name, and what it holds."""
    for owner in cls.__mro__:
        if name in owner.__dict__:
            return owner, owner.__dict__[name]
    return None, None


def _write_remedy(obj: Any) -> str:
    """What a user can do where ``obj`` from outside is changed: methods must assign to ``self``."""
    if isinstance(obj, type | ModuleType | FunctionType):
        return "return the new value, and assign it where the function is called"
    return _AS_ARRAY if issubclass(type(obj), list | dict | set) else _BY_PYTHON
