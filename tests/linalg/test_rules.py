"""The ops that the dialect gives by a rule: their definitions at ranks 0 to 3 follow it."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from fusejit import linalg
from fusejit.ir.ops import GenericOp, walk
from fusejit.ir.types import IteratorType
from fusejit.linalg.elementwise import KINDS
from fusejit.linalg.winograd import TABLE
from fusejit.structured import DefinitionError, index
from fusejit_testing.linalg import facts

EXTENTS = (3, 2, 4)
RANKS = range(4)
KIND_NAMES = {k: k.removesuffix("_signed") for k in KINDS}
LISTED = facts.OPS["elementwise"]["kinds"]
NEWER = facts.OPS["elementwise"]["kinds_newer"]


def array(rank, dtype=np.float64):
    return np.zeros(EXTENTS[:rank], dtype)


def maps_of(definition):
    """Operand name to its subscripts as text, in order."""
    accesses = [*definition.accesses, *(u.access for u in definition.updates)]
    return [tuple(map(str, a.subscripts)) for a in accesses]


def iterators_of(definition):
    return ["reduction" if d in definition.reductions else "parallel" for d in definition.dims]


def payloads_of(definition):
    return [
        facts.canonical_update(u.access.operand, u.value, u.combiner) for u in definition.updates
    ]


def dims(rank):
    return tuple(f"d{k}" for k in range(rank))


def element(name):
    return ("element", name)


# ----------------------------------------------------------------------------- elementwise and map
def test_elementwise_has_the_kinds_of_the_dialect():
    assert sorted(KINDS) == sorted([*itertools.chain(*LISTED.values()), *NEWER])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_kind_computes_what_its_named_op_does(kind):
    arity = {**dict.fromkeys(LISTED["binary"], 2), "select": 3}.get(kind, 1)
    for rank in RANKS:
        definition, _, _ = linalg.elementwise.resolve(*[array(rank)] * arity, kind=kind)
        assert definition.dims == dims(rank)
        assert iterators_of(definition) == ["parallel"] * rank
        assert maps_of(definition) == [dims(rank)] * (arity + 1)
        names = [f"in{k}" for k in range(arity)]
        (payload,) = payloads_of(definition)
        if kind in NEWER:
            row = kind if kind in ("sin", "cos", "tan") or "log" in kind else f"arc{kind[1:]}"
            assert payload == (row, element("in0"))
        elif kind in ("max_unsigned", "min_unsigned"):  # no named op of their own
            assert payload == (kind, element("in0"), element("in1"))
        else:
            named = facts.op_of(KIND_NAMES[kind], rank)
            own = dict(zip([o.name for o in named.operands], names, strict=False))
            assert payload == renamed(named.payload, own)


def renamed(payload, names):
    """A payload with other names of its elements."""
    if payload[0] == "element":
        return element(names[payload[1]])
    return tuple(renamed(p, names) if isinstance(p, tuple) else p for p in payload)


def test_elementwise_takes_maps_that_transpose_and_broadcast():
    x, y = np.zeros((4, 3)), np.zeros(3)
    maps = ["(a, b) -> (b, a)", "(a, b) -> (a)", "(a, b) -> (a, b)"]
    definition, _, _ = linalg.elementwise.resolve(x, y, kind="add", indexing_maps=maps)
    assert maps_of(definition) == [("b", "a"), ("a",), ("a", "b")]
    assert iterators_of(definition) == ["parallel"] * 2
    with pytest.raises(ValueError, match="elementwise: the maps are not over the dims of the out"):
        linalg.elementwise(x, y, kind="add", indexing_maps=[*maps[:2], "(a, b) -> (a)"])
    with pytest.raises(ValueError, match="elementwise: 2 maps for 3 operands"):
        linalg.elementwise(x, y, kind="add", indexing_maps=maps[:2])


def test_elementwise_takes_numbers_and_refuses_another_number_of_inputs():
    x = array(2)
    for inputs in ((x, 1.0), (1.0, x)):
        definition, _, _ = linalg.elementwise.resolve(*inputs, kind="sub")
        wanted = [dims(2) if i is x else () for i in inputs]
        assert maps_of(definition) == [*wanted, dims(2)]
    for inputs, kind in (((), "exp"), ((x, x), "exp"), ((x,), "add"), ((x, x), "select")):
        with pytest.raises(TypeError, match=f"elementwise: {kind} takes"):
            linalg.elementwise(*inputs, kind=kind)


@pytest.mark.parametrize("rank", RANKS)
def test_map_has_identity_maps_of_the_rank_of_the_result(rank):
    x = array(rank)
    for inputs in ((x,), (x, x, x)):
        definition, _, _ = linalg.map.resolve(lambda *elements: sum(elements), *inputs)
        assert maps_of(definition) == [dims(rank)] * (len(inputs) + 1)
        assert iterators_of(definition) == ["parallel"] * rank
    generator, _, start = linalg.map.resolve(lambda: index("d0") if rank else 1.0, init=x)
    assert maps_of(generator) == [dims(rank)]
    assert start["init"] is x


# --------------------------------------------------------------------------------------- movement
def test_reduce_keeps_the_dims_that_are_not_reduced():
    for rank in RANKS:
        for count in range(rank + 1):
            for reduced in itertools.combinations(range(rank), count):
                kept = tuple(d for k, d in enumerate(dims(rank)) if k not in reduced)
                init = np.zeros([n for k, n in enumerate(EXTENTS[:rank]) if k not in reduced])
                definition, _, _ = linalg.reduce.resolve(
                    lambda x, total: total + x, array(rank), init, reduced
                )
                assert maps_of(definition) == [dims(rank), kept]
                wanted = ["reduction" if k in reduced else "parallel" for k in range(rank)]
                assert iterators_of(definition) == wanted
                assert payloads_of(definition) == [("add", element("out0"), element("in0"))]


def test_reduce_takes_several_inputs_and_accumulators():
    x = array(3)
    several, _, _ = linalg.reduce.resolve(
        lambda a, b, s, t: (s + a, np.maximum(t, b)), [x, x], [array(1), array(1)], [1, 2]
    )
    assert maps_of(several) == [dims(3), dims(3), ("d0",), ("d0",)]
    assert [u.combiner for u in several.updates] == ["add", "maximum"]


def test_broadcast_reads_the_dims_that_are_not_new():
    for rank in RANKS:
        for count in range(rank + 1):
            for new in itertools.permutations(range(rank), count):
                ranks = {"input": rank - count, "init": rank}
                definition = linalg.broadcast.definition_for(ranks, {"dimensions": new})
                kept = tuple(d for k, d in enumerate(dims(rank)) if k not in new)
                assert maps_of(definition) == [kept, dims(rank)]
                assert iterators_of(definition) == ["parallel"] * rank
                assert payloads_of(definition) == [element("input")]


def test_transpose_reads_the_inverse_permutation():
    for rank in RANKS:
        for order in itertools.permutations(range(rank)):
            definition = linalg.transpose.definition_for({"input": rank}, {"permutation": order})
            source, target = maps_of(definition)
            assert target == dims(rank)
            # input axis permutation[i] is indexed by d_i
            assert [source[axis] for axis in order] == list(dims(rank))
            assert iterators_of(definition) == ["parallel"] * rank


# --------------------------------------------------------------------------------------- relayout
TILINGS = [
    ((2,), (3,), None),
    ((0,), (2,), (2, 0, 1)),
    ((2, 0), (3, 2), (1, 2, 0)),
    ((0, 1, 2), (2, 3, 4), (2, 1, 0)),
    ((), (), (1, 0, 2)),
]


@pytest.mark.parametrize(("position", "tiles", "order"), TILINGS)
def test_pack_and_unpack_read_where_the_rule_says(position, tiles, order):
    rank, shape = 3, (4, 6, 9)
    perm = list(order or range(rank))
    tile = dict(zip(position, tiles, strict=True))
    outer = [-(-shape[j] // tile.get(j, 1)) for j in perm]
    options = {"inner_dims_pos": position, "inner_tiles": tiles, "outer_dims_perm": order}
    definition, _, _ = linalg.pack.resolve(np.zeros(shape), padding_value=0.0, **options)
    (source, _number), (update,) = definition.accesses, definition.updates
    assert source.is_padded
    assert iterators_of(definition) == ["parallel"] * len(definition.dims)
    for at in itertools.product(*(range(n) for n in (*outer, *tiles))):
        point = values_of_dims(update.access, at)
        o, t = dict(zip(perm, at, strict=False)), dict(zip(position, at[rank:], strict=True))
        wanted = [o[j] * tile.get(j, 1) + t.get(j, 0) for j in range(rank)]
        assert evaluated(source.subscripts, point) == wanted
    ranks = {"source": rank + len(tiles), "dest": rank}
    back = linalg.unpack.definition_for(ranks, options)
    (source,), (update,) = back.accesses, back.updates
    for at in itertools.product(*map(range, shape)):
        point = values_of_dims(update.access, at)
        wanted = [at[j] // tile.get(j, 1) for j in perm] + [at[j] % tile[j] for j in position]
        assert evaluated(source.subscripts, point) == wanted


def values_of_dims(access, at):
    """The dims at the point that is written at ``at``."""
    assert all(s.as_dim() for s in access.subscripts)
    return {s.as_dim(): n for s, n in zip(access.subscripts, at, strict=True)}


def evaluated(subscripts, point):
    return [int(eval(str(s), {"__builtins__": {}}, point)) for s in subscripts]


# --------------------------------------------------------------------------------------- winograd
def test_the_matrices_of_winograd_are_those_of_the_dialect():
    assert list(TABLE) == list(facts.FACTS["winograd_matrices"])
    for fmr, expected in facts.FACTS["winograd_matrices"].items():
        w = TABLE[fmr]
        assert (w.m, w.r, w.scale) == (expected["m"], expected["r"], expected["scale"])
        for matrix, name in ((w.filter, "G"), (w.input, "BT"), (w.output, "AT")):
            wanted = [[float(Fraction(x)) for x in row] for row in expected[name]]
            assert matrix.tolist() == wanted, (fmr, name)


def test_the_transforms_of_winograd_are_products_with_two_matrices():
    f = linalg.winograd_filter_transform.resolve(np.zeros((2, 3, 3, 5)), fmr="F_4_3")
    i = linalg.winograd_input_transform.resolve(np.zeros((2, 6, 10, 5)), fmr="F_4_3")
    o = linalg.winograd_output_transform.resolve(np.zeros((6, 6, 1, 2, 2, 5)), fmr="F_4_3")
    w = TABLE["F_4_3"]
    for (_, (left, _, right), _), matrix in zip(
        (f, i, o), (w.filter, w.input, w.output * 32), strict=True
    ):
        assert np.array_equal(left, matrix)
        assert np.array_equal(right, matrix)
    assert maps_of(f[0]) == [("i", "p"), ("f", "p", "q", "c"), ("j", "q"), ("i", "j", "c", "f")]
    steps = ("n", "y * steps[0] + p", "x * steps[1] + q", "c")
    assert maps_of(i[0]) == [("i", "p"), steps, ("j", "q"), ("i", "j", "y", "x", "n", "c")]
    assert i[2] == o[2] == {"steps": (4, 4)}
    steps = ("n", "y * steps[0] + i", "x * steps[1] + j", "f")
    assert maps_of(o[0]) == [("i", "p"), ("p", "q", "y", "x", "n", "f"), ("j", "q"), steps]
    for definition, inner in ((f[0], {"p", "q"}), (i[0], {"p", "q"}), (o[0], {"p", "q"})):
        assert definition.reductions == inner


# ------------------------------------------------------------------------- contractions with maps
MATMULS = {
    "matmul": (
        "mnk",
        [("mk", "kn", "mn"), ("km", "kn", "mn"), ("mk", "nk", "nm"), ("k", "kn", "mn")],
        [("m", "kn", "mn"), ("mk", "n", "mn"), ("mk", "kn", "m")],
    ),
    "batch_matmul": (
        "bmnk",
        [("bmk", "bkn", "bmn"), ("bkm", "bnk", "bmn"), ("bk", "k", "bmn"), ("mk", "bkn", "bmn")],
        [("bmk", "bkn", "bnm"), ("km", "bkn", "bmn"), ("mk", "kn", "bmn"), ("bmk", "nk", "bmn")],
    ),
    "batch_reduce_matmul": (
        "bmnk",
        [("bmk", "bkn", "mn"), ("bkm", "bnk", "mn"), ("bk", "bkn", "mn"), ("mk", "bkn", "mn")],
        [("bmk", "bkn", "nm"), ("mk", "kn", "mn"), ("bmk", "nk", "mn")],
    ),
}


def written(domain, letters):
    return f"({', '.join(domain)}) -> ({', '.join(letters)})"


@pytest.mark.parametrize("name", MATMULS)
def test_the_matmuls_take_the_maps_that_the_dialect_allows(name):
    domain, allowed, refused = MATMULS[name]
    op = getattr(linalg, name)
    for cast in ("cast_signed", "cast_unsigned"):
        for letters in allowed:
            given = {"indexing_maps": [written(domain, x) for x in letters], "cast": cast}
            definition = op.definition_for({}, given)
            assert definition.dims == tuple(domain)
            assert maps_of(definition) == [tuple(x) for x in letters]
            is_signed = cast == "cast_signed"
            factors = (("cast", "U", is_signed, element(x)) for x in "AB")
            assert payloads_of(definition) == [("add", element("C"), ("multiply", *factors))]
            reduced = [
                d for d, i in zip(domain, iterators_of(definition), strict=True) if i[0] == "r"
            ]
            assert reduced == [d for d in domain if d not in letters[2]]
    for letters in refused:
        with pytest.raises(ValueError, match=f"^{name}: "):
            op.definition_for({}, {"indexing_maps": [written(domain, x) for x in letters]})
    for other, what in (("(x, y) -> (x)", "is not over"), ("(m) -> (q)", "is not an indexing map")):
        with pytest.raises(ValueError, match=f"^{name}: .* {what}"):
            op.definition_for({}, {"indexing_maps": [other] * 3})
    with pytest.raises(ValueError, match=f"^{name}: cast is one of cast_signed and cast_unsigned"):
        op.definition_for({}, {"cast": "cast_float"})


CONTRACTIONS = [
    ("bmnk", ("bmk", "bkn", "bmn"), "pppr"),
    ("bkmn", ("bkm", "kn", "bmn"), "prpp"),
    ("k", ("k", "k", ""), "r"),
    ("mnxk", ("mxk", "kxn", "nm"), "pprr"),
    ("kab", ("kba", "bk", "a"), "rpr"),
]


@pytest.mark.parametrize(("domain", "letters", "iterators"), CONTRACTIONS)
def test_contract_sums_what_both_inputs_have_and_the_output_lacks(domain, letters, iterators):
    given = {"indexing_maps": [written(domain, x) for x in letters]}
    definition = linalg.contract.definition_for({}, given)
    assert definition.dims == tuple(domain)
    assert maps_of(definition) == [tuple(x) for x in letters]
    assert "".join(i[0] for i in iterators_of(definition)) == iterators
    factors = (("cast", "U", True, element(x)) for x in "AB")
    assert payloads_of(definition) == [("add", element("C"), ("multiply", *factors))]


@pytest.mark.parametrize(
    ("domain", "maps", "what"),
    [
        ("mn", ("m", "n", "mn"), "no dim is summed"),
        ("mn", ("mn", "mn", "mn"), "no dim is summed"),
        ("mk", ("mk", "m", "m"), "dim k is in one input alone"),
        ("mkx", ("mk", "k", "m"), "dim x is in no map alone"),
        ("mkx", ("mk", "k", "mx"), "dim x is in C and in no input"),
        ("mk", ("mmk", "k", "m"), "does not select dims, each once"),
        ("mk", ("mk", "k"), "2 maps for 3 operands"),
    ],
)
def test_contract_refuses_what_is_no_contraction(domain, maps, what):
    with pytest.raises(ValueError, match=f"contract: .*{what}"):
        linalg.contract.definition_for({}, {"indexing_maps": [written(domain, x) for x in maps]})


def test_contract_needs_its_maps():
    with pytest.raises(TypeError, match="contract: indexing_maps= is missing"):
        linalg.contract(np.zeros((2, 3)), np.zeros((3, 2)))


# ------------------------------------------------------------------- softmax, generic, index, yield
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_softmax_decomposes_into_four_structured_ops(rank):
    for dimension in range(rank):
        graph = linalg.softmax.trace(np.ones(EXTENTS[:rank]), dimension=dimension).graph
        ops = [op for op in walk(graph.block) if isinstance(op, GenericOp)]
        reductions = [op for op in ops if IteratorType.REDUCTION in op.iterators]
        total = "add" if dimension == rank - 1 else "add_in_turn"
        assert [op.inits[0].combiner for op in reductions] == ["max", total]
        for op in reductions:
            assert len(op.domain) == rank
            reduced = [k for k, i in enumerate(op.iterators) if i is IteratorType.REDUCTION]
            assert reduced == [dimension]
        elementwise = [op for op in ops if op not in reductions]
        assert [op.name for op in elementwise if len(op.domain) == rank] == [
            "subtract",
            "exp",
            "divide",
        ]


def test_generic_is_what_its_arguments_say():
    x, y, z = np.zeros((3, 4)), np.zeros((4, 5)), np.zeros((3, 5))
    definition, inputs, start = linalg.generic.resolve(
        [x, y],
        [z],
        ["(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"],
        ["parallel", "parallel", "reduction"],
        lambda a, b, c: linalg.OPS["yield"](c + a * b),
    )
    assert definition.dims == ("m", "n", "k")
    assert iterators_of(definition) == ["parallel", "parallel", "reduction"]
    assert maps_of(definition) == [("m", "k"), ("k", "n"), ("m", "n")]
    assert payloads_of(definition) == [
        ("add", element("out0"), ("multiply", element("in0"), element("in1")))
    ]
    assert [*inputs, *start["init"]] == [x, y, z] or all(
        a is b for a, b in zip([*inputs, *start["init"]], [x, y, z], strict=True)
    )


def test_index_and_yield_in_a_payload():
    init = np.zeros((2, 3), np.int64)
    identity = "(i, j) -> (i, j)"
    definition, _, _ = linalg.generic.resolve(
        [],
        [init, init],
        [identity, identity],
        ["parallel", "parallel"],
        lambda a, b: linalg.OPS["yield"](linalg.index("i"), linalg.index("j")),
    )
    assert payloads_of(definition) == [("index", "i"), ("index", "j")]
    with pytest.raises(DefinitionError, match="the payload returns 1 numbers for 2 inits"):
        linalg.generic([], [init, init], [identity] * 2, ["parallel"] * 2, lambda a, b: a)
    with pytest.raises(DefinitionError, match=r"index\(k\) names no dim of the domain"):
        linalg.generic([], [init], [identity], ["parallel"] * 2, lambda a: linalg.index("k"))
