"""`dataclass`, `field` and `replace` as in the standard library, made when they are first needed.

The standard library writes and compiles some six methods for each class when its module is
imported: half a millisecond each, half of `import fusejit`. Here a class compiles its ``__init__``,
``__eq__`` and ``__hash__`` in its first use of them, most classes never do, and an ``__init__`` of
frozen slots stores through their descriptors, in half the time.

What is left out: ``order=True``, ``init=False``, ``InitVar``, ``ClassVar``, ``KW_ONLY``, and the
signature as a docstring. Type checkers see the standard library's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "replace"]

_MISSING: Any = object()
_FIELDS = "__fusejit_fields__"


class _Field:
    """What `field` says of a field, or its default value alone."""

    __slots__ = ("compare", "default", "factory", "in_init", "is_keyword", "name", "repr")

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
    ) -> None:
        self.name = ""
        self.is_keyword = False
        self.default = default
        self.factory = default_factory
        self.in_init = init
        self.repr = repr
        self.compare = compare

    @property
    def has_default(self) -> bool:
        """True if an instance may be made without a value for it."""
        return self.default is not _MISSING or self.factory is not _MISSING


def _dataclass(
    cls: type | None = None,
    /,
    *,
    frozen: bool = False,
    slots: bool = False,
    eq: bool = True,
    kw_only: bool = False,
) -> Any:
    """As `dataclasses.dataclass`."""

    def made(cls: type) -> type:
        return _made(cls, frozen, slots, eq, kw_only)

    return made if cls is None else made(cls)


def _replace(instance: Any, /, **changes: Any) -> Any:
    """As `dataclasses.replace`."""
    for each in getattr(type(instance), _FIELDS).values():
        if not each.in_init:
            if each.name in changes:
                raise ValueError(f"field {each.name} is declared with init=False")
        elif each.name not in changes:
            changes[each.name] = getattr(instance, each.name)
    return type(instance)(**changes)


if not TYPE_CHECKING:
    dataclass, field, replace = _dataclass, _Field, _replace


def _made(cls: Any, frozen: bool, slots: bool, eq: bool, kw_only: bool) -> type:
    own = _own_fields(cls, kw_only)
    fields: dict[str, _Field] = {}
    for base in reversed(cls.__mro__[1:]):
        fields.update(base.__dict__.get(_FIELDS, {}))
    inherited = set(fields)
    fields.update(own)
    _check_order(cls, fields)
    body = dict(cls.__dict__)
    for name, each in own.items():
        if each.default is _MISSING or slots:
            body.pop(name, None)
        else:
            body[name] = each.default
    positional = (f.name for f in fields.values() if f.in_init and not f.is_keyword)
    body.setdefault("__match_args__", tuple(positional))
    body[_FIELDS] = fields
    if slots:
        body["__slots__"] = tuple(name for name in own if name not in inherited)
        for name in ("__dict__", "__weakref__"):
            body.pop(name, None)
    # Slots need another class; in any case it is the decorator's, and no one else has it yet.
    made = type(cls)(cls.__name__, cls.__bases__, body) if slots else _completed(cls, body)
    made.__qualname__ = cls.__qualname__
    _add_methods(made, fields, frozen, slots, eq)
    return made


def _completed(cls: type, body: dict[str, Any]) -> type:
    for name in [name for name in cls.__dict__ if name not in body]:
        delattr(cls, name)
    for name, value in body.items():
        if cls.__dict__.get(name, _MISSING) is not value:
            setattr(cls, name, value)
    return cls


def _own_fields(cls: type, kw_only: bool) -> dict[str, _Field]:
    own: dict[str, _Field] = {}
    for name in inspect.get_annotations(cls):
        value = cls.__dict__.get(name, _MISSING)
        each = value if isinstance(value, _Field) else _Field(default=value)
        if each.default.__class__.__hash__ is None:
            raise ValueError(f"mutable default for field {name}: use default_factory")
        each.name = name
        each.is_keyword = kw_only
        own[name] = each
    return own


def _check_order(cls: type, fields: dict[str, _Field]) -> None:
    """As the standard library: no positional field without a default after one with."""
    last = None
    for each in fields.values():
        if each.in_init and not each.is_keyword:
            if each.has_default:
                last = each.name
            elif last is not None:
                text = f"{cls.__name__}: field {each.name} without a default follows {last}"
                raise TypeError(text)


def _add_methods(cls: Any, fields: dict[str, _Field], frozen: bool, slots: bool, eq: bool) -> None:
    body = cls.__dict__
    if "__init__" not in body:
        _when_used(cls, "__init__", lambda: _init(cls, fields, frozen))
    if "__repr__" not in body:
        cls.__repr__ = _repr
    compared = [each.name for each in fields.values() if each.compare]
    has_hash = body.get("__hash__") is not None  # where only __eq__ is written Python puts None
    if eq:
        if "__eq__" not in body:
            _when_used(cls, "__eq__", lambda: _eq(compared))
        if not has_hash:
            if frozen:
                _when_used(cls, "__hash__", lambda: _hash(compared))
            else:
                cls.__hash__ = None
    if frozen:
        _freeze(cls, frozenset(fields))
        if slots and "__getstate__" not in body:
            cls.__getstate__, cls.__setstate__ = _state, _set_state


def _when_used(cls: type, name: str, make: Callable[[], Any]) -> None:
    """Let a class write a method in its first call."""

    def first(self: Any, *args: Any, **kwargs: Any) -> Any:
        method = make()
        setattr(cls, name, method)
        return method(self, *args, **kwargs)

    setattr(cls, name, first)


def _function(header: str, lines: list[str], names: dict[str, Any]) -> Any:
    text = "\n    ".join((f"def method({header}):", *lines))
    exec(text, names)
    return names["method"]


def _init(cls: type, fields: dict[str, _Field], frozen: bool) -> Any:
    names: dict[str, Any] = {"_missing": _MISSING, "_set": object.__setattr__}
    parameters = {False: ["self"], True: []}
    lines = []
    for each in fields.values():
        name = each.name
        value = name
        if each.factory is not _MISSING:
            names[f"_new_{name}"] = each.factory
            value = f"_new_{name}()"
            if each.in_init:
                value += f" if {name} is _missing else {name}"
        elif each.default is not _MISSING:
            names[f"_default_{name}"] = each.default
            value = name if each.in_init else f"_default_{name}"
        if each.in_init:
            default = "_missing" if each.factory is not _MISSING else f"_default_{name}"
            parameters[each.is_keyword].append(f"{name}={default}" if each.has_default else name)
        elif not each.has_default:
            continue  # __post_init__ sets it
        descriptor = getattr(cls, name, None)
        if not frozen:
            lines.append(f"self.{name} = {value}")
        elif type(descriptor).__name__ == "member_descriptor":
            names[f"_set_{name}"] = descriptor.__set__  # type: ignore[union-attr]
            lines.append(f"_set_{name}(self, {value})")
        else:
            lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    keywords = ["*", *parameters[True]] if parameters[True] else []
    method = _function(", ".join(parameters[False] + keywords), lines or ["pass"], names)
    method.__qualname__ = f"{cls.__qualname__}.__init__"
    method.__name__ = "__init__"
    return method


def _tuple(of: str, names: list[str]) -> str:
    return "(" + "".join(f"{of}.{name}, " for name in names) + ")"


def _eq(names: list[str]) -> Any:
    lines = [
        "if self is other:",
        "    return True",
        "if self.__class__ is not other.__class__:",
        "    return NotImplemented",
        f"return {_tuple('self', names)} == {_tuple('other', names)}",
    ]
    return _function("self, other", lines, {})


def _hash(names: list[str]) -> Any:
    return _function("self", [f"return hash({_tuple('self', names)})"], {})


def _repr(self: Any) -> str:
    fields = getattr(type(self), _FIELDS).values()
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _freeze(cls: Any, names: frozenset[str]) -> None:
    def refuse(self: Any, name: str, verb: str) -> None:
        if type(self) is cls or name in names:
            from dataclasses import FrozenInstanceError

            raise FrozenInstanceError(f"cannot {verb} field {name!r}")

    def set_attribute(self: Any, name: str, value: Any) -> None:
        refuse(self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    def delete_attribute(self: Any, name: str) -> None:
        refuse(self, name, "delete")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = set_attribute, delete_attribute


def _state(self: Any) -> list[Any]:
    return [getattr(self, name) for name in getattr(type(self), _FIELDS)]


def _set_state(self: Any, state: list[Any]) -> None:
    for name, value in zip(getattr(type(self), _FIELDS), state, strict=True):
        object.__setattr__(self, name, value)
