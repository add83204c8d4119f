"""Laws of affine expressions and indexing maps."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fusejit.errors import ParseError
from fusejit.ir.affine import AffineExpr
from fusejit.ir.affine_parser import parse_affine_expr
from fusejit.ir.indexing_map import IndexingMap, parse_indexing_map
from fusejit_testing.strategies import affine_exprs, indexing_maps, points, symbol_values

two_exprs = st.tuples(affine_exprs(3), affine_exprs(3))


@given(affine_exprs(3))
def test_an_expression_is_read_back_as_it_was(expr):
    assert parse_affine_expr(str(expr)) == expr


@given(two_exprs, points(3), symbol_values)
def test_evaluation_is_linear(exprs, point, symbols):
    left, right = exprs
    a, b = left.evaluate(point, symbols), right.evaluate(point, symbols)
    assert (left + right).evaluate(point, symbols) == a + b
    assert (left - right).evaluate(point, symbols) == a - b
    assert (left * -3).evaluate(point, symbols) == -3 * a
    assert (left - right) + right == left


@given(affine_exprs(2), st.one_of(st.integers(1, 6), st.integers(-6, -1)), points(2), symbol_values)
def test_quotient_and_remainder_are_those_of_python(expr, divisor, point, symbols):
    number = expr.evaluate(point, symbols)
    assert expr.floordiv(divisor).evaluate(point, symbols) == number // divisor
    assert expr.mod(divisor).evaluate(point, symbols) == number % divisor


@given(affine_exprs(2), points(2), symbol_values)
def test_quotient_and_remainder_by_a_symbol(expr, point, symbols):
    number, divisor = expr.evaluate(point, symbols), symbols["s0"]
    symbol = AffineExpr.symbol("s0")
    assert expr.floordiv(symbol).evaluate(point, symbols) == number // divisor
    assert expr.mod(symbol).evaluate(point, symbols) == number % divisor


@given(affine_exprs(2), indexing_maps(3, rank=2), points(3), symbol_values)
def test_substitution_is_evaluation_in_two_steps(expr, inner, point, symbols):
    substituted = expr.substitute(inner.results)
    expected = expr.evaluate(inner.evaluate(point, symbols), symbols)
    assert substituted.evaluate(point, symbols) == expected


@given(affine_exprs(2), affine_exprs(0), points(2), symbol_values)
def test_symbols_are_substituted_everywhere(expr, replacement, point, symbols):
    number = replacement.evaluate((), symbols)
    if number == 0:  # it may be a divisor
        return
    try:
        substituted = expr.substitute(symbols={"s1": replacement})
    except ValueError:  # only symbols and numbers divide
        return
    expected = expr.evaluate(point, {**symbols, "s1": number})
    assert substituted.evaluate(point, symbols) == expected


@given(affine_exprs(3))
def test_dims_and_symbols_are_what_evaluation_needs(expr):
    point = [7 if d in expr.dims() else None for d in range(3)]
    assert isinstance(expr.evaluate(point, dict.fromkeys(expr.symbols(), 3)), int)


@given(indexing_maps(3))
def test_a_map_is_read_back_as_it_was(indexing_map):
    assert parse_indexing_map(str(indexing_map)) == indexing_map


@given(
    indexing_maps(2), indexing_maps(3, rank=2), indexing_maps(2, rank=3), points(2), symbol_values
)
def test_composition_is_associative_and_evaluates_from_the_inside(f, g, h, point, symbols):
    inside_first, outside_first = f.compose(g.compose(h)), f.compose(g).compose(h)
    expected = f.evaluate(g.evaluate(h.evaluate(point, symbols), symbols), symbols)
    assert inside_first.evaluate(point, symbols) == expected
    assert outside_first.evaluate(point, symbols) == expected


@given(indexing_maps(3, rank=2))
def test_the_identity_changes_nothing(f):
    assert f.compose(IndexingMap.identity(3)) == f
    assert IndexingMap.identity(2).compose(f) == f


@given(st.permutations(range(4)))
def test_the_inverse_of_a_permutation_undoes_it(order):
    f = IndexingMap.permutation(order)
    assert f.is_permutation
    assert f.compose(f.inverse()).is_identity
    assert f.inverse().compose(f).is_identity


@pytest.mark.parametrize(
    ("text", "permutation", "projected"),
    [
        ("(d0, d1) -> (d1, d0)", True, True),
        ("(d0, d1) -> (d1)", False, True),
        ("(d0, d1) -> ()", False, True),
        ("(d0, d1) -> (d0, d0)", False, False),
        ("(d0, d1) -> (d0, 0)", False, False),
        ("(d0, d1) -> (d0, d1 + 1)", False, False),
    ],
)
def test_what_a_permutation_is(text, permutation, projected):
    f = parse_indexing_map(text)
    assert f.is_permutation == permutation
    assert f.is_projected_permutation == projected


@pytest.mark.parametrize(
    "text", ["d0 +", "d0 * s0", "(d0", "d0 d1", "floordiv 2", "d0 & 1", "", "2 ** d0"]
)
def test_what_is_not_affine_is_refused(text):
    with pytest.raises(ParseError):
        parse_affine_expr(text)


@pytest.mark.parametrize(
    "text", ["(d0)", "(d1) -> (d0)", "d0 -> d0", "(d0) -> (d0", "(d0, d0) -> ()"]
)
def test_what_is_not_a_map_is_refused(text):
    with pytest.raises(ParseError):
        parse_indexing_map(text)


SMALL = {"s0": 3, "s1": 2, "i0": 2}


@given(indexing_maps(3), st.lists(st.integers(1, 4), min_size=3, max_size=3), st.booleans())
def test_without_lost_dims_no_element_is_met_twice(indexing_map, sizes, known):
    symbols = {**symbol_sizes(sizes), **SMALL}
    domain = [AffineExpr.const(n) if known else AffineExpr.symbol(f"n{n}") for n in sizes]
    lost = indexing_map.lost_dims(domain)
    elements: dict[tuple[int, ...], list[int]] = {}
    for point in product(*map(range, sizes)):
        element = (*indexing_map.evaluate(point, symbols), *(point[d] for d in lost))
        assert elements.setdefault(element, point) == point


def symbol_sizes(sizes: list[int]) -> dict[str, int]:
    """A value for the symbol of each size."""
    return {f"n{n}": n for n in sizes}


@pytest.mark.parametrize(
    ("text", "lost"),
    [
        ("(d0, d1) -> (d1, d0)", ()),
        ("(d0, d1) -> (d0)", (1,)),
        ("(d0, d1) -> (2 * d0 + 3, s0 - 1 - d1)", ()),
        ("(d0, d1) -> (d0 + d1)", (1,)),
        ("(d0, d1) -> (d0 + d1, d1)", ()),
        ("(d0, d1) -> (d0 + d1, d0 - d1)", (1,)),  # one to one, but not seen as such
        ("(d0, d1) -> (d0 + 2 * d1, 0)", (0,)),
        ("(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)", (2, 3)),
        ("(d0) -> (d0 floordiv 2)", (0,)),
        ("(d0) -> (d0 floordiv 2, d0 mod 2)", ()),
        ("(d0) -> (d0 floordiv 2, d0 mod 3)", (0,)),
        ("(d0, d1) -> (d0 + d0 floordiv 2, d1)", (0,)),
        ("(d0) -> (0)", (0,)),
    ],
)
def test_which_dims_an_element_does_not_tell(text, lost):
    indexing_map = parse_indexing_map(text)
    domain = [AffineExpr.symbol(f"s{d}") for d in range(indexing_map.num_dims)]
    assert indexing_map.lost_dims(domain) == lost


@pytest.mark.parametrize(("inner", "lost"), [(4, ()), (3, ()), (5, (1,))])
def test_digits_tell_their_dims_if_they_do_not_overlap(inner, lost):
    domain = [AffineExpr.symbol("s0"), AffineExpr.const(inner)]
    assert parse_indexing_map("(d0, d1) -> (4 * d0 + d1 - 1)").lost_dims(domain) == lost
    assert parse_indexing_map("(d0, d1) -> (7 - 4 * d0 - d1)").lost_dims(domain) == lost
    assert IndexingMap.scalar(2).lost_dims([AffineExpr.const(1)] * 2) == ()
