"""Stores that overlap what they read: right at every size around blocks and bands, and in order."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fusejit import fuse_jit
from fusejit.codegen.lower import row_blocks
from fusejit_testing.oracle import decorate


def program(body: str, parameters: str) -> Callable[..., Any]:
    """A function made of text, with source that fusejit can read."""
    text = f"def f({parameters}):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    name = f"<overlap {abs(hash(text))}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def assert_same(function: Callable[..., Any], *args: Any, jit: bool = False) -> Any:
    """NumPy and fusejit leave the same in the arguments and return the same."""
    ours = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    decorated = decorate(function, jit=jit)
    result, expected = decorated(*ours), function(*theirs)
    assert not decorated.variants.fallbacks, decorated.variants.fallbacks
    for mine, numpys in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine, numpys)
    if expected is not None:
        np.testing.assert_array_equal(result, expected)
    return decorated


def source(function: Callable[..., Any], *args: Any) -> str:
    """The generated text of all kernels."""
    return fuse_jit(function).trace(*args).fuse().lower().source


@pytest.fixture
def _tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of 4 elements, and bands wherever there are two."""
    monkeypatch.setattr(row_blocks, "BLOCK_POINTS", 4)
    monkeypatch.setattr(row_blocks, "SERIAL_POINTS", 1)
    monkeypatch.setattr(row_blocks, "ROW_BLOCK_POINTS", 8)
    monkeypatch.setattr(row_blocks, "ROW_BLOCK_EDGES", 2)


def window(offset: int, reach: int) -> str:
    """A slice that is shorter than its axis by ``2 * reach``, ``offset`` from the middle."""
    start, stop = reach + offset, offset - reach
    return f"{start}:{stop or ''}"


@st.composite
def overlapping(draw: st.DrawFn) -> tuple[str, int, int]:
    """A store of windows into the array they are taken from: text, rank, reach."""
    rank = draw(st.integers(1, 3))
    reach = draw(st.sampled_from((1, 2, 3, 5) if rank == 1 else (1, 2)))
    offsets = st.lists(st.integers(-reach, reach), min_size=rank, max_size=rank)
    written = ", ".join(window(draw(st.integers(-reach, reach)), reach) for _ in range(rank))
    reads = [
        "x[" + ", ".join(window(o, reach) for o in draw(offsets)) + "]"
        for _ in range(draw(st.integers(1, 3)))
    ]
    if rank > 1 and draw(st.booleans()):  # another order along the last axis
        reads[0] = reads[0][:-1] + "][" + ":, " * (rank - 1) + "::-1]"
    statement = f"x[{written}] = 2 * " + " - ".join(reads)
    if draw(st.booleans()):
        statement = f"for k in range(3):\n    {statement}"
    return statement, rank, reach


@pytest.mark.usefixtures("_tiny")
@settings(max_examples=60, deadline=None)
@given(overlapping(), st.data())
def test_windows_of_one_array(made: tuple[str, int, int], data: st.DataObject) -> None:
    text, rank, reach = made
    shape = [data.draw(st.integers(2 * reach, 2 * reach + (40, 14, 7)[rank - 1]))]
    shape += [data.draw(st.integers(2 * reach, 2 * reach + 5)) for _ in range(rank - 1)]
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(float)
    if data.draw(st.booleans()):
        x = np.asfortranarray(x)
    assert_same(program(text, "x"), x)


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("n", [4, 5, 7, 8, 9, 12, 13, 31, 32, 33, 100])
def test_sizes_around_blocks(n: int) -> None:
    x = np.random.default_rng(n).standard_normal((n, 3))
    assert_same(program("x[2:-2] = x[:-4] + x[1:-3] * x[4:]", "x"), x)
    assert_same(program("x[2:-2] = x[:-4] + x[1:-3] * x[4:]", "x"), x[:, 0])
    assert_same(program("x[1:-1] = np.exp(-abs(x[2:] + x[:-2]))", "x"), x)


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("shift", [-9, -3, -1, 0, 1, 2, 5, 30])
def test_shifts_that_only_the_call_knows(shift: int) -> None:
    x = np.arange(40.0) ** 2
    text = """
for k in range(3):
    a = max(s, 0)
    b = max(-s, 0)
    x[a:len(x) - b] = x[a:len(x) - b] + x[b:len(x) - a]
"""
    assert_same(program(text, "x, s"), x, shift)


