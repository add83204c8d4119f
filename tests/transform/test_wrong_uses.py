"""Wrong uses of schedules: each raises an error that names the argument.

Regression: `tile(i=4.5)`, `interchange(["j", "i"])`, recipes that return None, `schedule(f)` and
`tune(rows=8)` ended in an AttributeError or in "a fault of fusejit", and a compiled schedule did
not say which argument had another dtype.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.errors import UnsupportedError
from fusejit.transform import Handle, Parts, Schedule, ScheduleError, load_recipe, schedule, tune
from fusejit_testing.compare import assert_same

A, B = np.arange(48.0).reshape(8, 6), np.ones((6, 5))
X = np.ones((8, 6))


def layer(a: Any, b: Any) -> Any:
    return np.maximum(a @ b + 1.0, 0.0)


def exp(a: Any) -> Any:
    return np.exp(a) + 1


def ops() -> list[Handle]:
    s = schedule(layer, A, B)
    image, kernel = np.ones((1, 8, 2)), np.ones((3, 2, 4))
    conv = schedule(lambda x, k: linalg.conv_1d_nwc_wcf(x, k), image, kernel)
    return [
        s["maximum"],
        s["matmul"].generalize(),
        s["maximum"].tile(i=2),
        conv["conv_1d_nwc_wcf"],
    ]


OPS = ops()
NUMBERS = [None, 4.5, True, 0, -1, 3, 10**30, np.float64(2), np.int64(2), math.nan, math.inf, 1j]
TEXTS = ["4", "", "i j", "nope", b"i"]
OBJECTS = [[], ["i"], ["i", 3], ("i", "j"), {"i": 1}, np.ones(2), object(), len, Parts(0)]
OBJECTS += [Parts("3"), OPS[0].schedule, OPS[0]]  # type: ignore[arg-type]
PRIMITIVES = {n: f for n, f in vars(Handle).items() if not n.startswith("_")}


def calls_with(
    primitive: Callable[..., Any], dim: str
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Each argument of a primitive in turn, of each kind; the others as they should be."""
    _, *parameters = inspect.signature(primitive).parameters.values()
    needed = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty]
    for p in parameters:
        for value in (*NUMBERS, *TEXTS, *OBJECTS):
            if p.kind is p.VAR_POSITIONAL:
                yield [value], {}
                yield [[value, dim]], {}
            elif p.kind is p.VAR_KEYWORD:
                yield ["a" for _ in needed], {dim: value}
            else:
                given: dict[str, Any] = {q.name: "a" for q in needed} | {p.name: value}
                if any(q.kind is q.VAR_KEYWORD for q in parameters):
                    given[dim] = 2
                yield [], given


@pytest.mark.parametrize("name", PRIMITIVES)
def message_of(step: Callable[[], Any]) -> str:
    """What a step raises; empty if the arguments are right."""
    try:
        step()
    except ScheduleError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", PRIMITIVES)
