"""Classes of the items of random programs: the forms in which people write a small class.

All have the attributes ``x``, ``n``, ``tag``, ``opt``, ``pair``, ``log`` and ``spot``, a constant
``scale``, and the properties ``half`` (with a setter) and ``area``. ``Heavy`` derives from them.
"""

from __future__ import annotations

IMPORTS = """\
from dataclasses import dataclass, field
from functools import cached_property, total_ordering
from typing import NamedTuple


class Spot(NamedTuple):
    x: float
    n: int = 1

    def moved(self, by):
        return self._replace(x=self.x + by)

    @property
    def double(self):
        return self.x * 2


class Stored:
    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, obj, owner=None):
        if obj is None:
            return self
        return obj.__dict__[self.name]

    def __set__(self, obj, value):
        obj.__dict__[self.name] = value


class Limited(Stored):
    def __set__(self, obj, value):
        if type(value) is float and 20 < value < 100:
            raise ValueError(f"{self.name} is too large")
        obj.__dict__[self.name] = value


class Default:
    def __get__(self, obj, owner=None):
        return 7


"""

_INIT = """\
    def __init__(self, x, n, tag, opt=None):
        self.x, self.n, self.tag, self.opt = x, n, tag, opt
        self.pair = (n, x)
        self.log = []
        self.spot = Spot(x, n)

"""
_SLOTS = '    __slots__ = ("x", "n", "tag", "opt", "pair", "log", "spot")\n'
_FIELDS = """\
    x: float
    n: int
    tag: str
    opt: object = None
    pair: tuple = (1, 0.5)
    log: list = field(default_factory=list)
    spot: Spot = Spot(0.5)
"""
_CONSTANT = "    scale = 2.0\n    size = 3\n\n"
_EQUAL_BY_TAG = """\
    def __eq__(self, other):
        if not isinstance(other, Item):
            return NotImplemented
        return self.tag == other.tag and self.n == other.n

    def __hash__(self):
        return hash(self.tag)

"""
_BELOW = """\
    def __lt__(self, other):
        return (self.x, self.n) < (other.x, other.n)

"""
_TOTAL = """\
    def __eq__(self, other):
        return self.x == other.x

    def __lt__(self, other):
        return self.x < other.x

    def __len__(self):
        return self.n

"""

ITEMS = (
    "class Item:\n" + _CONSTANT + _INIT,
    "class Item:\n" + _CONSTANT + _INIT + _EQUAL_BY_TAG,
    "class Item:\n" + _CONSTANT + _INIT + _BELOW,
    "@total_ordering\nclass Item:\n" + _CONSTANT + _INIT + _TOTAL,
    "class Item:\n" + _SLOTS + _CONSTANT + _INIT,
    "class Item:\n" + _SLOTS + _CONSTANT + _INIT + _EQUAL_BY_TAG + _BELOW,
    'class Base:\n    __slots__ = ("x", "n")\n\n    def bare(self):\n        return self.x\n\n\n'
    'class Item(Base):\n    __slots__ = ("tag", "opt", "pair", "log", "spot")\n'
    + _CONSTANT
    + _INIT,
    'class Base:\n    __slots__ = ("x", "n")\n    size = 4\n\n\n'
    "class Item(Base):\n    scale = 2\n\n" + _INIT,
    "class Item:\n    x = Stored()\n" + _CONSTANT + _INIT,
    "class Item:\n    x = Limited()\n    n = Stored()\n    size = Default()\n    scale = 2\n\n"
    + _INIT,
    "@dataclass\nclass Item:\n" + _FIELDS + _CONSTANT,
    "@dataclass(order=True)\nclass Item:\n" + _FIELDS + _CONSTANT,
    "@dataclass(slots=True)\nclass Item:\n" + _FIELDS + _CONSTANT,
    "@dataclass(eq=False)\nclass Item:\n" + _FIELDS + _CONSTANT + _BELOW,
    "@dataclass(unsafe_hash=True)\nclass Item:\n"
    + _FIELDS.replace("log: list = field(", "log: list = field(hash=False, ")
    + _CONSTANT,
)

_METHODS = """\
    def bump(self, by):
        self.x += by
        if self.x > 20:
            self.x -= 30.0
        return self.x

    def renamed(self, tag):
        self.tag = tag
        return self

    def noted(self, value):
        if len(self.log) < 30:
            self.log.append(value)

    @property
    def half(self):
        return self.x * 0.5

    @half.setter
    def half(self, value):
        self.x = value * 2

    @{area}
    def area(self):
        return self.x * self.scale

    def closer(self, other):
        return self if abs(self.x) < abs(other.x) else other

    def share(self, parts):
        return self.x / parts

    def __repr__(self):
        return f"{{type(self).__name__}}({{self.x!r}}, {{self.n!r}}, {{self.tag!r}})"


"""
METHODS = tuple(_METHODS.format(area=each) for each in ("property", "property", "cached_property"))

HEAVY = (
    "class Heavy(Item):\n    pass\n\n\n",
    """\
class Heavy(Item):
    scale = 3

    def bump(self, by):
        self.n += 1
        return super().bump(by * 2)


""",
    """\
class Heavy(Item):
    __slots__ = ("load",)

    def __init__(self, x, n, tag, opt=None):
        super().__init__(x, n, tag, opt)
        self.load = x

    def share(self, parts):
        return self.load


""",
    """\
class Heavy(Item):
    __slots__ = ()

    @property
    def half(self):
        return self.x // 2

    def closer(self, other):
        return other


""",
    """\
class Loud:
    __slots__ = ()

    def renamed(self, tag):
        return super().renamed(tag + "!")


class Heavy(Loud, Item):
    size = 5

    def __getattr__(self, name):
        if name == "extra":
            return 11
        raise AttributeError(name)


""",
    """\
class Heavy(Item):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__


""",
)