@pytest.mark.usefixtures("_tiny")
def test_running_totals_by_doubling() -> None:
    text = """
y = x.copy()
shift = 1
while shift < len(y):
    y[shift:] = y[shift:] + y[:-shift]
    shift *= 2
return y
"""
    for n in (1, 2, 9, 64, 65):
        assert_same(program(text, "x"), np.arange(float(n)))


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize("text", ["x[1:] -= x[:-1]", "x[1:-1] = x[2:] - x[:-2]"])
def test_where_a_mask_chooses(text: str) -> None:
    x, m = np.arange(30.0), np.arange(30) % 3 == 0
    target, value = text.split("=")
    target = target.rstrip(" -")
    masked = f"t = {target}\nt[m[:len(t)]] = ({value.strip()})[m[:len(t)]]"
    assert_same(program(masked, "x, m"), x, m)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[1:] -= x[:-1]", "s0 - d0 - 2"),
        ("x[1:-1] = x[2:] + x[:-2]", "h0_lag"),
        ("x[:, 1:-1] = x[:, 2:] + x[:, :-2]", "h0_lag"),
        ("x += x.T", "p_t0 = heap_scratch"),
        ("x[::2] = x[1::2]", ""),
    ],
)
def test_what_is_generated(text: str, expected: str) -> None:
    x = np.ones((8, 8)) if "T" in text or "," in text else np.ones(8)
    generated = source(program(text, "x"), x)
    assert expected in generated
    is_full = "heap_scratch" in generated and "h0_lag" not in generated
    assert is_full == expected.startswith("p_t0")


def test_nothing_is_allocated_in_a_time_step() -> None:
    steps = "for k in range(n):\n    u[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1]\n    u += u.T"
    lines = source(program(steps, "u, n"), np.ones((8, 8)), 3).splitlines()
    loop = next(at for at, line in enumerate(lines) if line.lstrip().startswith("for at0"))
    allocations = [at for at, line in enumerate(lines) if "heap_scratch" in line]
    assert allocations
    assert all(at < loop for at in allocations)


def test_jitted_in_bands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_blocks, "ROW_BLOCK_POINTS", 512)
    monkeypatch.setattr(row_blocks, "SERIAL_POINTS", 512)
    text = (
        "for k in range(n):\n"
        "    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])\n"
        "    u[1:, 0] -= u[:-1, 0]"
    )
    u = np.random.default_rng(0).standard_normal((700, 300))
    assert_same(program(text, "u, n"), u, 5, jit=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[1:] -= x[:-1]", "runs backwards"),
        ("x[1:] = x[:-1]", "runs backwards"),
        ("x[:-1] = x[1:]", "runs forwards, in one piece"),
        ("x[1:-1] = x[2:] + x[:-2]", "a ring of 2 rows"),
        ("x[2:-1] = x[3:] + x[:-3]", "a ring of 2 rows"),
        ("x[:] = x[::-1]", "a copy of the whole value: it reads rows other than"),
    ],
)
def test_explain_says_how(text: str, expected: str) -> None:
    decorated = decorate(program(text, "x"), jit=False)
    decorated(np.ones(9))
    explained = str(decorated.explain(np.ones(9), detail=True))
    assert "stores that overlap what they read" in explained
    assert expected in explained


@pytest.mark.usefixtures("_tiny")
@pytest.mark.parametrize(
    "text",
    [
        "x[1:] = x[:-1]",
        "x[:-3] = x[3:]",
        "x[:] = x[::-1]",
        "x[1:] = x[0]",
        "x[2:][m[2:]] = x[:-2][m[2:]]",
    ],
)
def test_moves_within_an_array(text: str) -> None:
    assert_same(program(text, "x, m"), np.arange(30.0), np.arange(30) % 3 == 0)


