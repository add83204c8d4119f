"""How the types of an op are written: type variables, dtypes, and names that a module has too."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from fusejit import structured
from fusejit.structured import DefinitionError, generic
from fusejit_testing.compare import assert_same

THIRD = np.array([1 / 3, -2.5, 1e300])


def defined(source: str, *, before: str = "", future: bool = False) -> Any:
    """The op ``op`` of a module with the lines ``before``; ``source`` begins in line 4."""
    scope = {name: getattr(structured, name) for name in structured.__all__}
    first = "from __future__ import annotations" if future else ""
    text = f"{first}\nimport numpy as np\n{before}\n{textwrap.dedent(source).strip()}\n"
    exec(compile(text, "module_of_ops.py", "exec", dont_inherit=True), scope)
    return scope["op"]


def both(op: Any, *args: Any, **kwargs: Any) -> Any:
    """The result of a call, which is compiled, and is that of the reference."""
    result = op(*args, **kwargs)
    assert not op.entry.variants.fallbacks
    assert_same(op.reference(*args, **kwargs), result)
    return result


# ------------------------------------------------------------------- names that the module has too
MEANINGS = [
    "{} = np.float32",
    "{} = np.dtype('f4')",
    "{} = np.int8",
    "{} = float",
    "{} = 'int8'",
    "{} = 5",
    "{} = np.zeros(3)",
    "{} = None",
    "def {}(x): return x",
    "class {}: pass",
    "import math as {}",
]
QUOTED = """
@structured_op
def op(X: Tensor["{0}", "N"], O: Output["{0}", "N"]):
    O[n] = cast({0}, X[n])
