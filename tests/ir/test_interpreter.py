"""The interpreter against NumPy, op by op."""

import numpy as np
import pytest

from fusejit.errors import InternalError
from fusejit.ir.interpreter.interpret import argument_paths, interpret
from fusejit.ir.text.parser import parse_graph
from fusejit_testing.compare import assert_same_results

HEADER = """\
graph @f
  symbol s0 = size(arg:x, 0)
  symbol s1 = size(arg:m, 0)
  buffer @x : s0 x f64 = arg:x class 0
  buffer @m : s1 x s0 x f64 = arg:m class 1
  scalar %k : i64 python = arg:k
{
  %x = load @x v0 : s0 x f64
  %m = load @m v0 : s1 x s0 x f64
"""


def run(body, results, **changes):
    """The results of a body over %x (5), %m (3, 5) and %k."""
    rng = np.random.default_rng(0)
    arguments = {"x": rng.standard_normal(5), "m": rng.standard_normal((3, 5)), "k": 3, **changes}
    graph = parse_graph(f"{HEADER}{body}\nreturn {results}\n}}")
    return interpret(graph, argument_paths(arguments)), arguments


def generic(domain, iterators, ins, outs, payload, types):
    text = f"domain ({domain}) iterators ({iterators}) ins ({ins}) outs ({outs}) {{ {payload} }}"
    return f'%r = generic "f" {text} : {types}'


# ------------------------------------------------------------------------------------------- views
PARTS = [
    ("s1 x s0", "(d0, d1) -> (d0, d1)", lambda m: m),
    ("s0 x s1", "(d0, d1) -> (d1, d0)", lambda m: m.T),
    ("s0", "(d0) -> (0, d0)", lambda m: m[0]),
    ("s1 x 2", "(d0, d1) -> (d0, 2 * d1 + 1)", lambda m: m[:, 1:5:2]),
    ("s1 x s0", "(d0, d1) -> (-d0 + s1 - 1, -d1 + s0 - 1)", lambda m: m[::-1, ::-1]),
    ("s1 x 1 x s0", "(d0, d1, d2) -> (d0, d2)", lambda m: m[:, None, :]),
    ("2 x s1 x s0", "(d0, d1, d2) -> (d1, d2)", lambda m: np.broadcast_to(m, (2, *m.shape))),
    ("s1", "(d0) -> (d0, d0)", lambda m: np.diagonal(m)),
    ("0 x s0", "(d0, d1) -> (d0 + 7, d1)", lambda m: m[:0]),
    ("1 x 2", "(d0, d1) -> (d0, (3 * d1) floordiv 2)", lambda m: m[:1, [0, 1]]),
]


@pytest.mark.parametrize(("extents", "part", "reference"), PARTS)
def test_a_view_a_load_and_a_map_read_the_same(extents, part, reference):
    body = f"%v = view %m [{part}] : {extents} x f64\n%w = load @m v0 [{part}] : {extents} x f64\n"
    domain = extents.replace(" x ", ", ")
    parallel = ", ".join(["parallel"] * len(domain.split(",")))
    body += generic(domain, parallel, f"%m [{part}]", "write", "yield in0", f"{extents} x f64")
    results, arguments = run(body, "%v, %w, %r")
    expected = np.array(reference(arguments["m"]), order="C")
    assert_same_results(results, [expected] * 3)


STRIDED_PARTS = [p for p in PARTS if "floordiv" not in p[1]]


@pytest.mark.parametrize(("extents", "part", "reference"), STRIDED_PARTS)
@pytest.mark.parametrize("layout", ["c", "f", "negative"])
def test_a_returned_view_has_the_strides_of_numpys(extents, part, reference, layout):
    m = np.arange(15.0).reshape(3, 5)
    m = {"c": m, "f": np.asfortranarray(m), "negative": m[::-1, ::-1]}[layout]
    domain = extents.replace(" x ", ", ")
    (view,), _ = run("", f"@m [{part}] ({domain})", m=m)
    expected = reference(m)
    assert_same_results([view], [expected])
    if expected.size:
        assert view.strides == expected.strides
        assert view.ctypes.data == expected.ctypes.data


@pytest.mark.parametrize("part", ["(d0) -> (d0 + 1)", "(d0) -> (d0 - 1)", "(d0) -> (2 * d0)"])
def test_a_map_that_leaves_its_array_is_an_error(part):
    with pytest.raises(InternalError, match="on axis 0 of extent 5"):
        run(f"%v = view %x [{part}] : s0 x f64", "%v")
    with pytest.raises(InternalError, match="on axis 0 of extent 5"):
        run(f"store @x v1 [{part}] (s0) = %x", "%x")


