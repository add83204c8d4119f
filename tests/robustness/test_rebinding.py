"""What a function is may be bound anew while it is in use, and each call gives what Python gives.

Each row is a program and a way to rebind part of it, done once with the decorated form and once
with plain Python.

Regression: After ``old.__code__ = new.__code__``, as IPython's ``%autoreload`` has it, a decorated
function kept its old statements: the new one's entry stub asked the old one's launchers.
"""

from __future__ import annotations

import functools
import gc
import importlib
import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import pytest

from fusejit import fuse_jit
from fusejit.codegen.launcher import call_guard
from fusejit.warm_up import first_calls

pytestmark = pytest.mark.usefixtures("small_heap")

X = np.arange(1.0, 5.0)
Namespace = dict[str, Any]
Undo = Callable[[], object]
Rebind = Callable[[Namespace], Undo]

SOURCE = """
import functools
import numpy as np
factor = {factor}

@{decorate}
def compiled(x, k={factor}, *, w={factor}):
    return np.{ufunc}(x) * k + w

@{decorate}
def by_python(x, k={factor}, *, w={factor}):
    return x.astype(np.longdouble) * k + np.{ufunc}(w)

@{decorate}
def in_segments(x, k={factor}, *, w={factor}):
    y = np.{ufunc}(x)
    text = repr(y)
    return y * k + w + len(text)

@{decorate}
def raising(x, k={factor}, *, w={factor}):
    if k < 100:
        raise ValueError(f"{ufunc} {{k}} {{w}}")
    return x

def helper(x, k={factor}, *, w={factor}):
    return np.{ufunc}(x) - k * w

@{decorate}
def through_helper(x):
    return helper(x) * 2

@{decorate}
def through_decorated(x):
    return compiled(x) * 2

@{decorate}
def through_segments(x):
    return in_segments(x) * 2

@{decorate}
def through_two(x):
    return through_decorated(x) + 1

class Model:
    weight = {factor}

    @{decorate}
    def method(self, x, k={factor}, *, w={factor}):
        return np.{ufunc}(x) * self.weight + k * w

    @staticmethod
    @{decorate}
    def of_class(x, k={factor}):
        return np.{ufunc}(x) / k

    def plain(self, x):
        return np.{ufunc}(x) + self.weight

    @property
    def read(self):
        return self.weight * {factor}

model = Model()

def method(x):
    return model.method(x)

def of_class(x):
    return Model.of_class(x)

@{decorate}
def through_methods(x):
    return model.method(x) + model.plain(x) + model.read + Model.of_class(x)

def make(c, zoom):
    @{decorate}
    def inner(x, k={factor}, *, w={factor}):
        return np.{ufunc}(x) * c + zoom * k + w
    return inner

def make_outer(inner):
    @{decorate}
    def outer(x):
        return inner(x) * 3
    return outer

captured = make(2.0, 3.0)
outer = make_outer(captured)

@functools.wraps(compiled)
def wrapper(*args, **kwargs):
    return compiled(*args, **kwargs) - 1

@{decorate}
def through_wrapper(x):
    return wrapper(x) + 1

def a_partial(x):
    return bound(x)

bound = functools.partial(compiled, w={factor})
"""


def module(decorate: str, path: Path, *, is_new: bool) -> Namespace:
    """The names of one version of the source."""
    ufunc, factor = ("cos", 5.0) if is_new else ("sin", 2.0)
    text = SOURCE.format(decorate=decorate, ufunc=ufunc, factor=factor)
    file = path / f"{decorate}_{'new' if is_new else 'old'}.py"
    file.write_text(text)
    namespace: Namespace = {"__name__": file.stem, "fused": fused, "plain": plain}
    namespace["again"] = functools.partial(module, decorate, path, is_new=is_new)
    exec(compile(text, str(file), "exec"), namespace)
    return namespace


def fused(function: Callable[..., Any]) -> Any:
    return fuse_jit(function, warn=False)


def plain(function: Callable[..., Any]) -> Any:
    return function


