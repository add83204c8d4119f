"""How a call in the traced program goes on: handler, inlined, native or refused."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType
from typing import Any

import numpy as np

from fusejit.support.budget import check_budget
from fusejit.support.frame_readers import is_stop
from fusejit.support.identity import own_signature
from fusejit.tracer.builder.trace import running_trace
from fusejit.tracer.capture.active_calls import ActiveCalls, native_call
from fusejit.tracer.capture.asked_methods import AskedMethods
from fusejit.tracer.capture.attribute_access import AttributeAccess, class_attribute
from fusejit.tracer.capture.operators import Operators
from fusejit.tracer.carried.attributes import Objects, write_attribute
from fusejit.tracer.containers.list_functions import is_of_kernel, is_written_out
from fusejit.tracer.flow.conditions import not_
from fusejit.tracer.flow.same_objects import same_object
from fusejit.tracer.host.generator_draws import GENERATORS, draw
from fusejit.tracer.host.python_draws import OF_MODULE
from fusejit.tracer.keyed.known_dicts import known_dict
from fusejit.tracer.lists.changed_lists import ask_to_change
from fusejit.tracer.lists.comparisons import require_numbers
from fusejit.tracer.lists.displays import CONTAINERS, change_container, combine, look_up
from fusejit.tracer.ops import union_operators
from fusejit.tracer.ops.kernel_numbers import is_kernel_integer
from fusejit.tracer.ops.traced_text import TEXT_OPS, is_kernel_string
from fusejit.tracer.program.callables import (
    MUTATING_METHODS,
    NATIVE,
    RULES,
    Rule,
    Verdict,
    function_name,
    is_library_module,
    is_named_tuple,
    is_named_tuple_class,
    is_traced_type,
    is_user_function,
    rule_for,
)
from fusejit.tracer.program.captures import CaptureRegistry, is_hashable
from fusejit.tracer.program.error_state import TracedErrstate
from fusejit.tracer.program.fallback import Fallback, numpy_raises
from fusejit.tracer.program.locations import MOVE_OUTSIDE, here, needs_python
from fusejit.tracer.program.trace_interface import TraceInterface
from fusejit.tracer.source.entry_stubs import is_entry_stub
from fusejit.tracer.values.containers import TracedContainer
from fusejit.tracer.values.pooled_objects import PooledObjects, require_no_pooled
from fusejit.tracer.values.undefined import Undefined, bound
from fusejit.tracer.values.union_scalar import OptionalTuple, is_union_scalar

_TEXT = (str, bytes, bytearray)
_CachedFunction = type(functools.lru_cache(lambda: None))
_OF_NAMESPACE = (FunctionType, staticmethod)  # classes of functions of `fusejit.numpy`
_COMPARING_METHODS = ("index", "count", "remove", "__contains__", "__eq__", "__ne__")
_OF_CLASSES = (isinstance, type, callable)
"""Functions that ask for the class of an object."""
_COMPARING = (
    *(hash, dict, set, frozenset),
    *(operator.eq, operator.ne, operator.contains, operator.countOf, operator.indexOf),
)


class Calls:
    """Decides and makes the calls of one trace.

    Parameters
    ----------
    activate : callable
        The rewritten form of a user function, with its callbacks.
    made_here : callable
        Whether a function was made by the traced code itself.
    meet_native : callable
        Is called with each function that is called without callbacks, and of its arguments.
    """

    def __init__(
        self,
        trace: TraceInterface,
        captures: CaptureRegistry,
        activate: Callable[[FunctionType, tuple[Any, ...]], Callable[..., Any]],
        made_here: Callable[[FunctionType], bool],
        meet_native: Callable[[Any, Iterable[Any]], None],
    ) -> None:
        self._meet_native = meet_native
        self._trace = trace
        self._captures = captures
        self._activate = activate
        self._made_here = made_here
        self.active = ActiveCalls()
        self.access = AttributeAccess(captures, self.invoke, made_here)
        operators = Operators(captures, self.access, self.invoke)
        self.asked = AskedMethods(self.access, self.invoke, operators)
        self._special: dict[Any, Callable[..., Any]] = {
            getattr: self._getattr,
            hasattr: self._hasattr,
            setattr: self.access.store_attr,
            delattr: self.access.delete_attr,
            type: self._type,
            object.__setattr__: self._object_setattr,
            operator.is_: functools.partial(same_object, captures),
            operator.is_not: lambda left, right: not_(same_object(captures, left, right)),
            np.errstate: lambda **kwargs: TracedErrstate(trace, kwargs),
            **{text: functools.partial(self._text, text) for text in (str, repr, ascii, format)},
        }

    def invoke(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """``function(*args, **kwargs)`` as the traced program means it."""
        check_budget()
        for argument in args:
            bound(argument)
        kind = type(function)
        if kind in _OF_NAMESPACE and (original := vars(function).get("__numpy_function__")):
            return self.invoke(original, args, kwargs)  # a function of `fusejit.numpy`
        if any(map(_is_of_payload, args)):
            return native_call(function, args, kwargs)
        if kind is BuiltinFunctionType or kind is type:
            asked = self.asked.call(function, args, kwargs)
            if asked is not NotImplemented:
                return asked
        if kind is FunctionType and self._made_here(function):
            return self.active.make(function, lambda: function, args, kwargs)
        if args and isinstance(args[0], OptionalTuple) and function in _OF_CLASSES:
            rest = args[1:]
            return union_operators.in_either_case(
                args[0], lambda obj: self.invoke(function, (obj, *rest), kwargs)
            )
        handler = self._trace.handler(function)
        if handler is not None:
            if not is_written_out(function, args):
                args, kwargs = self._with_callbacks(RULES.get(function, NATIVE), args, kwargs)
            if any(map(is_union_scalar, args)):
                result = union_operators.call(function, handler, args, kwargs)
            else:
                result = handler(*args, **kwargs)
            if result is not NotImplemented:
                return self._as_constant(result)
        special = self._special.get(function) if is_hashable(function) else None
        if special is not None:
            return special(*args, **kwargs)
        if handler is not None:
            return self._native(function, args, kwargs, NATIVE)
        if is_stop(getattr(function, "__name__", "")):
            raise Fallback(f"{here()}: the program stops in a debugger")
        owner = getattr(function, "__self__", None)
        if getattr(function, "__objclass__", None) is str and any(map(is_kernel_string, args[:1])):
            return args[0].user_attribute(function.__name__)(*args[1:], **kwargs)
        if type(owner) is str and kind is BuiltinFunctionType:
            handler = self._trace.handler(getattr(str, function.__name__))
            made = NotImplemented if handler is None else handler(owner, *args, **kwargs)
            if made is not NotImplemented:
                return made
        if type(owner) in GENERATORS and (drawn := self._trace.handler(draw)) is not None:
            find = self._captures.outside if owner is OF_MODULE else self._captures.path_of
            return drawn(owner, function.__name__, find(owner), args, kwargs)
        if kind is MethodType:
            if is_traced_type(type(function.__self__)):
                return function(*args, **kwargs)
            owner = function.__self__
            path = self._captures.path_of(function)
            if path is not None:  # a bound method that was stored somewhere
                self._captures.read(path.attribute("__func__"), function.__func__)
                owner = self._captures.read(path.attribute("__self__"), owner)
            of_named_tuple = is_named_tuple_class(owner) or is_named_tuple(owner)
            if of_named_tuple and not is_user_function(function.__func__):
                return function.__func__(owner, *args, **kwargs)  # _replace, _asdict, _make
            return self.invoke(function.__func__, (owner, *args), kwargs)
        if kind is functools.partial:
            return self._partial(function, args, kwargs)
        if isinstance(function, type):
            return self._construct(function, args, kwargs)
        if is_traced_type(type(getattr(function, "__self__", None))):
            return function(*args, **kwargs)
        wrapped = self._unwrapped(function)
        if wrapped is not None:
            result = self.invoke(wrapped, args, kwargs)
            is_list = isinstance(result, (*CONTAINERS, TracedContainer))
            if is_list and isinstance(function, _CachedFunction):
                raise needs_python("keeps results that may be changed", MOVE_OUTSIDE)
            return result
        if is_user_function(function):
            return self.inlined(function, args, kwargs)
        if kind is not FunctionType:
            method = self.access.note_method(function, "__call__")
            if method is not None:
                return self.invoke(method, (function, *args), kwargs)
        return self._native(function, args, kwargs, rule_for(function))

    # ------------------------------------------------------------------------------------ inlined
    def inlined(
        self,
        function: FunctionType,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """What a function of the user's, of fusejit's own or of NumPy's computes, traced."""
        kwargs = kwargs or {}
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise needs_python(f"calls {function.__qualname__}, which is async", MOVE_OUTSIDE)

        def bound() -> Callable[..., Any]:
            return self._activate(function, (*args, *kwargs.values()))

        return self.active.make(function, bound, args, kwargs)

    def _unwrapped(self, function: Any) -> Any:
        """What a decorated or cached function computes; None if it is neither."""
        if not is_entry_stub(function) and not isinstance(function, _CachedFunction):
            return None
        path = self._captures.path_of(function)
        if is_entry_stub(function):
            inner, at = self._captures.decorated(function, path)
        else:
            inner = function.__wrapped__
            at = None if path is None else path.attribute("__wrapped__")
        if at is not None:
            self._captures.read(at, inner)
        return inner

    def _partial(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._captures.path_of(function) is None:
            first, named, inner = function.args, function.keywords, function.func
        else:
            first = self.access.attr(function, "args")
            named = self.access.attr(function, "keywords")
            inner = self.access.attr(function, "func")
        return self.invoke(inner, (*first, *args), {**named, **kwargs})

    def _construct(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        made = cls.__new__
        if is_named_tuple_class(cls) and made.__globals__.get("__name__", "").startswith(
            "namedtuple_"
        ):
            return cls._make(_bound_values(made, (cls, *args), kwargs)[1:])
        self.access.note_number_of_members(cls)
        metacall = class_attribute(type(cls), "__call__")[1]
        new = self.access.note_constructor(cls, "__new__")
        init = self.access.note_constructor(cls, "__init__")
        if isinstance(metacall, FunctionType):
            if is_user_function(metacall) or self._contains_traced((args, kwargs)):
                raise needs_python(f"constructs {function_name(cls)}", MOVE_OUTSIDE)
            return native_call(cls, args, kwargs)
        if new is None and init is None:
            if self._is_traceable_class(cls):
                return _built(_noted(native_call(cls, args, kwargs)))
            return self._native(cls, args, kwargs, rule_for(cls))
        if new is not None:
            obj = self.invoke(new, (cls, *args), kwargs)
            if not isinstance(obj, cls):
                return obj
        elif cls.__new__ is object.__new__:
            obj = _noted(object.__new__(cls))
        else:
            obj = native_call(cls.__new__, (cls, *args), kwargs)
        if init is not None:
            self.invoke(init, (obj, *args), kwargs)
        return _built(obj)

    @staticmethod
    def _is_traceable_class(cls: Any) -> bool:
        """A user class without a constructor of its own or of C, or a named tuple."""
        if is_named_tuple_class(cls):
            return True
        if cls.__new__ is not object.__new__ or cls.__init__ is not object.__init__:
            return False
        own = (base for base in cls.__mro__ if base is not object)
        return not any(is_library_module(base.__module__) for base in own)

    # ------------------------------------------------------------------------------------- native
    def _native(
        self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], rule: Rule
    ) -> Any:
        name, owner = function_name(function), getattr(function, "__self__", None)
        combine(owner, args)
        if function not in _OF_CLASSES:
            require_no_pooled(name, (*args, *kwargs.values()))
        if rule.verdict is Verdict.DENY:
            raise needs_python(f"calls {name}, which {rule.reason}", rule.remedy)
        self._captures.require_fixed(function, name)
        if rule.verdict is Verdict.STATIC and self._contains_traced((args, kwargs)):
            what = f"calls {name}, which fusejit does not compile with these arguments"
            raise needs_python(what, MOVE_OUTSIDE)
        if getattr(function, "__name__", "") == "get":
            look_up(owner, args)
            known = known_dict(owner, args[:1])
            if known is not None:
                return known.user_attribute("get")(*args, **kwargs)
        if getattr(function, "__name__", "") in MUTATING_METHODS:
            owner = args[0] if hasattr(function, "__objclass__") and args else owner
            if type(owner) in CONTAINERS:
                look_up(owner, args)
                change_container(owner)
            path = self._captures.path_of(owner)
            if path is not None:
                ask_to_change(path, owner)
                what = f"calls {name} on {self._captures.described(path)}"
                raise needs_python(what, "fill a list or array of the function, and return it")
        if name in ("str.format", "str.format_map"):
            args, kwargs = tuple(map(self.exact, args)), self.exact(kwargs)
        if _compares(function):
            self._captures.compare([owner, *args, *kwargs.values()], 4)
            require_numbers([owner, *args])
        self._meet_native(function, (*args, *kwargs.values()))
        args, kwargs = self._with_callbacks(rule, args, kwargs)
        if isinstance(getattr(function, "__self__", None), _TEXT) or (
            getattr(function, "__objclass__", None) in _TEXT
        ):
            args = tuple(map(_told, args))
        try:
            return self._as_constant(native_call(function, args, kwargs))
        except ValueError as error:
            if _compares(function) and self._contains_traced((args, kwargs)):
                raise numpy_raises(error) from error  # none of the items is such a number
            raise

    def _with_callbacks(
        self, rule: Rule, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Functions that C code calls back go through the callbacks as well.

        Functions of a container of the kernel are traced: no C code calls anything back.
        """
        if any(map(is_of_kernel, args)):
            return args, kwargs
        for place in rule.callbacks:
            if isinstance(place, int) and place < len(args):
                wrapped = self._callback(args[place])
                args = (*args[:place], wrapped, *args[place + 1 :])
            elif isinstance(place, str) and place in kwargs:
                kwargs = {**kwargs, place: self._callback(kwargs[place])}
        return args, kwargs

    def _callback(self, function: Any) -> Any:
        if not callable(function):
            return function
        return lambda *args, **kwargs: self.invoke(function, args, kwargs)

    def _as_constant(self, result: Any) -> Any:
        if isinstance(result, np.ndarray):
            return self._trace.captured_reads.constant(result)
        is_named = is_named_tuple(result)
        if type(result) not in (list, tuple) and not is_named:
            return result
        if not any(isinstance(r, np.ndarray) for r in result):
            return result
        return (type(result)._make if is_named else type(result))(map(self._as_constant, result))

    def _contains_traced(self, obj: Any) -> bool:
        if isinstance(obj, (list, tuple)):
            return any(map(self._contains_traced, obj))
        if isinstance(obj, dict):
            return any(map(self._contains_traced, obj.values()))
        return self._trace.is_traced(obj)

    # ------------------------------------------------------------------------------------ special
    def _getattr(self, obj: Any, name: str, *default: Any) -> Any:
        try:
            return self.access.attr(obj, name)
        except AttributeError:
            if default:
                return default[0]
            raise

    def _hasattr(self, obj: Any, name: str) -> bool:
        try:
            self.access.attr(obj, name)
        except AttributeError:
            return False
        return True

    def _type(self, obj: Any, *rest: Any, **kwargs: Any) -> Any:
        if rest or kwargs:
            return type(obj, *rest, **kwargs)
        if self._captures.path_of(obj) is not None and not self._captures.is_container_copy(obj):
            return self.access.attr(obj, "__class__")
        return type(obj)

    def _text(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        if function is str and len(args) == 1 and not kwargs:
            if is_kernel_string(args[0]):
                return args[0]
            if is_kernel_integer(args[0]):
                return TEXT_OPS.decimal(args[0])
        return function(*map(self.exact, args), **kwargs)

    def exact(self, obj: Any) -> Any:
        """What text is made of: numbers become exact, arrays have no value yet."""
        if type(obj) is dict:
            exact = {key: self.exact(value) for key, value in obj.items()}
            return exact if self._contains_traced(obj) else obj
        if type(obj) in (list, tuple) or is_named_tuple(obj):
            items = map(self.exact, obj)
            exact = type(obj)._make(items) if is_named_tuple(obj) else type(obj)(items)
            return exact if self._contains_traced(obj) else obj
        if not self._trace.is_traced(obj):
            require_no_pooled("str", (obj,))
            self._captures.write(obj)
            return obj
        if hasattr(obj, "in_text"):
            return obj.in_text()
        what = "makes text of a value that is known only when compiled code runs"
        raise needs_python(what, MOVE_OUTSIDE)

    def _object_setattr(self, obj: Any, name: str, value: Any) -> None:
        if self._captures.path_of(obj) is not None:
            self.access.store_attr(obj, name, value)  # refuses
        if not write_attribute(obj, name, value):
            object.__setattr__(obj, name, value)


def _noted(obj: Any) -> Any:
    """A new object, whose attributes loops may carry."""
    trace = running_trace()
    if trace is not None and not isinstance(obj, tuple):
        trace.owned(Objects).note(trace, obj)
    return obj


def _built(obj: Any) -> Any:
    """An object whose constructor has run."""
    trace = running_trace()
    if trace is not None:
        trace.owned(PooledObjects).end(trace, obj)
    return obj


def _compares(function: Any) -> bool:
    """Whether a native function compares or hashes objects that it is given."""
    owner = getattr(function, "__objclass__", type(getattr(function, "__self__", None)))
    name = getattr(function, "__name__", "")
    if owner in (list, tuple):
        return name in _COMPARING_METHODS
    return owner in (dict, set, frozenset) or function in _COMPARING


def _told(obj: Any) -> Any:
    """What methods of texts may be given: nothing that cannot be told, as one of two texts.

    They ask for texts by their type, and so no traced value is asked.
    """
    if isinstance(obj, Undefined):
        Undefined.refuse(obj)
    if is_kernel_string(obj):
        obj.refuse("gives a string that only compiled code knows to a method of strings")
    if isinstance(obj, GeneratorType):
        return (_told(item) for item in obj)
    if type(obj) in (list, tuple):
        for item in obj:
            _told(item)
    return obj


def _is_of_payload(obj: Any) -> bool:
    """Whether it is a number of the payload of a structured op that is being defined."""
    return type(obj).__module__ == "fusejit.ir.definitions.scalars"


def _bound_values(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The arguments of a call in the order of the parameters, defaults applied."""
    try:
        bound = own_signature(function).bind(*args, **kwargs)
    except TypeError as error:
        raise numpy_raises(error) from error
    bound.apply_defaults()
    return list(bound.arguments.values())
