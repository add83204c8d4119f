# ruff: noqa: B007
"""What calls do in a trace: handled, inlined, native or refused."""

from __future__ import annotations

import functools
import math
import random
import sys
import time
import types

import numpy as np
import pytest

from fusejit.api import fuse_jit
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit.support.tracebacks import strip_all_frames
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import current_location

RNG = np.random.default_rng(0)
OFFSET = 10.0
NUMBERS = [3, 1, 2]
WEIGHTS = {"w": np.arange(3.0)}


def line_of(fn, text):
    """The line of the user's function that contains ``text``."""
    code = fn.__code__
    with open(code.co_filename, encoding="utf8") as file:
        for number, line in enumerate(file, 1):
            if number > code.co_firstlineno and text in line:
                return number
    raise AssertionError(text)


def refused(front, fn, *args, traced=True, **handlers):
    with pytest.raises(UnsupportedError) as info:
        front.run(front.FakeTrace(fakes=traced), fn, *args)
    return str(info.value)


# ------------------------------------------------------------ handlers
def uses_exp(x):
    return np.exp(x) + np.exp(0.0)


def test_handler_and_not_implemented(front):
    seen = []

    def handler(x):
        seen.append(x)
        return "handled" if isinstance(x, front.FakeTraced) else NotImplemented

    trace = front.FakeTrace(fakes=True, handlers={np.exp: handler})
    with pytest.raises(TypeError, match="str"):
        front.run(trace, uses_exp, 1.0)
    assert [type(s) for s in seen] == [front.FakeTraced, float]


def uses_max(xs):
    return max(xs, key=lambda v: v + OFFSET), len([xs[0]])


def test_handlers_of_builtins_fall_back_to_python(front):
    no = lambda *args, **kwargs: NotImplemented  # noqa: E731
    trace = front.FakeTrace(handlers={max: no, len: no})
    assert front.run(trace, uses_max, [1, 5, 2]) == (5, 1)
    traced = front.FakeTrace(fakes=True, handlers={len: no})
    assert front.run(traced, lambda x: len([x, x]), 1.0) == 2


def static_numpy(x):
    return np.arange(3) * 1.0, np.float32(2), np.dtype("f4"), np.pi, np.finfo(np.float32).eps, x


def test_arrays_made_statically_become_constants(front):
    trace = front.FakeTrace(fakes=True)
    result = front.run(trace, static_numpy, 1.0)
    assert isinstance(result[0], front.FakeTraced)
    assert [a.tolist() for a in trace.constants] == [[0, 1, 2]]
    assert result[1:5] == (np.float32(2), np.dtype("f4"), np.pi, np.finfo(np.float32).eps)


def split_statically(x):
    return np.meshgrid(np.linspace(0, 1, 2).value, 3)


def test_arrays_in_results_of_static_calls_become_constants(front):
    trace = front.FakeTrace(fakes=True)
    a, b = front.run(trace, split_statically, 1.0)
    assert isinstance(a, front.FakeTraced)
    assert isinstance(b, front.FakeTraced)


# ------------------------------------------------------------ refused
def prints(x):
    y = x
    print(y)
    return y


def reads_clock(x):
    return x * time.perf_counter()


def draws(x):
    return x + np.random.rand()


def draws_generator(x):
    return x + RNG.normal()


def draws_python(x):
    return x + random.random()


def opens(x):
    with open("x") as f:
        return f.read()


def evaluates(x):
    return eval("x + 1")


def unknown_numpy(x):
    return np.fft.fft(x)


def saves(x):
    return np.savetxt("x", [1])


def seeds(x):
    np.random.seed(1)
    return x


def imports_user_module(x):
    import some_user_module  # noqa: F401

    return x


def imports_relative(x):
    from . import sibling  # noqa: F401

    return x


def raising_errstate(x):
    with np.errstate(all="raise"):
        return x


def identity(x):
    return id(x)


def statement_global(x):
    global OFFSET
    OFFSET = x
    return x


def augmented_global(x):
    global OFFSET
    OFFSET += x


def loop_global(x):
    global OFFSET
    for OFFSET in [1]:
        pass


def walrus_global(x):
    global OFFSET
    return (OFFSET := x)


def def_global(x):
    global OFFSET

    def OFFSET():
        pass