def test_every_primitive_with_every_kind_of_argument(name: str) -> None:
    messages = []
    for handle in OPS:
        step = getattr(handle, name)
        for args, keywords in calls_with(PRIMITIVES[name], handle.dims[0]):
            messages.append(message_of(lambda: step(*args, **keywords)))  # noqa: B023
    assert any(messages) or name == "to_library"
    for message in filter(None, messages):
        assert message.startswith((f"{name}(", "no op is", "this op is of another"))
        assert "fault of fusejit" not in message
        assert len(message) < 800


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (lambda h: h.tile(i=4.5), r"tile\(i=4.5\) of exp: i is 4.5; it is a whole number"),
        (lambda h: h.tile(i="4"), r"tile\(i='4'\) of exp: i is '4'; it is a whole number"),
        (lambda h: h.tile(i=True), "i is True; it is a whole number"),
        (lambda h: h.tile(i=Parts(2.5)), "i is Parts\\(2.5\\); it is a whole number"),
        (lambda h: h.tile(i=2, reassociate="no"), "reassociate is 'no'; it is True or False"),
        (lambda h: h.tile(i=2).fuse(3), "producers is 3; it is one text with names of ops"),
        (lambda h: h.interchange(["j", 1]), "order is .'j', 1.; it is one text with names"),
        (lambda h: h.rematerialize(None), "producer is None; it is the name of an op"),
        (lambda h: h.winograd(tolerance=0), "tolerance is 0; it is a number above 0"),
        (lambda h: h.promote("a", at=3), "at is 3; it is one name"),
    ],
)
def test_arguments_are_named(step: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(ScheduleError, match=message):
        step(schedule(exp, X)["exp"])


def test_numbers_of_arguments() -> None:
    h: Any = schedule(exp, X)["exp"]
    with pytest.raises(TypeError, match=r"vectorize: missing .* 'dim'; it is vectorize\(dim: "):
        h.vectorize()
    with pytest.raises(TypeError, match="fuse: got an unexpected keyword argument 'i'"):
        h.fuse(i=3)
    with pytest.raises(TypeError, match=r'tile is a step of an op: s\["add"\].tile'):
        Handle.tile(h.schedule, i=3)


def test_names_in_every_form() -> None:
    h: Any = schedule(exp, X)["exp"]

    t, m = h.tile(i=2, j=2), schedule(lambda a: np.max(a[:3, :3]), X)["max"]

    def logged(step: Any) -> Any:
        return step.schedule.steps[-1].call, str(step.schedule.graph.block)

    for forms in (
        [h.collapse("i", "j"), h.collapse("i j"), h.collapse(["i", "j"]), h.collapse(("i", "j"))],
        [h.interchange("j i"), h.interchange("j", "i"), h.interchange(["j", "i"])],
        [h.no_fuse("exp", "add"), h.no_fuse("exp add"), h.no_fuse([h, h["add"]])],
        [t.threads("i.0", "j.0"), t.threads("i.0 j.0"), t.threads(["i.0", "j.0"])],
        [m.unroll_reduction("i", "j"), m.unroll_reduction("i j"), m.unroll_reduction(["i", "j"])],
    ):  # fmt: skip
        assert len({logged(form)[0] for form in forms}) == 1
    tiled = h["add"].tile(i=2)
    assert_same(
        [logged(tiled.fuse(given))[0] for given in ("exp", h, ["exp"], [h], ("exp",))],
        ["fuse('exp')"] * 5,
    )
    assert logged(h["add"].rematerialize(h))[0] == "rematerialize('exp')"
    assert logged(h.tile(i=np.int64(2)))[0] == "tile(i=2)"


def test_schedules_of_wrong_things() -> None:
    make: Any = schedule
    with pytest.raises(TypeError, match=r"schedule\(exp, ..\) traces a call.* argument: 'a'"):
        make(exp)
    for wrong in (5, np.exp, "exp"):
        with pytest.raises(TypeError, match="schedule takes a Python function, not"):
            make(wrong, X)
    with pytest.raises(TypeError, match="options is 3"):
        make(exp, X, options=3)
    with pytest.raises(UnsupportedError, match="exp has no graph for these arguments: NumPy rais"):
        make(exp, None)


class Holder:
    @fuse_jit
    def scaled(self, x: Any) -> Any:
        return x * 2


def test_schedule_of_a_bound_method() -> None:
    holder = Holder()
    assert_same(schedule(holder.scaled, X).compile()(holder, X), X * 2)


def test_calls_of_compiled_schedules_name_the_argument() -> None:
    def scaled(a: Any, b: Any, flag: Any = True, n: Any = 3) -> Any:
        a[0] = 1
        return a + b * (n if flag else 2)

    run = schedule(scaled, A.copy(), A).compile()
    assert_same(run(A.copy(), b=A), scaled(A.copy(), A))
    read_only = A.copy()
    read_only.flags.writeable = False
    fortran = np.asfortranarray(A)
    for args, why in (
        ((A.astype("f4"), A), "a is float32.2. contiguous, and was float64.2. contiguous"),
        ((A.copy(), A[0]), "b is float64.1. contiguous, and was float64.2. contiguous"),
        ((A.copy(), fortran), r"b is float64.2. contiguous, axes in order \(1, 0\), and was"),
        ((A.copy(), A.tolist()), "b is of type list, and was float64.2. contiguous"),
        ((read_only, A), "a is read-only, and the function writes into it"),
        ((A.copy(), A, False), "flag is False, and was True"),
        ((A.copy(), A, True, 2.5), "n is of type float, and was of type int"),
        ((A.copy(), A[:3]), r"a.shape.0. == b.shape.0. is false"),
    ):
        with pytest.raises(ScheduleError, match=f"the call is not like the traced one: {why}"):
            run(*args)
    with pytest.raises(TypeError, match=r"scaled.* missing a required argument: 'b'"):
        run(A)
    with pytest.raises(TypeError, match=r"scaled.* too many positional arguments"):
        run(A, A, True, 3, A)


def test_methods_of_schedules() -> None:
    s: Any = schedule(exp, X)
    for wrong in ("x", 9, -2, 1.5):
        with pytest.raises(ScheduleError, match=f"there is no step {wrong!r}: 0 to 0"):
            s.show(wrong)
    assert s.show(0) == s.show()
    for wrong in ("x", 0, -1, True, 2.5):
        with pytest.raises(ValueError, match=f"rounds is {wrong!r}; it is a whole number"):
            s.time(rounds=wrong)
    for wrong in ("a", -1, math.nan):
        with pytest.raises(ValueError, match=f"tolerance is {wrong!r}; it is a number, at least"):
            s.verify(tolerance=wrong)
    for call in (s.verify, s.time, s.table):
        with pytest.raises(TypeError, match="too many positional arguments"):
            call(X, X)
    for key in (3, None, ("exp", "add")):
        with pytest.raises(TypeError, match="an op is found by its name or by a handle, not by"):
            s[key]
    with pytest.raises(TypeError, match="found by its name"):
        list(s)
    with pytest.raises(AttributeError, match=r"tile is a step of an op .* s\['exp'\], s\['add'\]"):
        s.tile(i=2)
    with pytest.raises(AttributeError, match=r"compile is a method of the schedule: .schedule"):
        s["exp"].compile()
    assert repr(s["exp"].tile(i=2)) == "<op exp of <schedule of exp, 1 steps>, dims i j>"


@pytest.mark.parametrize("is_whole", [False, True])
def test_recipes_that_return_something_else(is_whole: bool) -> None:
    other = schedule(exp, X)
    for recipe, shown in (
        (lambda s: None, "None"),
        (lambda s: [s], r"\[<schedule of exp, 0 steps>\]"),
        (lambda s: other, "another schedule"),
    ):
        with pytest.raises(
            TypeError,
            match=f"the recipe <lambda> returns the schedule or one of its ops, not {shown}",
        ):
            fuse_jit(schedule=recipe, fullgraph=is_whole)(exp)(X)


def test_wrong_recipes() -> None:
    decorate: Any = fuse_jit
    for wrong in (3, True, b"x", [exp], schedule(exp, X)):
        with pytest.raises(TypeError, match="is neither a recipe nor the path of one"):
            decorate(schedule=wrong)
    with pytest.raises(TypeError, match="compile_seconds='3' is not a number of seconds"):
        decorate(compile_seconds="3")


def by_rows(s: Schedule, rows: int = 2) -> Handle:
    return s["add"].tile(i=rows)


def test_wrong_uses_of_tune(tmp_path: Path) -> None:
    run: Any = tune
    with pytest.raises(TypeError, match=r"rows is 8; give the values to try, as in rows=\[8\]"):
        run(by_rows, (X,), function=exp, rows=8)
    with pytest.raises(TypeError, match=r"rows is 'ab'; give the values to try"):
        run(by_rows, (X,), function=exp, rows="ab")
    with pytest.raises(ValueError, match="rows has no values"):
        run(by_rows, (X,), function=exp, rows=[])
    with pytest.raises(TypeError, match=r"args is array\(.*; give the arguments of a call: \(x,\)"):
        run(by_rows, X, function=exp, rows=[2])
    with pytest.raises(TypeError, match="recipe is 3; it is a function of a schedule"):
        run(3, (X,), function=exp, rows=[2])
    with pytest.raises(TypeError, match="schedule takes a Python function, not 3"):
        run(by_rows, (X,), function=3, rows=[2])
    with pytest.raises(TypeError, match="the recipe <lambda> returns the schedule or one of its"):
        run(lambda s, rows: None, (X,), function=exp, rows=[2])
    found = run(by_rows, (X,), function=exp, rounds=1, rows=(n for n in (2, 3)))
    assert sorted(c.parameters["rows"] for c in found.candidates) == [2, 3]
    with pytest.raises(ScheduleError, match="is no file of a recipe"):
        load_recipe(3)  # type: ignore[arg-type]
