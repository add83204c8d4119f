"""Bugs of structured ops that random ops found."""

from __future__ import annotations

import linecache
import os
import subprocess
import sys
import textwrap
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from fusejit import fuse_jit, linalg
from fusejit.structured import DefinitionError, Output, Tensor, cast, generic, index, structured_op
from fusejit.structured.op import StructuredOp
from fusejit_testing.compare import assert_same
from fusejit_testing.oracle import decorate, run


def formula(source: str, **options: Any) -> StructuredOp:
    """The op that a function in index notation defines."""
    scope: dict[str, Any] = {"np": np, "Tensor": Tensor, "Output": Output}
    exec(textwrap.dedent(source), scope)
    (function,) = (v for v in scope.values() if isinstance(v, FunctionType))
    made: StructuredOp = structured_op(function, **options)
    return made


def compiled_and_reference(op: StructuredOp, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """What a call of an op gives, which is compiled and not left to Python, and its reference."""
    result = op(*args, **kwargs)
    assert op.entry.variants.compiled
    assert not op.entry.variants.fallbacks
    return result, op.reference(*args, **kwargs)


def test_a_sum_into_every_other_element() -> None:
    """Elements that the map of a sum leaves out were garbage: their start was not copied."""

    op = formula(
        """
        def op(A: Tensor["T", "N", "M"], O: Output["T", "L"]):
            O[2 * i + 1] += A[i, r]
        """
    )

    result, expected = compiled_and_reference(op, np.ones((3, 2)), init=np.full(8, 5.0))
    np.testing.assert_array_equal(result, [5, 7, 5, 7, 5, 7, 5, 5])
    np.testing.assert_array_equal(expected, result)


@pytest.mark.parametrize("columns", [1, None])
def test_a_merge_of_single_numbers_into_every_other_element(columns: int | None) -> None:
    """A reduction of one number lost the start that its map leaves elements of (verifier fault)."""

    op = formula(
        """
        def op(A: Tensor["T", "N", "M"], O: Output["T", "L"]):
            O[2 * i] = min(O[2 * i], A[i, r])
        """
    )

    without_reduction = formula(
        """
        def without_reduction(A: Tensor["T", "N"], O: Output["T", "L"]):
            O[2 * i] = min(O[2 * i], A[i])
        """
    )

    x, start = np.arange(3), np.full(6, 1)
    chosen, argument = (without_reduction, x) if columns is None else (op, x[:, None])
    result, expected = compiled_and_reference(chosen, argument, init=start)
    np.testing.assert_array_equal(result, [0, 1, 1, 1, 1, 1])
    np.testing.assert_array_equal(expected, result)


@pytest.mark.parametrize("fusion", ["auto", "aggressive", "none"])
def test_a_start_with_other_elements_joins_no_tile(fusion: str) -> None:
    """A tile copied a start of other extents than its own (offset outside of the memory)."""

    op = formula(
        """
        def op(A: Tensor["T", "Ni", "Nr"], O: Output["U", "E", "Nj"]):
            O[Ni - 1 - i, j] = min(O[Ni - 1 - i, j], A[i, r])
        """
    )

    def program(x: Any, start: Any) -> Any:
        return op(x + 1, init=start * 2)

    x, start = np.arange(5.0).reshape(1, 5), np.ones((2, 7))
    made = decorate(program, jit=False, fullgraph=True, fusion=fusion)
    expected = [[1.0] * 7, [2.0] * 7]
    np.testing.assert_array_equal(made(x, start), expected)


def test_sums_of_complex_numbers() -> None:
    """A sum of complex numbers raised ValueError: the whole number was cast to a real part."""

    op = formula(
        """
        def op(A: Tensor["T", "N", "M"], O: Output["T", "N"]):
            O[i] += A[i, r]
        """
    )

    x = np.arange(6).reshape(2, 3) * (1 + 2j)
    result, expected = compiled_and_reference(op, x)
    np.testing.assert_array_equal(result, x.sum(axis=1))
    np.testing.assert_array_equal(expected, result)


def test_the_start_of_an_output_without_axes_says_its_type() -> None:
    """The reference took an array without axes for a number, the compiled op a number for one."""

    op = formula(
        """
        def op(A: Tensor["T", "N"], O: Output["U"]):
            O[()] += A[r]
        """
    )

    x = np.arange(4, dtype=np.float32)
    result, expected = compiled_and_reference(op, x, init=np.float64(2))
    assert result.dtype == expected.dtype == np.float64
    result, expected = compiled_and_reference(op, x, init=2.0)
    assert result.dtype == expected.dtype == np.float32
    assert result == expected == 8


def test_functions_of_numpy_take_integers_where_those_of_linalg_do_not() -> None:
    """``np.square`` of integers was refused: linalg has a ``square`` of floats."""

    op = formula(
        """
        def op(A: Tensor["T", "N"], O: Output[np.dtype(float), "N"]):
            O[i] = np.sqrt(np.square(A[i]))
        """
    )

    of_linalg = formula(
        """
        def of_linalg(A: Tensor["T", "N"], O: Output["T", "N"]):
            O[i] = square(A[i])
        """
    )

    x = np.arange(4)
    result, expected = compiled_and_reference(op, x)
    np.testing.assert_array_equal(result, x)
    np.testing.assert_array_equal(expected, x)
    with pytest.raises(TypeError, match="square is not defined for int64"):
        of_linalg(x)


@pytest.mark.parametrize("subscript", ["i + j", "i // 2 + 2 * j", "(i + j) % 3", "2 * i + j"])
def test_several_points_that_write_one_element_are_refused(subscript: str) -> None:
    """Sums through ``O[i + j]`` lost terms without an error: the map is not one to one."""
    maps = ["(i, j) -> (i, j)", f"(i, j) -> ({subscript})"]
    x, start = np.ones((4, 3)), np.zeros(20)
    with pytest.raises(ValueError, match=r"several points along dim . would write one element"):
        generic([x], [start], maps, ["parallel"] * 2, lambda a, total: total + a)
    assert not start.any()


@pytest.mark.parametrize(
    "subscripts", ["3 * i + j", "j + 2 * i", "(2 * i + j) // 4, (2 * i + j) % 4", "3 - i, j + 1"]
)
def test_one_element_for_each_point_is_no_race(subscripts: str) -> None:
    """Mixed radices, and quotients beside remainders, are one to one."""
    maps = ["(i, j) -> (i, j)", f"(i, j) -> ({subscripts})"]
    x = np.arange(8).reshape(4, 2)
    start = np.zeros((8, 4) if "," in subscripts else 20, int)
    result = generic([x], [start], maps, ["parallel"] * 2, lambda a, total: total + a)
    assert sorted(result[result > 0]) == [*range(1, 8)]


def test_outputs_with_fewer_dims_than_others() -> None:
    """A sum beside an output that has the dim of that sum was a fault: its map lacked the dim."""

    op = formula(
        """
        def op(
            A: Tensor["T", "N", "M", "K"],
            O: Output["T", "N", "M"],
            P: Output["T", "N"],
        ):
            O[i, j] += A[i, j, r]
            P[i] += A[i, j, r]
        """
    )

    x = np.arange(24.0).reshape(2, 3, 4)
    result, expected = compiled_and_reference(op, x)
    for got in (result, expected):
        np.testing.assert_array_equal(got[0], x.sum(axis=2))
        np.testing.assert_array_equal(got[1], x.sum(axis=(1, 2)))


def test_a_value_that_reads_an_output_with_other_dims_is_refused() -> None:
    """Such outputs are computed one after the other."""
    with pytest.raises(DefinitionError, match="reads P, which is an output with other dims"):
        formula(
            """
            def op(A: Tensor["T", "N", "M"], O: Output["T", "N", "M"], P: Output["T", "N"]):
                O[i, j] = A[i, j] + P[i]
                P[i] += A[i, j]
            """
        )


def test_an_output_that_is_merged_and_read() -> None:
    """An op without reduction dims raised KeyError where a value reads a merged output."""

    op = formula(
        """
        def op(A: Tensor["T", "N"], O: Output["T", "N"], P: Output["T", "N"]):
            O[i] = A[i] + P[i]
            P[i] *= A[i]
        """
    )

    x = np.arange(4.0)
    result, expected = compiled_and_reference(op, x, init=(None, x))
    for got in (result, expected):
        np.testing.assert_array_equal(got[0], 2 * x)
        np.testing.assert_array_equal(got[1], x * x)


@pytest.mark.parametrize("number", [1, 2.0, True])
def test_a_number_as_start_is_compiled(number: Any) -> None:
    """``init=1`` left the op to Python: the rank of a traced number was asked for by its value."""

    op = formula(
        """
        def op(A: Tensor["T", "N"], O: Output["T", "N"]):
            O[i] += A[i]
        """
    )

    result, expected = compiled_and_reference(op, np.arange(3.0), init=number)
    np.testing.assert_array_equal(result, np.arange(3.0) + number)
    np.testing.assert_array_equal(expected, result)


@pytest.mark.parametrize(("name", "merged"), [("np.maximum", "any"), ("np.minimum", "all")])
def test_extrema_of_numpy_merge_bools_as_numpy_does(name: str, merged: str) -> None:
    """``O[i] = np.maximum(O[i], x)`` of bools was ``and``, as linalg's max: its True is -1."""
    op = formula(
        f"""
        def op(A: Tensor["T", "N", "M"], O: Output["T", "N"]):
            O[i] = {name}(O[i], A[i, r])
        """
    )
    of_linalg = formula(
        f"""
        def op(A: Tensor["T", "N", "M"], O: Output["T", "N"]):
            O[i] = {name[3:6]}(O[i], A[i, r])
        """,
        numpy_bools=False,
    )
    x = np.array([[True, False, True], [True, True, True], [False, False, False]])
    result, expected = compiled_and_reference(op, x)
    np.testing.assert_array_equal(result, getattr(x, merged)(axis=1))
    np.testing.assert_array_equal(expected, result)
    result, expected = compiled_and_reference(of_linalg, x)
    np.testing.assert_array_equal(result, getattr(x, {"any": "all", "all": "any"}[merged])(axis=1))
    np.testing.assert_array_equal(expected, result)


def test_an_element_and_a_padded_element_at_the_same_place() -> None:
    """``A[i]`` beside ``A.at(i, ..)`` was always the first element: both had one key."""
    op = formula(
        """
        def op(A: Tensor["T", "E"], B: Tensor["T", "N"], O: Output["T", "N"]):
            O[i] = A[2 * i] + A.at(2 * i, outside=0) * B[i]
        """
    )
    x, ones = np.arange(9), np.ones(4, int)
    result, expected = compiled_and_reference(op, x, ones)
    np.testing.assert_array_equal(result, 2 * x[:8:2])
    np.testing.assert_array_equal(expected, result)


def test_types_in_annotations_that_are_text() -> None:
    """With ``from __future__ import annotations`` a builtin type was an extent of that name."""
    op = formula(
        """
        from __future__ import annotations
        def op(A: Tensor[T, N], O: Output[np.dtype(float), N]):
            O[i] = cast(float, A[i])
        """
    )
    result, expected = compiled_and_reference(op, np.arange(3))
    assert result.dtype == expected.dtype == np.float64


def test_an_output_that_is_read_in_packed_rows() -> None:
    """Tiles of short rows that an op reads and writes began with garbage."""
    op = formula(
        """
        def op(A: Tensor["T", "N"], O: Output["U", "M", "L"]):
            O[i, j + 1] = O[i, j + 1] * 0.5 + np.sin(A[j])
        """
    )
    x, start = np.zeros(5), np.full((7, 6), 2.0)
    result, expected = compiled_and_reference(op, x, init=start)
    np.testing.assert_array_equal(result, [[2.0, *[1.0] * 5]] * 7)
    np.testing.assert_array_equal(expected, result)


def test_the_first_op_of_a_process_is_compiled_under_an_import_hook() -> None:
    """Such a hook, as pytest has, ran in the trace of the first op, which was left to Python."""
    program = """
    import sys
    class Hook:
        def find_spec(self, name, path=None, target=None):
            return NAMES[name]
    class Names:
        def __getitem__(self, name):
            return None
    NAMES = Names()
    sys.meta_path.insert(0, Hook())
    import numpy as np
    from fusejit.structured import generic
    from fusejit.structured.generic import op_of
    maps = ["(i) -> (i)"] * 2
    arguments = [np.ones(3)], [np.ones(3)], maps, ["parallel"], lambda a, b: a + b
    generic(*arguments)
    print(len(op_of(generic.resolve(*arguments)[0]).entry.variants))
    """
    environment = {**os.environ, "FUSEJIT_UNJITTED": "1"}
    text = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert text == "1\n"


def test_functions_without_source_call_ops() -> None:
    """An op in such a function was refused: Python called the op's entry with traced arrays."""
    scope: dict[str, Any] = {"generic": generic, "cast": cast, "index": index}
    exec(
        "def f(x):\n"
        "    y = generic([x * 2], [x], ['(i) -> (i)'] * 2, ['parallel'], lambda a, b: a + b)\n"
        "    return y + 1",
        scope,
    )
    x = np.arange(4)
    with np.errstate(all="raise"):
        outcome = run(fuse_jit(fullgraph=True)(scope["f"]), (x,))
    assert outcome.error is None
    np.testing.assert_array_equal(outcome.result, 3 * x + 1)


def test_an_op_is_traced_where_the_cache_of_lines_was_cleared() -> None:
    """The entry of an op has its source there; without one Python runs it on traced arrays."""
    op = StructuredOp(linalg.matvec.definition)
    entry = op.entry
    linecache.clearcache()
    A, y = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    assert_same(A @ y, op(A, y))
    fused = fuse_jit(fullgraph=True)(entry.__wrapped__)
    assert_same(A @ y, fused(A, y))


def test_an_extent_that_is_a_quotient_may_be_in_a_subscript_of_an_output() -> None:
    """``N - 1 - i`` moves with i though N is ``(s0 + 1) // 2``; this was refused."""
    backwards = formula("""
        def backwards(A: Tensor["T", "N"], O: Output["T", "N"]):
            O[N - 1 - i] = A[i]
    """)

    @fuse_jit(fullgraph=True)
    def of_half(x: Any) -> Any:
        return backwards(x[: (len(x) + 1) // 2] * 2)

    for n in (7, 8, 1, 2):
        x = np.arange(float(n))
        assert_same((x[: (n + 1) // 2] * 2)[::-1].copy(), of_half(x))


def test_a_result_that_is_the_old_value_of_a_result_before_it():
    """Outputs that change places: the second one was read after it had been written."""
    maps = ["(i) -> (i)"] * 2 + ["(i) -> (i + 0)"]

    def swap(a, p, q):
        return q + a, p

    @fuse_jit
    def f(a, p, q):
        return generic([a], [], maps, ["parallel"], swap, out=(p, q))

    a, p, q = np.arange(4), np.arange(10, 14), np.arange(20, 24)
    f(a, p, q)
    np.testing.assert_array_equal(p, [20, 22, 24, 26])
    np.testing.assert_array_equal(q, [10, 11, 12, 13])
    first, second = generic(
        [np.ones((9, 3))],
        [np.zeros(3), np.ones(3)],
        ["(i, j) -> (i, j)", "(i, j) -> (j)", "(i, j) -> (j)"],
        ["reduction", "parallel"],
        lambda x, s, t: (s + t * x, s),
    )
    np.testing.assert_array_equal(first, [34] * 3)
    np.testing.assert_array_equal(second, [21] * 3)


def test_values_read_whole_elements_of_outputs_that_are_combined():
    """The imaginary part was lost, and unsigned comparison showed in the type of the element."""
    maps = ["(i, r) -> (r)", "(i, r) -> (i)", "(i, r) -> (i)"]

    def payload(w, o, q):
        return o + cast(np.float64, np.abs(q)), q + cast(np.complex128, w)

    starts = [np.zeros(1), np.array([3j])]
    total, q = generic([np.full(3, 4.0)], starts, maps, ["parallel", "reduction"], payload)
    np.testing.assert_allclose(total, abs(3j) + abs(4 + 3j) + abs(8 + 3j))
    np.testing.assert_array_equal(q, 12 + 3j)

    op = formula("""
        def op(A: Tensor["T", "M", "N"], O: Output["T", "M"], P: Output["T", "M"]):
            O[m] = min_unsigned(O[m], A[m, n])
            P[m] += cast(T, O[m] < 0)
    """)
    a = np.array([[-1, -3, 5, 2], [-5, -4, -2, -1]], np.int32)
    for results in (op(a), op.reference(a)):
        np.testing.assert_array_equal(results[0], [2, -5])
        np.testing.assert_array_equal(results[1], [3, 4])


def test_a_complex_number_is_where_a_single_starts():
    """`init=1 + 0.5j` of one complex64 was an internal error: its parts were float64."""
    op = formula("""
        def op(A: Tensor["T", "M"], O: Output[np.dtype(np.complex64)]):
            O[()] += cast(np.complex64, A[2])
    """)
    a = np.arange(3, dtype=np.float32)
    assert_same(op.reference(a, init=1 + 0.5j), op(a, init=1 + 0.5j))
    assert not op.entry.variants.fallbacks


def test_bits_of_integers_are_combined():
    """`O[i] |= A[i, j]` of integers was refused."""
    some = formula("def op(A: Tensor['T', 'M', 'N'], O: Output['T', 'M']):\n    O[m] |= A[m, n]")
    every = formula("def op(A: Tensor['T', 'M', 'N'], O: Output['T', 'M']):\n    O[m] &= A[m, n]")
    rng = np.random.default_rng(0)
    for dtype in (np.int16, np.uint8, np.bool_):
        for shape in ((7, 9), (300, 5000), (3, 0)):
            a = rng.integers(0, 200, shape).astype(dtype)
            for op, ufunc in ((some, np.bitwise_or), (every, np.bitwise_and)):
                assert_same(ufunc.reduce(a, axis=1), op(a))
                if a.size < 1000:
                    assert_same(ufunc.reduce(a, axis=1), op.reference(a))
    with pytest.raises(TypeError, match="bitwise_or of float64 is not defined"):
        some(np.ones((2, 2)))


def test_outputs_are_merged_with_products_of_complex_numbers():
    """`O[m] *= A[m, n]` of complex numbers was refused; so was `O[m] = A[m] * O[m]`."""
    along = formula("def op(A: Tensor['T', 'M', 'N'], O: Output['U', 'M']):\n    O[m] *= A[m, n]")
    once = formula("def op(A: Tensor['T', 'M'], O: Output['U', 'M']):\n    O[m] = A[m] * O[m]")
    rng = np.random.default_rng(0)
    for dtype, own in ((np.complex64, np.complex64), (np.float64, np.complex128)):
        a = rng.normal(size=(5, 4)).astype(dtype)
        if np.iscomplexobj(a):
            a += (1j * rng.normal(size=(5, 4))).astype(dtype)
        start = (rng.normal(size=5) + 1j * rng.normal(size=5)).astype(own)
        for made in (along(a, init=start), along.reference(a, init=start)):
            assert made.dtype == own
            np.testing.assert_allclose(made, start * a.prod(axis=1), rtol=1e-5)
        for made in (once(a[:, 0], init=start), once.reference(a[:, 0], init=start)):
            np.testing.assert_allclose(made, start * a[:, 0], rtol=1e-6)


def test_an_output_is_checked_where_reductions_have_no_points():
    """With an empty reduction, subscripts of outputs were not checked: writes left the array."""
    op = formula("""
        def op(A: Tensor["T", "R"], W: Shape["T", "W"], O: Output["T", "E"]):
            W[j]
            O[j * 2 + 1] += A[r]
    """)
    for size in (0, 3):
        a, out = np.ones(size), np.zeros(7)
        for call in (op, op.reference):
            with pytest.raises(ValueError, match="reaches 7, and axis 0 has 7 elements"):
                call(a, np.ones(4), out=out)
            np.testing.assert_array_equal(call(a, np.ones(3), out=out.copy())[1::2], size)


def test_a_guarded_read_gives_a_dim_its_extent_if_no_other_does():
    """`where(index(s) < 2, B[i + s], 0)` said that no operand determines the extent of s."""
    op = formula("""
        def op(B: Tensor["T", "E"], O: Output["T", "N"]):
            O[i] += where(index(s) < 2, B[i + s], 0.5)
    """)
    b = np.arange(6.0)
    expected = np.zeros(4)
    for i in range(4):
        expected[i] = sum(b[i + s] if s < 2 else 0.5 for s in range(3))
    for call in (op, op.reference):
        np.testing.assert_allclose(call(b, out=np.zeros(4)), expected)


def test_products_of_indices_guard_nothing():
    """`where(index(i) * index(j) == 2, A[j + 1], 0)` raised "is not affine in the dims"."""
    op = formula("""
        def op(A: Tensor["T", "E"], W: Shape["T", "N", "M"], O: Output["T", "N", "M"]):
            W[i, j]
            O[i, j] = where(index(i) * index(j) == 2, A[j + 1], 0.0)
    """)
    a, expected = np.arange(4.0), np.zeros((4, 3))
    expected[2, 1], expected[1, 2] = a[2], a[3]
    for call in (op, op.reference):
        np.testing.assert_array_equal(call(a, np.ones((4, 3))), expected)


@pytest.mark.parametrize("jit", [False, True])
def test_where_another_dim_has_no_points_no_axis_is_left(jit: bool) -> None:
    """The verifier found that `s`, given by the window of A, leaves B: an internal error."""
    op = formula("""
        def op(A: Tensor["T", "N", "E"], B: Tensor["T", "F"], O: Output["T"]):
            O[()] += A[r, r * 3 + s] * B[s + 0]
    """)

    def doubled(a: Any, b: Any) -> Any:
        return op(a, b) * 2

    fused = decorate(doubled, jit=jit)
    for rows, columns, size in ((0, 1, 1), (2, 5, 2)):
        a, b = np.ones((rows, columns)), np.ones(size)
        assert_same(doubled(a, b), fused(a, b))
        assert float(fused(a, b)) == 2 * rows * 2
        assert not fused.variants.fallbacks