def import_global(x):
    global OFFSET
    import math as OFFSET


def except_global(x):
    global OFFSET
    try:
        raise ValueError
    except ValueError as OFFSET:  # noqa: F841
        pass


def match_global(x):
    global OFFSET
    match 1:
        case OFFSET:
            pass


def delete_global(x):
    global OFFSET
    del OFFSET


def outer_cell():
    count = 0

    def bump(x):
        nonlocal count
        count += 1
        return x

    return bump


def formats(x):
    return f"{[x]}"


def formats_percent(x):
    return "%s %r" % (1, x)  # noqa: UP031


def formats_method(x):
    return "{a}".format(a={"b": x})


def formats_repr(x):
    return repr(x) + str(1)


CASES = [
    *(
        (f, "return", "makes text")
        for f in (formats, formats_percent, formats_method, formats_repr)
    ),
    (prints, "print(y)", "print"),
    (reads_clock, "perf_counter", "time.perf_counter"),
    (draws, "np.random.rand", "rand"),
    (draws_generator, "RNG.normal", "normal"),
    (draws_python, "random.random", "random"),
    (opens, "open(", "open"),
    (evaluates, "eval(", "eval"),
    (unknown_numpy, "fft", "numpy.fft.fft"),
    (saves, "savetxt", "numpy.savetxt"),
    (seeds, "seed", "seed"),
    (imports_user_module, "import some", "imports some_user_module"),
    (imports_relative, "from .", "imports ."),
    (raising_errstate, "errstate", "np.errstate"),
    (identity, "id(", "calls id"),
    (statement_global, "OFFSET = x", "global name 'OFFSET'"),
    (augmented_global, "OFFSET += x", "global name 'OFFSET'"),
    (loop_global, "for OFFSET", "global name 'OFFSET'"),
    (walrus_global, "OFFSET := x", "global name 'OFFSET'"),
    (def_global, "def OFFSET", "global name 'OFFSET'"),
    (import_global, "as OFFSET", "global name 'OFFSET'"),
    (except_global, "as OFFSET", "global name 'OFFSET'"),
    (match_global, "case OFFSET", "global name 'OFFSET'"),
    (delete_global, "del OFFSET", "global name 'OFFSET'"),
    (outer_cell(), "count += 1", "nonlocal name 'count'"),
]