# ------------------------------------------------------------------------------------ what rebinds
REBOUND = ("compiled", "by_python", "in_segments", "raising", "helper", "captured")
METHODS = ("method", "of_class", "plain")
PARTS = ("__code__", "__defaults__", "__kwdefaults__")


def targets(names: Namespace) -> list[Any]:
    """The functions that are rebound, methods too."""
    of_class = [vars(names["Model"])[name] for name in METHODS]
    return [names[n] for n in REBOUND] + [getattr(f, "__func__", f) for f in of_class]


def each(*parts: str) -> Callable[[Namespace, Namespace], Undo]:
    """Assigns parts of each new function to the old one."""

    def rebind(old: Namespace, new: Namespace) -> Undo:
        saved = []
        for function, other in zip(targets(old), targets(new), strict=True):
            for part in parts:
                saved.append((function, part, getattr(function, part)))
                setattr(function, part, getattr(other, part))
        return lambda: [setattr(*entry) for entry in saved]

    return rebind


def autoreload(old: Namespace, new: Namespace) -> Undo:
    """As ``IPython.extensions.autoreload.update_function``; the new functions are no more."""
    saved = []
    names = ("__code__", "__defaults__", "__doc__", "__closure__", "__globals__", "__dict__")
    for function, other in zip(targets(old), targets(new), strict=True):
        for name in names:
            before = getattr(function, name)
            try:
                setattr(function, name, getattr(other, name))
            except (AttributeError, TypeError):
                continue
            saved.append((function, name, before))
    new.clear()
    gc.collect()
    return lambda: [setattr(*entry) for entry in saved]


def in_memory(old: Namespace, new: Namespace) -> Undo:
    """As IPython 9 does first: it writes cells into functions, and the undecorated ones before."""
    patching = pytest.importorskip("IPython.extensions.deduperreload.deduperreload_patching")
    patch = patching.DeduperReloaderPatchingMixin.patch_function

    def assign(names: Namespace) -> None:
        for function, other in zip(targets(old), targets(names), strict=True):
            patch(function, getattr(other, "__wrapped__", other), False)
            patch(function, other, False)

    assign(new)
    return lambda: assign(old["again"]())


def wrapped(old: Namespace, new: Namespace) -> Undo:
    """Attributes alone, which tell nothing of what runs."""
    saved = [(f, dict(f.__dict__)) for f in targets(old)]
    for function, other in zip(targets(old), targets(new), strict=True):
        functools.update_wrapper(function, other)
    return lambda: [f.__dict__.update(before) for f, before in saved]


def cleared(old: Namespace, new: Namespace) -> Undo:
    saved = [(f, dict(f.__dict__)) for f in targets(old)]
    for function in targets(old):
        function.__dict__ = {}
    return lambda: [f.__dict__.update(before) for f, before in saved]


def cells(old: Namespace, new: Namespace) -> Undo:
    function = old["captured"]
    free = dict(zip(function.__code__.co_freevars, function.__closure__, strict=True))
    cell = free.get("zoom") or next(
        c for c in function.__closure__ if type(c.cell_contents) is float and c.cell_contents == 3
    )
    cell.cell_contents = 7.0
    return lambda: setattr(cell, "cell_contents", 3.0)


def swapped(old: Namespace, new: Namespace) -> Undo:
    """Two functions of one module with one parameter list."""

    def swap() -> None:
        a, b = old["compiled"], old["in_segments"]
        a.__code__, b.__code__ = b.__code__, a.__code__

    swap()
    return swap


def names_patched(old: Namespace, new: Namespace) -> Undo:
    patch = mock.patch.dict(old, {name: new[name] for name in ("compiled", "helper", "bound")})
    patch.start()
    return patch.stop


def class_patched(old: Namespace, new: Namespace) -> Undo:
    names = (*METHODS, "read", "weight")
    patch = mock.patch.multiple(old["Model"], **{n: vars(new["Model"])[n] for n in names})
    patch.start()
    return patch.stop


def code_patched(old: Namespace, new: Namespace) -> Undo:
    context = pytest.MonkeyPatch()
    for function, other in zip(targets(old), targets(new), strict=True):
        context.setattr(function, "__code__", other.__code__)
    return context.undo


