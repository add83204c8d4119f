# ruff: noqa: C416, RUF012, UP031, F842, F821
"""The rewritten form of a function does what the function does."""

from __future__ import annotations

import ast
import contextlib
import dis
import functools
import importlib.util
import itertools
import linecache
import math
import textwrap
import traceback
import types
import warnings
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest

from fusejit.support.tracebacks import strip_all_frames
from fusejit.tracer.rewriting.rewrite_function import rewrite_node
from fusejit.tracer.rewriting.rewritten_function import rewritten_function
from fusejit.tracer.source.source_text import (
    _functions_by_line,
    compile_function,
    find_source,
    same_code,
)

SCALE = 3
TABLE = {"lr": 0.5, "n": [1, 2, 3]}
Point = namedtuple("Point", "x y")


# ------------------------------------------------------------ functions of every statement kind
def arithmetic(a, b=2, *, c=3):
    return -a + b * c - a**b / c // 1 % 7, a @ np.eye(2) if False else ~a, a << 2 & 6 | 1 ^ 3


def globals_and_builtins(x):
    return SCALE * len(TABLE["n"]) + max(x, TABLE["lr"]) + math.pi + abs(-x)


def shadowed(x):
    SCALE = x
    len = lambda items: 99  # noqa: E731
    return SCALE + len([1])


def shadowed_by_parameter(abs, *max, **min):
    return abs, max, min


def unbound_local(x):
    if x:
        SCALE = 1
    return SCALE


def undefined_global():
    return 1 + no_such_name


def comprehensions(xs):
    a = [x * SCALE for x in xs if x]
    b = {x: [y for y in range(x)] for x in xs}
    c = {(x, y) for x in xs for y in xs if x < y}
    d = sum(x for x in xs for _ in xs)
    return a, b, sorted(c), d, list(map(lambda x, s=SCALE: x + s, xs))


def comprehension_scope():
    x = "outer"
    items = [x for x in range(3)]
    return x, items, [len for len in range(2)], len(items)


def class_scopes():
    x = 1

    class A:
        y = x
        x = 5
        z = x
        first = [i for i in range(x)]
        SCALE = SCALE
        __private = 7

        def get(self, default=y):
            return x, self.x, default, self.__private

        @property
        def prop(self):
            return self.y + 1

        @staticmethod
        def static(v):
            return v * SCALE

        @classmethod
        def make(cls):
            return cls()

    a = A.make()
    a.w = 4
    a.w += 1
    return a.get(), a.z, A.first, a.prop, A.static(2), a.w, A.SCALE, A.__name__, A.__qualname__


def walrus(xs):
    if (n := len(xs)) > 2:
        doubled = [last := x * 2 for x in xs]
        return n, doubled, last
    return n


def nested(x):
    total = 0

    def add(v, factor=x):
        nonlocal total
        total += v * factor
        return total

    def twice(f):
        return lambda v: f(f(v))

    add(1)
    return twice(add)(2), total