"""
PLAIN = QUOTED.replace('"', "")


@pytest.mark.parametrize("meaning", MEANINGS)
@pytest.mark.parametrize("name", ["T", "d", "U1", "Acc", "max", "id"])
def test_a_type_variable_is_that_of_the_annotation(meaning: str, name: str) -> None:
    """A global ``T = np.float32`` took over ``T`` in the body: doubles lost half of their bits."""
    op = defined(QUOTED.format(name), before=meaning.format(name))
    assert_same(THIRD, both(op, THIRD))
    assert op(np.arange(3, dtype=np.int16)).dtype == np.int16


@pytest.mark.parametrize("meaning", MEANINGS[:-1])
@pytest.mark.parametrize("name", ["T", "d", "U1"])
def test_so_is_one_without_quotes(meaning: str, name: str) -> None:
    op = defined(PLAIN.format(name), before=meaning.format(name), future=True)
    assert_same(THIRD, both(op, THIRD))


@pytest.mark.parametrize("future", [False, True])
def test_names_of_the_enclosing_function_do_not_win_either(future: bool) -> None:
    op = defined(
        """
        def made():
            T, N = np.float32, np.int8
            @structured_op
            def op(X: Tensor["T", "N"], O: Output["T", "N"]):
                O[n] = cast(T, X[n]) * N
            return op
        op = made()
        """,
        future=future,
    )
    x = np.array([1 / 3, 0.1])
    assert_same(x * 2, both(op, x))


@pytest.mark.parametrize("meaning", MEANINGS)
def test_an_extent_is_that_of_the_annotation(meaning: str) -> None:
    """A function, a class or a module of that name took over: the body failed."""
    op = defined(
        """
        @structured_op
        def op(X: Tensor["T", "N"], O: Output["T", "N"]):
            O[n] = X[N - 1 - n] * N
        """,
        before=meaning.format("N"),
    )
    assert_same(THIRD[:2][::-1] * 2, both(op, THIRD[:2]))


def test_other_names_are_those_of_the_module() -> None:
    op = defined(
        """
        @structured_op
        def op(X: Tensor["T", "N"], O: Output["Single", "N"]):
            O[n] = cast(Single, cast(Half, X[n]) + cast(I64, X[n]))
        """,
        before="Half, I64 = np.float32, np.dtype('i2')",
    )
    x = np.array([1 / 3, 70000.0])
    expected = x.astype("f4") + x.astype("i8").astype("i2")
    assert_same(expected.astype("f8"), both(op, x))


def test_a_name_that_is_no_dtype_gives_way_to_one_of_the_notation() -> None:
    op = defined(
        """
        @structured_op
        def op(X: Tensor["T", "N"], O: Output["F32", "N"]):
            O[n] = cast(F32, X[n])
        """,
        before="F32 = np.float64",
    )
    assert_same(np.float32([0.1]), both(op, np.array([0.1])))


# ------------------------------------------------------------------------------- types that are one
_INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64"
DTYPES = f"bool {_INTEGERS} float32 float64 complex64 complex128".split()
WRITTEN = [(f'"{name}"', name) for name in DTYPES]
WRITTEN += [(f"np.{name.replace('bool', 'bool_')}", name) for name in DTYPES]
WRITTEN += [(f"np.dtype('{name}')", name) for name in DTYPES]
WRITTEN += [(f'"{np.dtype(name).str[1:]}"', name) for name in DTYPES]
WRITTEN += [
    *((f'"{np.dtype(name).str}"', name) for name in DTYPES),
    *((name, np.dtype(name).name) for name in ("bool", "int", "float", "complex")),
    *((f'"{name}"', np.dtype(name).name) for name in ("int", "float", "complex", "bool_")),
    *((f'"{name}"', np.dtype(name).name) for name in ("double", "single", "intp", "ubyte")),
    *(("np.longlong", "int64"), ("np.intc", "int32"), ('"?"', "bool")),
    *(('"I32"', "int32"), ('"I64"', "int64"), ('"F32"', "float32"), ('"F64"', "float64")),
    *(("X0.dtype", "uint16"), ("Alias", "int32"), ('"int_"', "int64")),
]
BEFORE = "X0 = np.zeros(3, np.uint16); Alias = np.int32"


@pytest.mark.parametrize(("written", "dtype"), WRITTEN)
def test_a_dtype_means_itself(written: str, dtype: str) -> None:
    """``"int64"`` was a type variable, so that float64 came out; ``np.int64`` an AttributeError."""
    op = defined(
        f"""
        @structured_op
        def op(X: Tensor["T", "N"], O: Output[{written}, "N"]):
            O[n] = cast({written}, X[n]) + const({written}, 1)
        """,
        before=BEFORE,
    )
    x = np.arange(3.0)
    result = both(op, x)
    assert result.dtype == dtype
    assert_same(x.astype(dtype) + np.ones(3, dtype), result)
    assert f"output O: {dtype}[N]" in str(op)
    other = "float32" if dtype != "float32" else "int8"
    assert op(x, dtype=dtype).dtype == dtype
    with pytest.raises(TypeError, match=f"op: O is of type {dtype}, not {other}"):
        op(x, dtype=np.dtype(other))


@pytest.mark.parametrize(("written", "dtype"), WRITTEN)
def test_so_does_that_of_an_input(written: str, dtype: str) -> None:
    op = defined(
        f"""
        @structured_op
        def op(X: Tensor[{written}, "N"], s: Number[{written}], O: Output["U", "N"]):
            O[n] = X[n] * s
        """,
        before=BEFORE,
    )
    x = np.ones(3, dtype)
    result = both(op, x, x[0])
    assert_same(x, result)
    other = np.ones(3, "float32" if dtype != "float32" else "int8")
    with pytest.raises(TypeError, match=f"op: X is of type {other.dtype}, not {dtype}"):
        op(other, x[0])


@pytest.mark.parametrize(
    ("written", "dtype"),
    [
        *(("float32", "f4"), ("single", "f4"), ("Alias", "i4"), ("np.uint8", "u1")),
        *(("float", "f8"), ("I32", "i4"), ("int64", "i8"), ("np.dtype('i2')", "i2")),
    ],
)
def test_dtypes_in_annotations_that_are_text(written: str, dtype: str) -> None:
    op = defined(
        f"""
        @structured_op
        def op(X: Tensor[T, N], O: Output[{written}, N]):
            O[n] = cast({written}, X[n])
        """,
        before=f"from numpy import single; {BEFORE}",
        future=True,
    )
    assert both(op, np.arange(3.0)).dtype == dtype


@pytest.mark.parametrize("name", ["T", "d", "f", "N", "O", "U1", "S8", "M8", "I8", "T12", "Acc"])
def test_one_letter_and_a_capital_with_a_number_are_type_variables(name: str) -> None:
    op = defined(QUOTED.replace("cast({0}, X[n])", 'cast("{0}", X[n])').format(name))
    for dtype in ("i2", "f4", "c16", "?"):
        assert_same(np.ones(3, dtype), both(op, np.ones(3, dtype)))


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize("default", ["np.float32", '"float32"', "np.dtype('f4')", '"F32"'])
def test_an_attribute_may_be_a_type(default: str, future: bool) -> None:
    kind = "kind" if future else '"kind"'
    op = defined(
        f"""
        @structured_op
        def op(X: Tensor["T", "N"], O: Output[{kind}, "N"], kind={default}):
            O[n] = cast(kind, X[n]) / const(kind, 2)
        """,
        future=future,
    )
    x = np.arange(3.0)
    assert_same(np.float32(x) / 2, both(op, x))
    for call in (op, op.reference):
        assert_same(x / 2, call(x, kind="float64"))
        assert_same(x / 2, call(x, kind=np.float64))
        assert_same(x / 2 + 0j, call(x, kind=np.dtype("complex128")))


def test_a_fixed_type_beside_one_of_the_call() -> None:
    op = defined(
        """
        @structured_op
        def op(X: Tensor["T", "N"], O: Output["int64", "N"], P: Output["U", "N"]):
            O[n] = cast("int64", X[n])
            P[n] = cast(U, X[n])
        """
    )
    fixed, free = op(np.arange(3.0), dtype=np.float32)
    assert (fixed.dtype, free.dtype) == (np.int64, np.float32)


# ------------------------------------------------------------------------------------- wrong types
WRONG = [
    ("'float16'", "structured ops do not compute with float16"),
    ("np.float16", "structured ops do not compute with float16"),
    ("'>f8'", "structured ops do not compute with >f8"),
    ("np.dtype('>i4')", "structured ops do not compute with >i4"),
    ("'object'", "structured ops do not compute with object"),
    ("object", "structured ops do not compute with object"),
    ("list", "structured ops do not compute with object"),
    ("str", "structured ops do not compute with <U0"),
    ("'datetime64'", "structured ops do not compute with datetime64"),
    ("np.dtype('i4,i4')", "structured ops do not compute with"),
    ("np.integer", "np.integer"),
    ("'int48'", "'int48' is neither a dtype nor the name of a type variable"),
    ("''", "'' is neither a dtype nor the name of a type variable"),
    ("'T 1'", "'T 1' is neither a dtype nor"),
    ("'None'", "'None' is neither a dtype nor"),
    ("None", "None is no type: write a type variable or a dtype"),
    ("3", "3 is no type"),
    ("0.5", "0.5 is no type"),
    ("np", "is no type"),
    ("np.ones(3)", "is no type"),
    ("np.sin", "is no type"),
]


@pytest.mark.parametrize("future", [False, True])
@pytest.mark.parametrize(("written", "text"), WRONG)
def test_wrong_types_of_operands_are_errors_that_name_the_line(
    written: str, text: str, future: bool
) -> None:
    source = f"""
        @structured_op
        def op(X: Tensor["T", "N"], O: Output[{written}, "N"]):
            O[n] = X[n]
    """
    with pytest.raises(DefinitionError, match=rf"^op: O: .*{text}.* \(module_of_ops.py:[45]\)$"):
        defined(source, future=future)


@pytest.mark.parametrize("form", ["cast({}, X[n])", "cast_unsigned({}, X[n])", "const({}, 1)"])
@pytest.mark.parametrize(
    ("written", "text"),
    [
        *WRONG,
        ("'d'", "no operand has the type d"),
        ("'Acc'", "no operand has the type Acc"),
        ("U", "U is no type"),
        ("N", "N is no type"),
        ("n", "n is no type"),
        ("X[n]", "is no type"),
    ],
)
def test_wrong_types_of_formulas_are_errors_that_name_the_line(
    written: str, text: str, form: str
) -> None:
    source = f"""
        @structured_op
        def op(X: Tensor["T", "N"], O: Output["T", "N"]):
            X[n]
            O[n] = {form.format(written)}
    """
    with pytest.raises(DefinitionError, match=rf"^op: .*{text}.* \(module_of_ops.py:7\)$"):
        defined(source)


@pytest.mark.parametrize("annotation", ["Output", "Output[()]", "3", '"Output"', "np.ndarray"])
def test_what_is_no_annotation_is_an_error_that_names_the_line(annotation: str) -> None:
    source = f"""
        @structured_op
        def op(X: Tensor["T", "N"], O: {annotation}):
            O[n] = X[n]
    """
    with pytest.raises(DefinitionError, match=r"^op: annotate O with Tensor.* \(module_of_ops.py:"):
        defined(source)


@pytest.mark.parametrize("written", ["M + 1", "strides", "steps[0]"])
def test_an_expression_of_extents_or_attributes_is_no_type(written: str) -> None:
    source = f"""
        @structured_op
        def op(X: Tensor[T, N], O: Output[{written}, N], strides=1, steps=(1,)):
            O[n] = X[n]
    """
    with pytest.raises(DefinitionError, match=r"^op: O: .* is no type: .*module_of_ops.py:"):
        defined(source, future=True)


# --------------------------------------------------------------------------------- generic
def test_types_in_payloads_of_generic() -> None:
    maps = ["(i) -> (i)"] * 2
    x = np.arange(3.0)

    def called(written: Any) -> Any:
        def payload(a: Any, o: Any) -> Any:
            return structured.cast(written, a) / 3

        return generic([x], [np.zeros(3)], maps, ["parallel"], payload)

    for written in ("float32", "F32", np.float32, np.dtype("f4")):
        assert_same((x.astype("f4") / 3).astype("f8"), called(written))
    assert_same(x / 3, called("T0"))
    for written, text in (("T2", "no operand has the type T2"), (None, "None is no type")):
        with pytest.raises(TypeError, match=text):
            called(written)