def class_of_object(old: Namespace, new: Namespace) -> Undo:
    model, before = old["model"], old["Model"]
    model.__class__ = new["Model"]
    return lambda: setattr(model, "__class__", before)


def once_more(old: Namespace, new: Namespace) -> Undo:
    """Two edits without a call in between."""
    first = autoreload(old, dict(new))
    second = code_patched(old, new)
    return lambda: (second(), first())


REBINDINGS: dict[str, Callable[[Namespace, Namespace], Undo]] = {
    "code": each("__code__"),
    "defaults": each("__defaults__"),
    "keyword defaults": each("__kwdefaults__"),
    "code and defaults": each(*PARTS),
    "defaults, then code": each(*PARTS[::-1]),
    "attributes": each("__dict__"),
    "attributes and code": each("__dict__", "__code__"),
    "no attributes": cleared,
    "autoreload": autoreload,
    "two edits": once_more,
    "in memory": in_memory,
    "update_wrapper": wrapped,
    "a cell": cells,
    "two codes swapped": swapped,
    "names by mock.patch": names_patched,
    "a class by mock.patch": class_patched,
    "code by monkeypatch": code_patched,
    "the class of an object": class_of_object,
}
PROGRAMS = (
    *REBOUND[:-2],
    *("captured", "outer", "method", "of_class", "through_helper", "through_decorated"),
    *("through_segments", "through_two", "through_methods", "through_wrapper", "a_partial"),
)


