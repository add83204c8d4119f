"""``numpy.random`` whose draws are arrays of `fusejit.numpy`.

The generators are subclasses of NumPy's and draw the same numbers; the functions draw from NumPy's
own global generator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy
import numpy.random as _random

from fusejit.numpy.array import ATOMS, Array, created, holds_no_array, unwrapped, wrapped
from fusejit.numpy.creation import creating, described_as, threshold
from fusejit.numpy.protocols import PROTOCOLS
from fusejit.support.locks import CachedProperty

__all__ = list(_random.__all__)

_OTHERS = "bit_generator bytes spawn seed get_state set_state shuffle"
_NO_DRAWS = frozenset(_OTHERS.split())


def _draw(original: Any) -> Any:
    atoms, get, ndarray = ATOMS, threshold, numpy.ndarray

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not args and not kwargs:
            return original(self)
        for arg in (*args, *kwargs.values()) if kwargs else args:
            if type(arg) not in atoms and not holds_no_array(arg):
                break
        else:
            result = original(self, *args, **kwargs)
            if type(result) is ndarray and result.nbytes >= get():
                return created(result)
            return result
        operands: list[Array] = []
        args, kwargs = unwrapped((args, kwargs), operands)
        return wrapped(original(self, *args, **kwargs), operands)

    return described_as(method, original)


def _draws(kind: type) -> dict[str, Any]:
    """Return the methods of a kind of generators that draw, or that write an `Array`."""
    names = [n for n in dir(kind) if not n.startswith("_") and n not in _NO_DRAWS]
    return {name: _draw(getattr(kind, name)) for name in [*names, "shuffle"]}


class _AnyOfNumPy(type):
    """The class of generators for whose `isinstance` NumPy's own generators count."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls.__base__ or cls)


class Generator(_random.Generator, metaclass=_AnyOfNumPy):
    """A generator of NumPy whose draws are arrays of `fusejit.numpy`."""

    locals().update(_draws(_random.Generator))
    __fuse_jit_call__ = PROTOCOLS["__fuse_jit_call__"]

    @CachedProperty
    def _numpy_generator(self) -> _random.Generator:
        """NumPy's own generator with the same bits, for compiled functions."""
        return _random.Generator(self.bit_generator)

    def __reduce__(self) -> Any:
        return Generator, (self.bit_generator,)

    def spawn(self, n_children: int) -> list[Any]:
        """Return new independent generators, as NumPy's method does."""
        return [Generator(child.bit_generator) for child in super().spawn(n_children)]


class RandomState(_random.RandomState, metaclass=_AnyOfNumPy):
    """A legacy generator of NumPy whose draws are arrays of `fusejit.numpy`."""

    locals().update(_draws(_random.RandomState))

    def __reduce__(self) -> Any:
        state = self.get_state(legacy=False)
        return _restored, (self._bit_generator, state)


def _restored(bit_generator: Any, state: Any) -> RandomState:
    generator = RandomState(bit_generator)
    generator.set_state(state)
    return generator


def default_rng(seed: Any = None) -> Any:
    """Return a generator of `fusejit.numpy`; see `numpy.random.default_rng`."""
    made = _random.default_rng(unwrapped(seed, []))
    return made if made is seed else Generator(made.bit_generator)


default_rng.__numpy_function__ = _random.default_rng  # type: ignore[attr-defined]


def _functions() -> dict[str, Any]:
    """Return the functions of ``numpy.random`` that draw from its global generator."""
    return {
        name: creating(getattr(_random, name))
        for name in _random.__all__
        if name not in _NO_DRAWS
        and name not in globals()
        and not isinstance(getattr(_random, name), type)
    } | {"shuffle": creating(_random.shuffle)}


globals().update(_functions())

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        value = globals()[name] = getattr(numpy.random, name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *dir(numpy.random)})