def test_an_argument_that_is_not_what_the_graph_says_is_an_error():
    with pytest.raises(InternalError, match="@m"):
        run("", "%x", m=np.zeros((3, 6)))
    with pytest.raises(InternalError, match="@x"):
        run("", "%x", x=np.zeros(5, np.float32))


# -------------------------------------------------------------------------------------- reductions
def product_in_order(values):
    """The product over the last axis, from the first element to the last."""
    total = np.ones(values.shape[:-1])
    for k in range(values.shape[-1]):
        total = total * values[..., k]
    return total


def sum_in_pieces(values):
    """The sum of numbers that NumPy casts, and copies for that."""
    flat = values.ravel().astype(">f8")
    return np.sum(flat, dtype=np.float64)


REDUCTIONS = [
    ("add", "d0", "parallel, reduction", "s1", lambda m: np.sum(m.copy(), 1)),
    ("add", "d1", "reduction, parallel", "s0", lambda m: np.sum(m.T.copy(), 1)),
    ("add", "", "reduction, reduction", "", lambda m: np.sum(m.copy())),
    ("add_in_turn", "d1", "reduction, parallel", "s0", lambda m: np.sum(m.copy(), 0)),
    ("add_in_turn", "", "reduction, reduction", "", lambda m: np.add.accumulate(m.ravel())[-1]),
    ("add_in_pieces", "", "reduction, reduction", "", sum_in_pieces),
    ("add_in_rows", "", "reduction, reduction", "", np.sum),
    ("multiply", "d0", "parallel, reduction", "s1", product_in_order),
    ("multiply", "", "reduction, reduction", "", lambda m: product_in_order(m.reshape(1, -1))[0]),
    ("max", "d0", "parallel, reduction", "s1", lambda m: m.max(1)),
    ("min", "d1", "reduction, parallel", "s0", lambda m: m.min(0)),
]


@pytest.mark.parametrize(("combiner", "kept", "iterators", "extents", "reference"), REDUCTIONS)
@pytest.mark.parametrize("shape", [(3, 5), (40, 3000), (2, 1)])
def test_reductions(combiner, kept, iterators, extents, reference, shape):
    m = np.random.default_rng(1).standard_normal(shape)
    if combiner in ("max", "min"):
        m[0, 0] = np.nan
    types = f"{extents} x f64" if extents else "f64 scalar"
    outs = f"{combiner} [(d0, d1) -> ({kept})]"
    body = generic("s1, s0", iterators, "%m", outs, "yield in0", types)
    if m.size > 10_000 and combiner != "add":
        m = m[:, :50]
    (result,), _ = run(body, "%r", m=m, x=np.zeros(m.shape[1]))
    assert_same_results([result], [reference(m)])


def test_a_start_is_combined_last():
    x = np.array([1e16, 1.0, 1.0])
    body = "%one = constant 1.0 : f64\n"
    body += generic(
        "s0", "reduction", "%x", "add [(d0) -> ()] from %one", "yield in0", "f64 scalar"
    )
    (result,), _ = run(body, "%r", x=x, m=np.zeros((1, 3)))
    assert result == 1.0 + np.sum(x)


@pytest.mark.parametrize(
    ("combiner", "expected"), [("add", 0.0), ("multiply", 1.0), ("max", -np.inf), ("min", np.inf)]
)
def test_nothing_reduces_to_the_identity(combiner, expected):
    body = generic("s0", "reduction", "%x", f"{combiner} [(d0) -> ()]", "yield in0", "f64 scalar")
    (result,), _ = run(body, "%r", x=np.zeros(0), m=np.zeros((1, 0)))
    assert result == expected


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "f32"])
def test_integer_sums_wrap_in_their_width(dtype):
    body = generic(
        "s0",
        "reduction",
        "%x",
        "add [(d0) -> ()]",
        f"t0 = const 100 : {dtype}; yield t0",
        f"{dtype} scalar",
    )
    (result,), _ = run(body, "%r")
    assert (
        result.dtype.name == {"i8": "int8", "u8": "uint8", "i32": "int32", "f32": "float32"}[dtype]
    )
    assert result == np.full(5, 100).astype(result.dtype).sum(dtype=result.dtype)


def test_two_results_of_different_shape():
    text = generic(
        "s1, s0",
        "parallel, reduction",
        "%m, %x [(d0, d1) -> (d1)]",
        "add [(d0, d1) -> (d0)], write [(d0, d1) -> (d1, d0)]",
        "t0 = multiply in0, in1 : f64; yield t0, in0",
        "s1 x f64, s0 x s1 x f64",
    ).replace("%r =", "%r, %q =")
    results, arguments = run(text, "%r, %q")
    m, x = arguments["m"], arguments["x"]
    assert_same_results(results, [np.sum(m * x, 1), np.array(m.T, order="C")])