def nested_decorated(x):
    def times(k):
        def wrap(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return k * f(*args, **kwargs)

            return inner

        return wrap

    @times(3)
    @times(2)
    def f(a, *, b):
        "doc"
        return a + b

    return f(x, b=1), f.__doc__, f.__name__


def generators(n):
    def gen(k):
        for i in range(k):
            got = yield i
            if got:
                yield got * 100

    g = gen(n)
    out = [next(g), g.send(3), *g]
    return out, sum(i * i for i in gen(n)), list(chain_all(gen(2), gen(1)))


def chain_all(*many):
    for one in many:
        yield from one


def stars(xs, table):
    def f(*args, a=0, **kwargs):
        return args, a, kwargs

    first, *rest = xs
    *start, last = (*xs, 9)
    merged = {**table, "z": 1}
    return f(*xs, *rest, a=first, **merged), start, last, [*xs, *rest], {*xs} == set(xs)


def duplicate_keyword(table):
    def f(**kwargs):
        return kwargs

    return f(a=1, **table)


def wrong_arguments():
    def f(a, b):
        return a

    return f(1)


def helper_wrong_arguments():
    return two_arguments(1)


def two_arguments(a, b):
    return a, b


def try_finally(x):
    log = []
    try:
        try:
            log.append("try")
            value = 1 / x
        except ZeroDivisionError as error:
            log.append(str(error))
            raise ValueError("zero") from error
        else:
            log.append("else")
        finally:
            log.append("finally")
    except (ValueError, KeyError) as e:
        return log, e.args, type(e.__cause__).__name__
    return log, value


def raises_in_loop(n):
    for i in range(n):
        if i == 2:
            raise KeyError(
                i,
            )


def multi_line_error(x):
    return (
        x
        + 1
        + None
    )  # fmt: skip


def attribute_error(x):
    y = x
    return y.no_such_attribute


def with_statement(x):
    with np.errstate(all="ignore"), contextlib.nullcontext([]) as log:
        log.append(x)
    return log


def loops(n):
    out = []
    i = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > n:
            break
        out.append(i)
    for a, (b, *c) in [(1, (2, 3)), (4, (5, 6, 7))]:
        out += [a, b, c]
    else:
        out.append("else")
    for out[0] in range(3):
        pass
    return out


def stores(n):
    x = [0] * n
    x[0], x[1:3] = 5, [6, 7]
    x[-1] += 10
    y = {"a": {"b": x}}
    y["a"]["b"][0] *= 2
    y["a"]["c"] = z = [1]
    z.append(2)
    del y["a"]["b"][1], z[0]
    a = b = x
    a[0] = 1
    del b
    return x, y, z, x[::-1], x[1:][::2]


def augmented_order():
    log = []

    def note(v):
        log.append(v)
        return v

    items = {0: 1}
    items_of = lambda: (note("object"), items)[1]  # noqa: E731
    items_of()[note(0)] += note(5)
    (items_of()[note(1)],) = (note(7),)
    return items, log


def match_statement(x):
    match x:
        case 0 | 1:
            return "small"
        case [a, *rest] if rest:
            return a, rest
        case {"k": v, **others}:
            return v, others
        case str() as s:
            return s
        case Point(x=0, y=yy):
            return "point", yy
        case math.pi:
            return "pi"
        case _:
            return None


def f_strings(x, width=8):
    return f"{x!r:>{width}} {SCALE=} {TABLE['lr']:.2f} {'nested ' + f'{x}'} {{}}", "%d" % x


def annotated(x: no_such_type) -> no_such_type:
    y: int = x
    z: undefined_annotation
    w: list[int] = [y]
    w[0]: int = 4
    return w


def lambdas(x):
    return (lambda a, *b, c=x, **d: (a, b, c, d))(1, 2, e=SCALE)


def star_index(x):
    idx = (0, slice(1))
    return {(0, slice(None).stop): 1}[0, None], idx, [1, 2, 3][idx[1]]


def ternary_and_bool(x):
    return (x or SCALE) and (not x), 1 < x <= 3, x in [1, 2], x is not None, "a" if x else "b"


def import_inside(x):
    import math as m
    from itertools import chain, repeat

    return m.sqrt(x), list(chain([1], repeat(2, 2)))


def higher_order(xs):
    by = {"key": lambda v: -v}
    return (
        sorted(xs, key=negative),
        max(xs, **by),
        list(filter(None, xs)),
        functools.reduce(two_sum, xs),
        list(itertools.accumulate(xs, two_sum)),
        functools.partial(two_arguments, b=1)(2),
    )


def negative(v):
    return -v


def two_sum(a, b):
    return a + b + SCALE - 3


def delete_local():
    a = 1
    del a
    return a


def recursion(n):
    return 1 if n < 2 else n * recursion(n - 1)


def exception_group(x):
    try:
        raise ExceptionGroup("g", [ValueError(x), TypeError("t")])
    except* ValueError as group:
        out = [str(e) for e in group.exceptions]
    except* TypeError:
        pass
    return out


def chained(x):
    return "a-b c".replace("-", " ").split()[0].upper().join(["1", str(x)])


def non_ascii(größe):
    π = "äöü" + str(größe)
    return π + "→" + größe.fehlt


def continuation(x):
    y = x + \
        1 + \
        x.missing  # fmt: skip
    return y


def multi_line_call(x):
    return two_arguments(
        x,
    )


def multi_line_chain(x):
    return (
        x.upper()
        .lower()
        .missing
    )  # fmt: skip


def multi_line_method(x):
    return (
        x.upper()
        .lower()
        .join(
            1,
        )
    )


CASES = [
    (multi_line_call, (1,)),
    (multi_line_chain, ("a",)),
    (multi_line_method, ("a",)),
    (arithmetic, (3,)),
    (arithmetic, (3, 1)),
    (globals_and_builtins, (2,)),
    (shadowed, (4,)),
    (shadowed_by_parameter, (1, 2, 3)),
    (unbound_local, (0,)),
    (unbound_local, (1,)),
    (undefined_global, ()),
    (comprehensions, ([0, 1, 2, 3],)),
    (comprehension_scope, ()),
    (class_scopes, ()),
    (walrus, ([1, 2, 3],)),
    (walrus, ([1],)),
    (nested, (5,)),
    (nested_decorated, (5,)),
    (generators, (4,)),
    (stars, ([1, 2, 3], {"q": 1})),
    (duplicate_keyword, ({"a": 1},)),
    (wrong_arguments, ()),
    (helper_wrong_arguments, ()),
    (try_finally, (0,)),
    (try_finally, (2,)),
    (raises_in_loop, (5,)),
    (multi_line_error, (1,)),
    (attribute_error, (1,)),
    (with_statement, (1,)),
    (loops, (9,)),
    (stores, (5,)),
    (augmented_order, ()),
    *((match_statement, (x,)) for x in (0, [1, 2], [1], {"k": 1, "l": 2}, "s", math.pi, 2.5)),
    (f_strings, (12,)),
    (annotated, (1,)),
    (lambdas, (1,)),
    (star_index, (1,)),
    (ternary_and_bool, (2,)),
    (ternary_and_bool, (0,)),
    (import_inside, (4,)),
    (higher_order, ([3, 0, 1],)),
    (delete_local, ()),
    (recursion, (10,)),
    (exception_group, (1,)),
    (chained, (7,)),
    (non_ascii, (1,)),
    (continuation, (1,)),
]


def outcome(call):
    """The result, or the exception with the user's frames: function, line, caret columns."""
    try:
        return ("returned", call())
    except Exception as error:
        strip_all_frames(error)
        frames = traceback.extract_tb(error.__traceback__)
        # of a method call over several lines CPython marks the method's name
        user = [
            (f.name, f.lineno, *((f.colno, f.end_colno) if f.lineno == f.end_lineno else ()))
            for f in frames
            if f.name != "outcome"
        ]
        skip = ("<lambda>", "run", "run_traced")
        text = str(error).replace("FunctionPrimitives.call()", "f()")
        return ("raised", type(error), text, [f for f in user if f[0] not in skip])


@pytest.mark.parametrize(("fn", "args"), CASES, ids=lambda v: getattr(v, "__name__", None))
def test_staged_function_does_the_same(front, fn, args):
    assert rewritten_function(fn).note is None
    trace = front.FakeTrace()
    native = outcome(lambda: fn(*args))
    traced = outcome(lambda: front.run(trace, fn, *args))
    if fn is duplicate_keyword:  # Python names the function it was about to call
        assert traced[:2] == native[:2] == ("raised", TypeError)
        return
    assert repr(traced) == repr(native)


def test_lambda_is_found_by_position(front):
    pair = (lambda x: x + SCALE, lambda x: x + SCALE, lambda x: x - SCALE)
    for fn in pair:
        trace = front.FakeTrace()
        assert rewritten_function(fn).note is None
        assert front.run(trace, fn, 1) == fn(1)
        assert "global:SCALE" in trace.paths()


def decorator(factor):
    def wrap(f):
        @functools.wraps(f)
        def inner(*args):
            return factor * f(*args)

        return inner

    return wrap


@decorator(
    factor=2,
)
@decorator(3)
def stacked(x):
    return x + SCALE


def test_stacked_decorators_stage_the_outermost_function(front):
    trace = front.FakeTrace()
    assert front.run(trace, stacked, 1) == 24
    assert (
        rewritten_function(stacked).code.co_name == "inner"
    )  # not the function behind __wrapped__
    inner = "closure:f.__closure__[0].cell_contents"
    assert [str(c.path) for c in trace.checks if c.kind.value == "code"] == ["closure:f", inner]
    assert "global:SCALE" in trace.paths()


def make_counter():
    count = 10

    def set_count(v):
        nonlocal count
        count = v

    def read(x):
        return x + count

    return read, set_count


def test_cells_that_change_later_are_read_again(front):
    read, set_count = make_counter()
    assert front.run(front.FakeTrace(), read, 1) == 11
    set_count(20)
    assert front.run(front.FakeTrace(), read, 1) == 21


class Base:
    def scaled(self, x):
        return x * 2


class Derived(Base):
    __secret = 5

    def scaled(self, x):
        return super().scaled(x) + self.__secret + len(__class__.__name__)

    def implicit(self, x, *, k=SCALE):
        return Derived.scaled(self, x) + k


def test_methods_super_and_private_names(front):
    obj = Derived()
    trace = front.FakeTrace()
    assert front.run(trace, Derived.scaled, obj, 3) == obj.scaled(3)
    assert "arg:self._Derived__secret" in trace.paths()
    assert front.run(front.FakeTrace(), Derived.implicit, obj, 3) == obj.implicit(3)


# ------------------------------------------------------------ source and bytecode
def load_module(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_module(tmp_path, text, name="user_module"):
    path = tmp_path / f"{name}.py"
    path.write_text(textwrap.dedent(text), encoding="utf8")
    return path, load_module(path, name)


@pytest.mark.parametrize(
    "edited",
    [
        "def f(x):\n    return x + 2\n",
        "\n\ndef f(x):\n    return x + 1\n",
        "def f(x):\n    return x + 1.0\n",
        "def f(x):\n    return x + True\n",
        "def f(x, y=1):\n    return x + 1\n",
        "def g(x):\n    return x + 1\n",
        "def f(x:\n",
        "",
    ],
)
def test_edited_source_is_refused(tmp_path, front, edited):
    path, module = write_module(tmp_path, "def f(x):\n    return x + 1\n")
    path.write_text(edited, encoding="utf8")
    linecache.clearcache()
    form = rewritten_function(module.f)
    assert form.code is None
    assert "traced plainly" in form.note
    trace = front.FakeTrace()
    assert front.run(trace, module.f, 1) == 2  # what was compiled, not what is written
    assert trace.notes == [form.note]


def test_edit_elsewhere_in_the_file_is_harmless(tmp_path):
    path, module = write_module(tmp_path, "def f(x):\n    return x + 1\n")
    path.write_text("def f(x):\n    return x + 1\n\ndef g(): pass\n", encoding="utf8")
    assert rewritten_function(module.f).note is None


def test_equal_code_in_two_files_keeps_its_file(tmp_path):
    text = "def f(x):\n    return x + 1\n"
    _, one = write_module(tmp_path, text, "one")
    _, two = write_module(tmp_path, text, "two")
    assert rewritten_function(one.f).code.co_filename.endswith("one.py")
    assert rewritten_function(two.f).code.co_filename.endswith("two.py")


def test_code_from_a_string_has_no_source(front):
    namespace = {}
    exec("def f(x):\n    return x + 1", namespace)
    assert "no source" in rewritten_function(namespace["f"]).note
    assert front.run(front.FakeTrace(), namespace["f"], 2) == 3


def test_notebook_cell(front):
    name = "<ipython-input-7-abc>"
    text = "scale = 4\ndef f(x):\n    return x * scale\n"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace = {}
    exec(compile(text, name, "exec"), namespace)
    trace = front.FakeTrace()
    assert front.run(trace, namespace["f"], 2) == 8
    assert (trace.notes, trace.paths()) == ([], ["arg:x", "global:scale"])
    del linecache.cache[name]


def test_tabs_nesting_and_dedented_strings(tmp_path, front):
    _, module = write_module(
        tmp_path,
        '''
        class Outer:
        \tclass Inner:
        \t\tdef f(self, x):
        \t\t\ttext = """
        no indent
        \t"""
        \t\t\treturn text + str(x), __name__

        def factory(k):
        \tif k:
        \t\tdef made(x): return x + k; return None
        \t\treturn made
        ''',
    )
    obj = module.Outer.Inner()
    assert front.run(front.FakeTrace(), module.Outer.Inner.f, obj, 1) == obj.f(1)
    made = module.factory(3)
    trace = front.FakeTrace()
    assert front.run(trace, made, 1) == 4
    assert "closure:k" in trace.paths()


def test_the_name_of_the_callbacks_is_nobody_s(tmp_path, front):
    _, module = write_module(tmp_path, "_st = 5\ndef f(_st0):\n    return _st + _st0 + abs(-1)\n")
    assert rewritten_function(module.f).helper not in ("_st", "_st0")
    assert front.run(front.FakeTrace(), module.f, 1) == 7
    assert set(vars(module)) >= {"_st", "f"}
    assert module._st == 5


def test_future_annotations_and_flags(tmp_path, front):
    _, module = write_module(
        tmp_path,
        """
        from __future__ import annotations
        def f(x):
            def g(a: missing) -> missing: return a
            return g(x), g.__annotations__
        """,
    )
    assert front.run(front.FakeTrace(), module.f, 1) == (1, {"a": "missing", "return": "missing"})


def test_nothing_is_assigned_into_the_module(tmp_path, front):
    _, module = write_module(tmp_path, "def f(x):\n    return abs(x)\n")
    before = dict(vars(module))
    front.run(front.FakeTrace(), module.f, 1)
    assert dict(vars(module)) == before


def codes_in(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from codes_in(constant)


@pytest.mark.parametrize("module", [ast, contextlib, functools, traceback, dis, warnings, np.lib])
def test_names_are_classified_as_the_compiler_does(module):
    """On whole modules: unrewritten code is reproduced, rewritten code reads no global natively."""
    with open(module.__file__, encoding="utf8") as file:
        text = file.read()
    index = _functions_by_line(module.__file__, text)
    seen = 0
    for code in codes_in(compile(text, module.__file__, "exec", dont_inherit=True)):
        candidates = index.get((code.co_firstlineno, code.co_name), ())
        sources = [c for c in candidates if same_code(compile_function(c, c.node, code), code)]
        if not candidates:
            continue  # class bodies and comprehensions
        assert sources, code
        node, helper = rewrite_node(sources[0], code.co_freevars)
        new = compile_function(sources[0], node, code, (helper,))
        native = {
            instruction.argval
            for inner in (new, *codes_in(new))
            for instruction in dis.get_instructions(inner)
            if instruction.opname in ("LOAD_GLOBAL", "STORE_GLOBAL")
        }
        assert native <= {"super", *declared_globals(node)}, (code, native)
        assert set(new.co_freevars) <= {*code.co_freevars, helper}
        seen += 1
    assert seen or module is np.lib


def declared_globals(node):
    """Names that `global` statements declare: their stores are refused."""
    return {n for part in ast.walk(node) if isinstance(part, ast.Global) for n in part.names}


def test_source_of_asserts_rewritten_by_pytest():
    def f(x):
        assert x
        return x

    source = find_source(f)
    assert not isinstance(source, str)
    assert ast.unparse(source.node.body[0]) == "assert x"


@dataclass
class Config:
    rate: float = 0.5
    items: list = field(default_factory=list)


def dataclass_user(x):
    c = Config(x)
    d = Config(items=[x])
    c.rate += 1
    return c.rate, c.items, d.items


def test_dataclass_constructor(front):
    assert front.run(front.FakeTrace(), dataclass_user, 2) == dataclass_user(2)