@pytest.mark.parametrize(("fn", "text", "name"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_effects_are_refused_with_the_users_line(front, fn, text, name):
    before = OFFSET
    message = refused(front, fn, 2.0)
    assert name in message
    assert f"{__file__}:{line_of(fn, text)}, in {fn.__name__}: " in message
    assert before == OFFSET


def swallows(x):
    try:
        print(x)
    except Exception:
        return 0
    try:
        return x.kaput
    except:  # noqa: E722
        return 1


def test_except_does_not_swallow_what_stops_the_trace(front):
    assert "print" in refused(front, swallows, 1.0)


@pytest.mark.parametrize("stop", [Fallback("x"), ConcretizationError("y"), UnsupportedError("z")])
def test_no_error_of_the_tracer_is_swallowed(front, stop):
    def handler(x):
        raise stop

    trace = front.FakeTrace(handlers={abs: handler})
    with pytest.raises(type(stop)):
        front.run(trace, catches_all, 1.0)


def catches_all(x):
    try:
        return abs(x)
    except Exception:
        return None


# ------------------------------------------------------------ inlining
def helper(x, w=OFFSET, *, k=2):
    return scaled(x) + w * k


def scaled(x):
    return x * OFFSET


def uses_helper(x):
    return helper(x) + helper(x, 1, k=3)


def test_helpers_are_inlined_and_their_reads_recorded(front):
    trace = front.FakeTrace()
    assert front.run(trace, uses_helper, 2.0) == uses_helper(2.0)
    paths = trace.paths()
    assert {"global:helper", "global:scaled", "global:OFFSET"} <= set(paths)
    assert "global:helper.__defaults__[-1]" in paths
    assert "global:helper.__kwdefaults__['k']" in paths
    assert len(paths) == len(set(paths))


class Layer:
    gain = np.float64(4.0)

    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return self.apply(x) + self.bias

    def apply(self, x):
        return x * self.w * self.gain

    @property
    def bias(self):
        return OFFSET + self.w

    @classmethod
    def made(cls, w):
        return cls(w)

    @staticmethod
    def twice(x):
        return x * 2 + OFFSET

    def __getitem__(self, key):
        return self.w + key

    @functools.cached_property
    def cached(self):
        return self.w * OFFSET


LAYER = Layer(3.0)


def uses_layer(x):
    return LAYER(x) + LAYER[1] + Layer.twice(x)


def test_callable_instances_methods_and_properties(front):
    trace = front.FakeTrace(fakes=True)
    assert front.run(trace, uses_layer, 2.0).value == uses_layer(2.0)
    paths = set(trace.paths())
    assert {"global:LAYER", "global:LAYER.w", "global:LAYER.gain", "global:OFFSET"} <= paths
    code = {str(c.path) for c in trace.checks if c.kind.value == "code"}
    assert any(p.endswith("__dict__['__call__']") for p in code)
    assert any(p.endswith("__dict__['bias'].fget") for p in code)
    assert any(p.endswith("__dict__['__getitem__']") for p in code)
    assert {"global:LAYER.__class__.twice", "global:LAYER.apply.__func__"} <= code


def makes_layer(x):
    layer = Layer.made(x)
    layer.w = layer.w + 1
    return layer(2) + layer.cached + layer.cached


def test_instances_made_in_the_trace(front):
    trace = front.FakeTrace(fakes=True)
    assert front.run(trace, makes_layer, 2.0).value == makes_layer(2.0)
    assert "global:Layer.__dict__['gain']" in trace.paths()


def uses_self(self, x):
    return self.w * x + self.bias


def test_argument_objects_are_read_by_path(front):
    trace = front.FakeTrace(fakes=True)
    assert front.run(trace, uses_self, Layer(5.0), 2.0).value == 25.0
    assert {"arg:self", "arg:self.w"} <= set(trace.paths())


def uncached(x):
    return LAYER.cached * x


def test_cached_property_of_an_outside_object_is_a_write(front):
    assert "cached" in refused(front, uncached, 1.0)


@functools.lru_cache
def memoised(x):
    return x + OFFSET


PARTIAL = functools.partial(scaled)
PARTIAL_WITH = functools.partial(helper, w=WEIGHTS["w"], k=1)


def uses_wrappers(x):
    return memoised(x) + PARTIAL(x) + functools.partial(helper, x, w=1)() + PARTIAL_WITH(x)


def test_partial_and_lru_cache_are_seen_through(front):
    trace = front.FakeTrace(fakes=True)
    result = front.run(trace, uses_wrappers, 2.0)
    np.testing.assert_array_equal(result.value, uses_wrappers(2.0))
    assert "global:PARTIAL_WITH.keywords['w']" in trace.paths()


def timer(f):
    @functools.wraps(f)  # copies the attributes of f as well
    def inner(*args):
        return f(*args) + OFFSET

    return inner


DECORATED = fuse_jit(scaled)
TIMED = timer(DECORATED)


def uses_decorated(x):
    return DECORATED(x) + TIMED(x)


def test_decorated_functions_are_traced_into(front):
    trace = front.FakeTrace()
    assert front.run(trace, uses_decorated, 2.0) == 50.0
    assert "global:DECORATED.__wrapped__" in trace.paths()
    assert not DECORATED.variants.compiled  # the compiled form did not run


class Child(Layer):
    gain = 7.0

    def apply(self, x):
        return super().apply(x) + super().gain * x + super().bias

    def same(self, other):
        return self is other


CHILD = Child(2.0)


def test_super_is_followed(front):
    def f(x):
        return CHILD.apply(x) + Child(x).apply(x)

    trace = front.FakeTrace(fakes=True)
    assert front.run(trace, f, 3.0).value == f(3.0)
    read = {str(c.path): c.kind.value for c in trace.checks}
    assert read["global:CHILD.__class__.__mro__[1].__dict__['apply']"] == "code"
    assert read["global:CHILD.__class__.__mro__[1].__dict__['gain']"] == "type"


def test_identity_of_arguments_is_checked(front):
    trace = front.FakeTrace()
    assert front.run(trace, Child.same, CHILD, CHILD) is True
    assert [c for c in trace.checks if str(c.path) == "arg:self" and c.kind.value == "is"]


def test_stored_bound_methods_are_checked(front):
    def f(step, x):
        return step(x)

    trace = front.FakeTrace()
    assert front.run(trace, f, LAYER.apply, 2.0) == LAYER.apply(2.0)
    read = {str(c.path): c.kind.value for c in trace.checks}
    assert read["arg:step.__func__"] == "code"
    assert {"arg:step.__self__", "arg:step.__self__.w"} <= set(read)


def recursive_with_default(n, w=WEIGHTS["w"]):
    return w if n == 0 else recursive_with_default(n - 1) + 1


def test_default_values_of_the_traced_function_in_a_recursion(front):
    trace = front.FakeTrace()
    result = front.run(trace, recursive_with_default, 2)
    np.testing.assert_array_equal(result, recursive_with_default(2))
    assert "global:recursive_with_default.__defaults__[-1]" in trace.paths()


def test_closures_of_a_plain_factory_are_looked_at(front):
    namespace = {}
    exec("def make(k):\n    def inner(x):\n        return x + k\n    return inner", namespace)
    make, from_outside = namespace["make"], namespace["make"](np.ones(2))

    def f(x):
        return make, from_outside(x)

    assert "closure k" in refused(front, f, 1.0)


def endless(n):
    return endless(n + 1)


def test_recursion_without_end(front):
    message = refused(front, endless, 0)
    assert "endless" in message
    assert "calls itself more than" in message


def callbacks(xs):
    return list(map(scaled, xs)), sorted(xs, key=by_offset), xs[:].sort(key=by_offset)


def by_offset(v):
    return -v * OFFSET


def test_functions_called_back_from_c_are_staged(front):
    trace = front.FakeTrace()
    assert front.run(trace, callbacks, [1.0, 2.0]) == callbacks([1.0, 2.0])
    assert "global:OFFSET" in trace.paths()


# ------------------------------------------------------------ unhooked user code
class Vec:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vec(self.x + OFFSET)

    def __iter__(self):
        return iter([OFFSET])

    def __len__(self):
        return int(OFFSET)

    def __enter__(self):
        return OFFSET

    def __exit__(self, *args):
        return False


VEC = Vec(1.0)


def with_vec(x):
    with VEC as v:
        return v * x


@pytest.mark.parametrize(
    "fn",
    [
        lambda x: (VEC + 1).x,
        lambda x: [v for v in VEC],  # noqa: C416
        lambda x: [*Vec(x)],
    ],
)
def test_special_methods_that_python_calls_are_traced(front, fn):
    trace = front.FakeTrace()
    assert front.run(trace, fn, 1.0) == fn(1.0)
    assert "global:OFFSET" in trace.paths()


class Key:
    def __hash__(self):
        return int(OFFSET)

    def __eq__(self, other):
        return OFFSET > 0

    def __format__(self, text):
        return str(OFFSET)


KEY = Key()


@pytest.mark.parametrize(
    ("fn", "name"),
    [
        (lambda x: f"{KEY}", "__format__"),
        (lambda x: {KEY: x}, "__hash__"),
        (lambda x: [Key()].count(x), "__eq__"),
    ],
)
def test_special_methods_that_python_calls_are_noticed(front, fn, name):
    message = refused(front, fn, 1.0)
    assert name in message
    assert f"{__file__}:{fn.__code__.co_firstlineno}" in message
    assert sys.getprofile() is None


def test_context_managers_in_python_are_noticed(front):
    assert "__enter__" in refused(front, with_vec, 1.0)


def test_functions_of_numbers_are_not_watched(front, monkeypatch):
    """The profile hook makes a trace slower by a third."""
    started = []
    monkeypatch.setattr(sys, "setprofile", lambda function: started.append(function is not None))
    front.run(front.FakeTrace(), scaled, 1.0)
    front.run(front.FakeTrace(), lambda x: sum(x * k for k in range(3)) + len((1, 2)), 1.0)
    assert not any(started)
    front.run(front.FakeTrace(), lambda x: (VEC, x)[1], 1.0)
    assert started == [True, False]
    front.run(front.FakeTrace(), lambda x: len({scaled: x}), 1.0)
    assert started == [True, False]
    front.run(front.FakeTrace(), lambda x: len(list(map(scaled, [x]))), 1.0)
    assert started == [True, False] * 2


def test_an_active_profiler_is_left_alone(front):
    profiler = lambda *args: None  # noqa: E731
    sys.setprofile(profiler)
    try:
        front.run(front.FakeTrace(), scaled, 1.0)
        assert sys.getprofile() is profiler
    finally:
        sys.setprofile(None)


# ------------------------------------------------------------ plain tracing
def plain(text, **names):
    namespace = {"np": np, "math": math, **names}
    exec(text, namespace)
    return namespace["f"]


def test_plain_tracing_guards_what_it_reads(front):
    fn = plain("k = 3\ndef g(x): return x + k\ndef f(x): return g(np.abs(x)) + math.pi + len('a')")
    trace = front.FakeTrace()
    assert front.run(trace, fn, 2.0) == fn(2.0)
    kinds = {str(c.path): c.kind.value for c in trace.checks}
    assert kinds == {
        "arg:x": "equal",
        "global:np": "is",
        "global:math": "is",
        "global:len": "absent",
        "global:g": "code",
        "global:k": "equal",
    }
    assert len(trace.notes) == 1


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("w = np.ones(3)\ndef f(x): return x + w", "global w"),
        ("w = [1]\ndef f(x): return x + w[0]", "global w"),
        ("def f(x): return x + np.random.rand()", "random"),
        ("def f(x): print(x)", "print"),
        ("def f(x):\n    global y\n    y = x", "'y'"),
        ("import time\ndef f(x): return time.time()", "time"),
        ("w = np.ones(3)\ndef g(x): return x + w\ndef f(x): return g(x)", "global w"),
        ("class C: pass\nc = C()\ndef f(x): return c.w", "global c"),
        ("def f(x):\n    import user_module", "user_module"),
        ("def o(w):\n    def f(x): return x + w\n    return f\nf = o(np.ones(2))", "closure w"),
        (
            "def o(w):\n    def f(x):\n        nonlocal w\n        w = x\n    return f\nf=o(1)",
            "'w'",
        ),
    ],
)
def test_plain_tracing_refuses_what_it_would_bake_in(front, text, match):
    assert match in refused(front, plain(text), 1.0)


