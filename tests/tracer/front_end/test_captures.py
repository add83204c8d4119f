"""What a trace reads from outside: paths, checks, and refused writes."""

from __future__ import annotations

import array
import collections
import decimal
import enum
import fractions
import importlib.util
import textwrap
from types import SimpleNamespace

import numpy as np
import pytest

from fusejit.errors import UnsupportedError

RATE = 0.5
CONFIG = {"lr": 0.1, "layers": [np.ones(2), np.zeros(2)], "name": "adam"}
SETTINGS = SimpleNamespace(rate=0.25, inner=SimpleNamespace(k=np.arange(3.0)), mode="fast")
Pair = collections.namedtuple("Pair", "a b")
PAIR = Pair(1.0, np.ones(2))
DEQUE = collections.deque([1.0])
COUNTER = iter([1, 2])


class Mode(enum.Enum):
    FAST = 1
    SLOW = 2


class Table:
    scale = np.float64(2.0)
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


TABLE = Table(3.0)


class Dynamic:
    def __getattr__(self, name):
        if name == "k":
            return RATE
        raise AttributeError(name)


DYNAMIC = Dynamic()


def paths_of(front, fn, *args):
    trace = front.FakeTrace(fakes=True)
    front.run(trace, fn, *args)
    return {str(check.path): check.kind.value for check in trace.checks}


CASES = [
    (lambda x: x * RATE, {"global:RATE": "type"}),
    (lambda x: x * RATE + RATE, {"global:RATE": "type"}),
    (lambda x: CONFIG["lr"] * x, {"global:CONFIG": "keys", "global:CONFIG['lr']": "type"}),
    (
        lambda x: x + CONFIG["layers"][1],
        {"global:CONFIG['layers']": "keys", "global:CONFIG['layers'][1]": "type"},
    ),
    (
        lambda x: SETTINGS.inner.k + x,
        {"global:SETTINGS": "is", "global:SETTINGS.inner": "is", "global:SETTINGS.inner.k": "type"},
    ),
    (lambda x: PAIR.b + x, {"global:PAIR": "type", "global:PAIR[1]": "type"}),
    (lambda x: TABLE.w + x, {"global:TABLE.w": "type"}),
    (lambda x: TABLE.scale + x, {"global:TABLE.scale": "type"}),
    (lambda x: Table.scale + x, {"global:Table": "is", "global:Table.scale": "type"}),
    (lambda x: Table(x).scale + x, {"global:Table.__dict__['scale']": "type"}),
    (lambda x: DYNAMIC.k + x, {"global:DYNAMIC.k": "type"}),
    (lambda x: getattr(SETTINGS, "rate") + x, {"global:SETTINGS.rate": "type"}),  # noqa: B009
    (lambda x: getattr(SETTINGS, "nope", x), {"global:SETTINGS.nope": "absent"}),
    (lambda x: hasattr(SETTINGS, "nope"), {"global:SETTINGS.nope": "absent"}),
    (lambda x: hasattr(SETTINGS, "mode"), {"global:SETTINGS.mode": "equal"}),
    (lambda x: Mode.FAST is Mode.SLOW, {"global:Mode": "is", "global:Mode.FAST": "is"}),
    (lambda x: abs(-1), {"global:abs": "absent"}),
    (lambda x: type(TABLE).scale + x, {"global:TABLE.__class__.scale": "type"}),
    (lambda x: [v + x for v in CONFIG["layers"]], {"global:CONFIG['layers'][0]": "type"}),
    (lambda x: {**CONFIG}["lr"] + x, {"global:CONFIG['lr']": "type"}),
]


@pytest.mark.parametrize(("fn", "expected"), CASES)
def test_reads_are_recorded_by_path(front, fn, expected):
    found = paths_of(front, fn, 2.0)
    assert {path: found.get(path) for path in expected} == expected


def test_one_stand_in_per_path(front):
    def f(x):
        first = CONFIG["layers"]
        return first, CONFIG["layers"]

    trace = front.FakeTrace(fakes=True)
    first, second = front.run(trace, f, 1.0)
    assert first is second
    assert len(trace.paths()) == len(set(trace.paths()))


def test_named_tuples_keep_their_type(front):
    trace = front.FakeTrace(fakes=True)
    pair = front.run(trace, lambda: PAIR)
    assert isinstance(pair, Pair)
    assert isinstance(pair.a, front.FakeTraced)


def test_values_behind_the_stand_ins(front):
    def f(x):
        return x * TABLE.w + SETTINGS.inner.k + CONFIG["lr"]

    trace = front.FakeTrace(fakes=True)
    np.testing.assert_array_equal(front.run(trace, f, 2.0).value, f(2.0))