def outcome(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except ValueError as error:
        return str(error)


def calls(names: Namespace, program: str) -> list[Any]:
    """What some calls give: like each other, and with arguments that are given."""
    function = names[program]
    results = [outcome(function, X) for _ in range(3)]
    if program in REBOUND:
        results += [outcome(function, X, 4.0), outcome(function, X, w=6.0), outcome(function, X)]
    return results


def assert_like(ours: list[Any], pythons: list[Any]) -> None:
    for one, other in zip(ours, pythons, strict=True):
        if isinstance(other, str):
            assert one == other
        else:
            np.testing.assert_allclose(one, other, rtol=1e-13)


TIERS = {
    "jitted": ("0", ["old"]),  # kernels compare words in memory
    "unjitted": ("0", ["none", "old", "both"]),  # launchers ask
    "by Python": ("1", ["none", "both"]),  # the statements serve calls, behind a guard
    "unwatched": ("1", ["old", "both"]),  # the same, without one
    "disabled": ("0", ["old"]),
}


@pytest.mark.parametrize(
    ("tier", "known"), [(tier, known) for tier, (_, each) in TIERS.items() for known in each]
)
@pytest.mark.parametrize("rebinding", REBINDINGS)
def test_each_call_gives_what_python_gives(
    rebinding: str, tier: str, known: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before and after, with calls before of none, of the old ones, or of both; and back again."""
    monkeypatch.setenv("FUSEJIT_TIERING", TIERS[tier][0])
    monkeypatch.setenv("FUSEJIT_UNJITTED", "1" if tier == "unjitted" else "0")
    monkeypatch.setenv("FUSEJIT_DISABLE", "1" if tier == "disabled" else "0")
    versions = {
        name: [module(name, tmp_path, is_new=is_new) for is_new in (False, True)]
        for name in ("fused", "plain")
    }
    (ours, new), (pythons, _) = versions["fused"], versions["plain"]
    before = [calls(pythons, program) for program in PROGRAMS]
    if tier == "unwatched":
        monkeypatch.setattr(first_calls, "SETTLED", 1)
        monkeypatch.setattr(call_guard, "FEW_LOOKS", 2)
        monkeypatch.setattr(call_guard, "MANY_LOOKS", 2)
        monkeypatch.setattr(first_calls, "FIRST_UNWATCHED", 1)
    for names in {"none": (), "old": (ours,), "both": (ours, new)}[known]:
        for program in PROGRAMS * (8 if tier == "unwatched" else 1):
            calls(names, program)
    undo = [REBINDINGS[rebinding](*pair) for pair in versions.values()]
    after = [calls(pythons, program) for program in PROGRAMS]
    assert rebinding in UNSEEN or any(map(differ, before, after))
    for program, expected in zip(PROGRAMS, after, strict=True):
        assert_like(calls(ours, program), expected)
    for each_undo in undo:
        each_undo()
    for program, expected in zip(reversed(PROGRAMS), reversed(before), strict=True):
        assert_like(calls(ours, program), expected)


UNSEEN = ("attributes", "no attributes", "update_wrapper")


def differ(ones: list[Any], others: list[Any]) -> bool:
    return any(not np.array_equal(a, b) for a, b in zip(ones, others, strict=True))


# ------------------------------------------------------------------------------- other parameters
def test_other_parameters_and_their_order() -> None:
    def old(x: Any, k: float = 2.0) -> Any:
        return x * k

    def new(k: Any, shift: float, *rest: Any, x: float = 1.0) -> Any:
        return k - shift + len(rest) * x

    decorated, other = fuse_jit(old), fuse_jit(new)
    decorated(X)
    decorated.__code__ = other.__code__
    decorated.__defaults__, decorated.__kwdefaults__ = other.__defaults__, other.__kwdefaults__
    for _ in range(2):
        np.testing.assert_array_equal(decorated(X, 1.0, 5, 6, x=3.0), new(X, 1.0, 5, 6, x=3.0))
        np.testing.assert_array_equal(decorated(shift=1.0, k=X), new(X, 1.0))
    with pytest.raises(TypeError):
        decorated(X)


def test_what_is_told_is_of_the_new_statements() -> None:
    def old(x: Any) -> Any:
        return np.sin(x)

    def new(x: Any) -> Any:
        return np.cos(x)

    decorated = fuse_jit(old)
    decorated(X)
    decorated.__code__ = fuse_jit(new).__code__
    assert "cos" in decorated.explain(X)
    assert "cos" in str(decorated.trace(X))
    np.testing.assert_allclose(decorated(X), new(X))


def test_hot_functions_compare_no_more_in_python() -> None:
    """The code of an entry stub is a word that the kernel compares."""

    def program(x: Any) -> Any:
        return np.sin(x) * 2

    decorated: Any = fuse_jit(program)
    decorated(X)
    assert "__code__" not in decorated.variants[0].launcher.text


# ------------------------------------------------------------------------------ a module's edition
@pytest.fixture
def imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    write(tmp_path / "edited_while_in_use.py", "np.sin(x) * k", 2.0)
    yield importlib.import_module("edited_while_in_use")
    del sys.modules["edited_while_in_use"]


def write(path: Path, expression: str, k: float) -> None:
    path.write_text(
        "import numpy as np\nfrom fusejit import fuse_jit\n"
        f"def helper(x, k={k}):\n    return {expression}\n"
        f"@fuse_jit\ndef f(x, k={k}):\n    return {expression} + helper(x)\n"
        "@fuse_jit\ndef g(x):\n    return f(x) + 1\n"
    )


def test_a_module_is_reloaded(imported: ModuleType, tmp_path: Path) -> None:
    """Old functions have the new globals at once, and new statements when those are assigned."""
    assert imported.__file__ is not None
    old_f, old_g = imported.f, imported.g
    for at, (expression, k) in enumerate([("np.cos(x) - k", 5.0), ("x / k", 3.0)]):
        before, helped = old_f.__wrapped__, imported.helper
        first = before(X) - helped(X)
        old_f(X)
        old_g(X)
        write(Path(imported.__file__), expression, k)
        importlib.invalidate_caches()
        importlib.reload(imported)
        second = imported.helper(X)
        for _ in range(2):
            np.testing.assert_allclose(old_f(X), first + second)
            np.testing.assert_allclose(imported.f(X), 2 * second)
            np.testing.assert_allclose(old_g(X), imported.f(X) + 1)
        for old, new in ((old_f, imported.f), (old_g, imported.g)):
            old.__code__, old.__defaults__ = new.__code__, new.__defaults__
            old.__dict__ = new.__dict__
        for function in itertools.chain([old_f, imported.f] * 2):
            np.testing.assert_allclose(function(X), 2 * second)
        assert at in (0, 1)