def test_plain_tracing_refuses_attributes_of_arguments(front):
    fn = plain("def f(obj): return obj.w")
    assert "obj" in refused(front, fn, Layer(1.0))


# ------------------------------------------------------------ places and errors
PLACES = []


def notes_place(x):
    return mark(x)


def mark(x):
    return abs(
        x,
    )


def test_locations_name_the_inlined_calls(front):
    def handler(x):
        PLACES.append(current_location())
        return x

    # the handler stands for code of fusejit, so its own frame must not be reported
    handler = types.FunctionType(
        handler.__code__.replace(co_filename=strip_all_frames.__code__.co_filename), globals()
    )
    front.run(front.FakeTrace(handlers={abs: handler}), notes_place, 1.0)
    place = PLACES.pop()
    assert (place.file, place.function) == (__file__, "mark")
    assert place.line == line_of(mark, "abs(")
    assert place.inlined_from.function == "notes_place"
    assert place.inlined_from.line == line_of(notes_place, "mark(x)")
    assert place.inlined_from.inlined_from is None


def fails(x):
    return inner_failure(x)


def inner_failure(x):
    value = {"a": 1}
    return value["b"]


def test_tracebacks_keep_only_the_users_frames(front):
    with pytest.raises(KeyError) as info:
        front.run(front.FakeTrace(), fails, 1.0)
    strip_all_frames(info.value)
    frames = []
    entry = info.value.__traceback__
    while entry is not None:
        frames.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    assert frames[-2:] == [
        ("fails", line_of(fails, "inner_failure(x)")),
        ("inner_failure", line_of(inner_failure, 'value["b"]')),
    ]
    assert "call" not in [name for name, _ in frames]


def test_var_arguments(front):
    def f(a, /, b, *args, c, d=4, **kwargs):
        return a, b, args, c, d, kwargs

    call = ((1, 2, 3, 4), {"c": 5, "e": 6})
    assert front.run(front.FakeTrace(), f, *call[0], **call[1]) == f(*call[0], **call[1])
