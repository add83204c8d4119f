"""Our dataclasses against the standard library's."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

import fusejit.dataclass as ours


def _classes(module: Any) -> dict[str, Any]:
    """The same classes by either library."""

    @module.dataclass(frozen=True, slots=True)
    class Frozen:
        a: int
        b: tuple[int, ...] = ()
        hidden: str = module.field(default="", init=False, repr=False, compare=False)

    @module.dataclass(frozen=True, slots=True)
    class Derived(Frozen):
        c: int = 4

    @module.dataclass
    class Open:
        a: int
        items: list[int] = module.field(default_factory=list)
        half: float = module.field(init=False)

        def __post_init__(self) -> None:
            self.half = self.a / 2

    @module.dataclass(eq=False, slots=True, kw_only=True)
    class Keywords:
        a: int = 1
        b: int

    @module.dataclass(frozen=True)
    class Written:
        a: int

        def __repr__(self) -> str:
            return "written"

        def __hash__(self) -> int:
            return 5

    @module.dataclass(slots=True)
    class Plain:
        a: Any = None

    return {c.__name__: c for c in (Frozen, Derived, Open, Keywords, Written, Plain)}


OURS, THEIRS = _classes(ours), _classes(dataclasses)

MAKES = [
    ("Frozen", (1,), {}),
    ("Frozen", (1, (2,)), {}),
    ("Frozen", (), {"b": (3,), "a": 2}),
    ("Frozen", (), {}),
    ("Frozen", (1, (), "no"), {}),
    ("Derived", (1, (2,), 3), {}),
    ("Derived", (1,), {"c": 5}),
    ("Derived", (1,), {"d": 5}),
    ("Open", (3,), {}),
    ("Open", (3, [1]), {}),
    ("Open", (3,), {"items": None}),
    ("Keywords", (), {"b": 2}),
    ("Keywords", (1,), {"b": 2}),
    ("Keywords", (), {"a": 2}),
    ("Written", (1,), {}),
    ("Plain", (), {}),
    ("Plain", ([],), {}),
]


def _told(classes: dict[str, Any], name: str, args: Any, kwargs: Any, module: Any) -> Any:
    """All that can be seen of an instance."""
    cls = classes[name]
    try:
        made = cls(*args, **kwargs)
    except TypeError as error:
        return str(error).split("__init__() ")[-1]
    told: list[Any] = [repr(made).split(".")[-1], cls.__match_args__, cls.__name__]
    told.append(getattr(cls, "__slots__", None))
    told.append((made == cls(*args, **kwargs), made == copy.copy(made), made != 3))
    told.append((made == module.replace(made, a=7), module.replace(made).a))
    for change in (lambda: hash(made), lambda: setattr(made, "a", 9), lambda: delattr(made, "a")):
        try:
            told.append(change())
        except (TypeError, AttributeError) as error:
            told.append((type(error).__name__, str(error)))
    if name == "Keywords":
        told[-3] = "identity"
    return told


@pytest.mark.parametrize(("name", "args", "kwargs"), MAKES)
def test_as_the_standard_library(name: str, args: Any, kwargs: Any) -> None:
    assert _told(OURS, name, args, kwargs, ours) == _told(THEIRS, name, args, kwargs, dataclasses)


@ours.dataclass(frozen=True, slots=True)
class AtTop:
    a: int
    b: tuple[int, ...] = (1,)


def test_frozen_slots_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(AtTop(3))) == AtTop(3)
    assert copy.deepcopy(AtTop(3, (4,))) == AtTop(3, (4,))


def test_factories_make_a_value_for_each_instance() -> None:
    first, second = OURS["Open"](1), OURS["Open"](1)
    assert first.items is not second.items


@pytest.mark.parametrize("module", [ours, dataclasses])
def test_wrong_classes_are_refused(module: Any) -> None:
    with pytest.raises(ValueError, match="mutable default"):

        @module.dataclass
        class Mutable:
            a: list[int] = []  # noqa: RUF012

    with pytest.raises(TypeError, match="follows"):

        @module.dataclass
        class Order:
            a: int = 1
            b: str

    with pytest.raises(ValueError, match="init=False"):
        module.replace(_classes(module)["Frozen"](1), hidden="x")


def test_methods_are_written_when_they_are_used() -> None:
    cls = _classes(ours)["Frozen"]
    before = cls.__init__
    cls(1)
    assert cls.__init__ is not before


def test_classes_that_are_compared_by_two_threads_agree() -> None:
    from concurrent.futures import ThreadPoolExecutor

    cls = _classes(ours)["Derived"]
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(lambda _: cls(1), range(64)))
    assert len({*made}) == 1