def test_a_scan_runs_its_sequential_dim_in_order():
    text = generic(
        "s1, s0",
        "parallel, sequential",
        "%m",
        "write [(d0, d1) -> (d0)] from %z, write",
        "t0 = add out0, in0 : f64; yield t0, t0",
        "s1 x f64, s1 x s0 x f64",
    ).replace("%r =", "%r, %q =")
    zeros = generic("s1", "parallel", "", "write", "t0 = const 0.0 : f64; yield t0", "s1 x f64")
    results, arguments = run(zeros.replace("%r", "%z") + "\n" + text, "%r, %q")
    expected = np.cumsum(arguments["m"], axis=1)
    assert_same_results(results, [np.array(expected[:, -1]), expected])


def test_a_write_into_part_of_a_start_value():
    body = generic(
        "2", "parallel", "%x", "write [(d0) -> (2 * d0 + 1)] from %x", "yield in0", "s0 x f64"
    )
    (result,), arguments = run(body, "%r")
    expected = arguments["x"].copy()
    expected[1:5:2] = arguments["x"][:2]
    assert_same_results([result], [expected])


# ----------------------------------------------------------------------------------- what comes out
def test_kinds():
    body = "%a = constant 1.5 : f64\n%b = constant 2 : i32 scalar\n%c = constant True : i1 python"
    results, _ = run(body, "%a, %b, %c, %k")
    assert_same_results(results, [np.array(1.5), np.int32(2), True, 3])


def test_strides_follow_the_order_of_the_value():
    text = "%a = view %m [(d0, d1, d2) -> (d1, d2)] : 2 x s1 x s0 x f64 order(1, 2, 0)"
    (result,), arguments = run(text, "%a")
    assert result.strides == (8, 80, 16)
    assert np.array_equal(result, np.broadcast_to(arguments["m"], (2, 3, 5)))


def test_a_value_that_is_returned_twice_is_one_object():
    results, _ = run("", "%x, %x")
    assert results[0] is results[1]


def test_results_do_not_share_memory_with_arguments():
    (result,), arguments = run("", "%x")
    assert not np.shares_memory(result, arguments["x"])


def test_fresh_memory_is_garbage():
    (t, u), _ = run("alloc @t : s0 x f64 class 2\nalloc @u : 2 x u8 class 3", "@t, @u")
    assert np.isnan(t).all()
    assert u.tolist() == [0x5A, 0x5A]


def test_a_loop_counts_down():
    body = """
    for i0 = s0 - 1 to 0 step -1 {
      %a = load @x v1 [() -> (i0 - 1)] : f64 scalar
      store @x v2 [() -> (i0)] () = %a
    }"""
    results, arguments = run(body, "@x")
    assert results[0] is arguments["x"]
    expected = np.random.default_rng(0).standard_normal(5)
    expected[1:] = expected[:-1]
    assert_same_results(results, [expected])


def test_an_unknown_host_function_is_named():
    with pytest.raises(InternalError, match=r"numpy\.sorted"):
        run('%a = host_call "numpy.sorted"(%x) : s0 x f64', "%a")


def test_distinct_places_are_distinct():
    body = """
    %i = generic "half" domain (s0) ins () outs (write) { t0 = index (d0 floordiv 2) : i64; yield t0 } : s0 x i64
    scatter @x v1 at {mark}(%i) = %x
    """  # noqa: E501
    results, _ = run(body.replace("{mark}", ""), "@x", x=np.arange(5.0))
    assert_same_results(results, [np.array([1.0, 3, 4, 3, 4])])
    with pytest.raises(InternalError, match="one element twice"):
        run(body.replace("{mark}", "distinct "), "@x", x=np.ones(5))


def test_a_host_function_is_given_an_argument_as_it_lies():
    """`np.full_like` asks for the strides of axes of length 1 too."""
    graph = parse_graph("""\
graph @f
  symbol s0 = size(arg:x, 1)
  buffer @x : 1 x s0 x f64 = arg:x layout strided class 0
{
  %x = load @x v0 : 1 x s0 x f64
  %r = host_call "numpy.full_like"(%x) as "{0}, 2, shape=(2, 3,)" : 2 x 3 x f64
  return %r
}""")
    memory = np.arange(20.0)
    for strides in ((8, 16), (40, 16)):
        x = np.lib.stride_tricks.as_strided(memory, (1, 2), strides)
        (result,) = interpret(graph, argument_paths({"x": x}))
        assert result.strides == np.full_like(x, 2, shape=(2, 3)).strides