ROTATING = {
    "two": "b, c = 2 * x * b - c, b\nx[0] += 1",
    "three": "a, b, c = a + x * c, a, b",
    "spare": "b = np.minimum(b, b[::-1] + c)\nc = c[::-1] + b",
    "spare and chain": "b, c = b[::-1] - c[::-1], b",
    "beside a store": "x[1:] = x[:-1] + b[1:]\nb, c = b * c - x, b",
    "read by another": "b, c = b - c, b\na = b + a",
    "scalars too": "s, b = b[0], b[::-1] + s",
}


@pytest.mark.parametrize("name", ROTATING)
@pytest.mark.parametrize("trips", [0, 1, 2, 3, 6])
@pytest.mark.parametrize("results", ["a, b, c", "a * 1 + b + c", "b.T"])
def test_arrays_that_pass_their_contents_on(name: str, trips: int, results: str) -> None:
    body = ROTATING[name].replace("\n", "\n    ")
    text = f"""
s = x[0] * 1
a, b, c = x + 1, x - 2, x * 3
for k in range(n):
    {body}
r = {results}
return r
"""
    x = np.random.default_rng(1).integers(-3, 3, 7).astype(float)
    decorated = decorate(program(text, "x, n"), jit=False)
    for n in (trips, 4):
        mine, numpys = x.copy(), x.copy()
        result, expected = decorated(mine, n), program(text, "x, n")(numpys, n)
        np.testing.assert_array_equal(mine, numpys)
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("jit", [False, True])
def test_arrays_that_pass_their_contents_on_in_nested_loops(jit: bool) -> None:
    text = """
b, c, d = x + 1, x * 2, x - 1
for k in range(n):
    for j in range(k + 2):
        b, c = 0.5 * x * b - c, b
    e = b + k
    for j in range(n):
        e = np.maximum(e, e[::-1] - d)
    d = e - d[::-1]
return b, c, d
"""
    assert_same(program(text, "x, n"), np.linspace(-1, 1, 9), 5, jit=jit)


def test_what_rotates_is_not_copied() -> None:
    text = "b, c = x + 1, x * 2\nfor k in range(n):\n    b, c = x * b - c, b\nreturn b - c"
    lines = source(program(text, "x, n"), np.ones(5), 3).splitlines()
    start = next(at for at, line in enumerate(lines) if line.lstrip().startswith("for at0"))
    inside = [line for line in lines[start + 1 :] if line.startswith("        ")]
    assert sum("parallel_for" in line for line in inside) == 1
    assert sum("p_t0 = p_t1" in line or "p_t1 = p_t0" in line for line in inside) == 1


def test_places_that_only_the_loop_knows_are_compared_there() -> None:
    text = "for k in range(len(a)):\n    x[a[k]:a[k] + n] = 2 * x[b[k]:b[k] + n]"
    places = np.array([0, 3]), np.array([5, 4]), 3
    generated = source(program(text, "x, a, b, n"), np.ones(12), *places).splitlines()
    test = next(at for at, line in enumerate(generated) if " >= at" in line and " | " in line)
    allocated = [at for at, line in enumerate(generated) if "heap_scratch" in line]
    assert allocated
    assert test < allocated[0]


@pytest.mark.parametrize(
    "bounds",
    [
        ("start:start + half", "start + half:start + 2 * half"),
        ("start + half:start + 2 * half", "start:start + half"),
    ],
)
def test_neighbouring_slices_are_known_to_be_apart(bounds: tuple[str, str]) -> None:
    target, value = bounds
    text = (
        "for start in range(0, len(x), 2 * n):\n"
        "    half = int(c[start])\n"
        f"    x[{target}] += 2 * x[{value}]"
    )
    function, arguments = program(text, "x, c, n"), (np.ones(24), np.full(24, 3), 3)
    assert "_lag" not in source(function, *arguments)
    assert_same(function, *arguments)