# ------------------------------------------------------------ modules
@pytest.fixture
def user_module(tmp_path):
    path = tmp_path / "settings_module.py"
    path.write_text(
        textwrap.dedent(
            """
            import numpy as np
            dt = 0.125
            def step(x, factor=np.arange(2.0)):
                return x * dt + factor + offset(x)
            def make(k):
                def inner(x):
                    return x + k + dt
                return inner
            plus = make(3.0)
            def offset(x):
                return 1
            """
        )
    )
    spec = importlib.util.spec_from_file_location("settings_module", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_attributes_of_user_modules_are_reads(front, user_module):
    def f(x):
        return x * user_module.dt

    assert paths_of(front, f, 2.0)["closure:user_module.dt"] == "type"


def test_helpers_of_another_module_read_its_globals(front, user_module):
    step, plus = user_module.step, user_module.plus

    def f(x):
        return step(x) + plus(x)

    trace = front.FakeTrace(fakes=True)
    np.testing.assert_array_equal(front.run(trace, f, 2.0).value, f(2.0))
    paths = set(trace.paths())
    assert "closure:step.__globals__['dt']" in paths
    assert "closure:step.__globals__['offset']" in paths
    assert "closure:step.__defaults__[-1]" in paths
    assert "closure:plus.__closure__[0].cell_contents" in paths


def test_library_modules_are_read_natively(front):
    found = paths_of(front, lambda x: x + np.pi + np.linalg.norm([3.0, 4.0]), 1.0)
    assert set(found) == {"arg:x", "global:np"}


# ------------------------------------------------------------ refused
class Writer:
    def __init__(self):
        self.w = 1.0
        self.items = [1.0]
        self.table = {}

    def bump(self, x):
        self.w = x

    @property
    def level(self):
        return self.w

    @level.setter
    def level(self, value):
        self.w = value


WRITER = Writer()


def store_attr(x):
    WRITER.w = x


def store_attr_in_method(x):
    WRITER.bump(x)


def store_attr_in_setter(x):
    WRITER.level = x


def augment_attr(x):
    WRITER.w += x


def delete_attr(x):
    del WRITER.w


def store_by_name(x):
    setattr(WRITER, "w", x)  # noqa: B010


def store_item(x):
    CONFIG["lr"] = x


def store_item_of_argument(cfg):
    cfg["lr"] = 1


def augment_item(x):
    CONFIG["lr"] += x


def delete_item(x):
    del CONFIG["lr"]


def unpack_into_item(x):
    CONFIG["lr"], y = x, 1
    return y


def append(x):
    WRITER.items.append(x)


def append_unbound(x):
    list.append(WRITER.items, x)


def augment_alias(x):
    items = WRITER.items
    items += [x]


def update(x):
    WRITER.table.update(a=x)


def class_attribute(x):
    Writer.total = x


def module_attribute(x):
    np.total = x


def function_attribute(x):
    update.calls = x


@pytest.mark.parametrize(
    "fn",
    [
        store_attr,
        store_attr_in_method,
        store_attr_in_setter,
        augment_attr,
        delete_attr,
        store_by_name,
        store_item,
        augment_item,
        delete_item,
        unpack_into_item,
        append,
        append_unbound,
        augment_alias,
        update,
        class_attribute,
        module_attribute,
        function_attribute,
    ],
)
def test_writes_to_outside_objects_are_refused(front, fn):
    with pytest.raises(UnsupportedError, match=r"test_captures.py:\d+, in \w+: ") as info:
        front.run(front.FakeTrace(fakes=True), fn, 2.0)
    assert "outside" in str(info.value) or "writes" in str(info.value)
    assert (WRITER.w, WRITER.items, WRITER.table, CONFIG["lr"]) == (1.0, [1.0], {}, 0.1)


def test_writes_to_containers_in_arguments_are_refused(front):
    with pytest.raises(UnsupportedError, match="cfg"):
        front.run(front.FakeTrace(), store_item_of_argument, {"lr": 2})


def stores_into_arrays(x, out):
    out[0] = x
    out[1:] += 1
    CONFIG["layers"][0][1] = x
    local = [1]
    local.append(x)
    return local


def test_stores_into_traced_arrays_are_the_traces_business(front):
    out, before = np.zeros(3), CONFIG["layers"][0].copy()
    trace = front.FakeTrace(fakes=True)
    result = front.run(trace, stores_into_arrays, 5.0, out)
    np.testing.assert_array_equal(out, [5, 1, 1])
    assert len(result) == 2
    CONFIG["layers"][0][:] = before


UNREADABLE = {
    "deque": DEQUE,
    "iterator": COUNTER,
    "set": {1, 2},
    "dict": collections.OrderedDict(a=1),
    "array": array.array("d", [1.0]),
    "generator": (i for i in range(3)),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_containers_of_c_code_and_iterators_are_refused(front, name):
    value = UNREADABLE[name]

    def reads(x):
        return [v + x for v in value]

    def argument(value):
        return list(value)

    with pytest.raises(UnsupportedError, match="closure value"):
        front.run(front.FakeTrace(), reads, 1.0)
    with pytest.raises(UnsupportedError, match="value is a"):
        front.run(front.FakeTrace(), argument, value)


class Colour(enum.Enum):
    RED = 1


@pytest.mark.parametrize(
    "value", [decimal.Decimal("1.5"), Colour.RED, frozenset({1}), fractions.Fraction(1, 3)]
)
def test_values_that_c_code_reads_are_fixed(front, value):
    trace = front.FakeTrace()
    front.run(trace, lambda v: v, value)
    kind = "is" if isinstance(value, enum.Enum) else "equal"
    assert ("arg:v", kind) in [(str(c.path), c.kind.value) for c in trace.checks]


class Points:
    x = 1.0


POINTS = Points()


def matches(x):
    match POINTS:
        case Points(x=v):
            return v


def test_patterns_do_not_look_into_outside_objects(front):
    with pytest.raises(UnsupportedError, match="matches"):
        front.run(front.FakeTrace(), matches, 1.0)


def test_changed_values_are_seen_by_the_checks(front):
    def f(x):
        return x + 1 if SETTINGS.mode == "fast" else x

    trace = front.FakeTrace()
    front.run(trace, f, 1.0)
    (check,) = [c for c in trace.checks if str(c.path) == "global:SETTINGS.mode"]
    assert front.resolve(check.path, f, {}) == check.expected
    SETTINGS.mode = "slow"
    assert front.resolve(check.path, f, {}) != check.expected
    SETTINGS.mode = "fast"
