"""The table of named ops against the facts of the dialect, compared as data."""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import linalg
from fusejit.ir.affine import AffineExpr
from fusejit.ir.definitions.binding import bind
from fusejit.ir.definitions.definition import Role
from fusejit.ir.definitions.extents import Given, Numbers
from fusejit.ir.definitions.indices import DIM, EXTENT
from fusejit.linalg.registry import OPS
from fusejit.structured import StructuredOp
from fusejit_testing.linalg import facts

ATTRIBUTE_VALUES = (
    {"strides": (1, 1, 1), "dilations": (1, 1, 1)},
    {"strides": (2, 3, 5), "dilations": (7, 11, 13)},
    {"strides": (4, 1, 2), "dilations": (1, 3, 1)},
)
OTHERS = [
    *["conv", "pad", "pooling_max", "pooling_min", "pooling_sum", "range", "reshape", "slice"]
]
"""What the module has beside the ops of the dialect: a helper, and forms of the older document."""


def affine(indices, dims, attributes):
    """Index expressions as affine ones: dims by position, extents as symbols."""
    names = {d: AffineExpr.dim(k) for k, d in enumerate(dims)}
    for index in indices:
        names |= {e: AffineExpr.symbol(e) for e in index.names(EXTENT)}
    return [index.affine(names, attributes) for index in indices]


def test_the_table_has_the_ops_of_the_dialect_and_no_other():
    assert len(facts.ORDER) == len(set(facts.ORDER)) == 99
    assert sorted(OPS) == sorted(facts.ORDER)


def test_every_op_is_an_attribute_of_the_module_and_has_a_docstring():
    for name, op in OPS.items():
        assert getattr(linalg, name) is op
        assert op.__doc__, name
    assert sorted(linalg.__all__) == sorted([*facts.ORDER, *OTHERS])


def test_the_ops_are_divided_into_those_with_maps_and_those_by_a_rule():
    assert sorted([*facts.ONE_RANK, *facts.EVERY_RANK, *facts.BY_RULE]) == sorted(facts.ORDER)
    assert (len(facts.ONE_RANK), len(facts.EVERY_RANK), len(facts.BY_RULE)) == (60, 24, 15)


# ------------------------------------------------------------------------------------- fixed maps
def assert_is(definition, expected):
    """A definition is what the facts say: operands, attributes, domain, maps, payload."""
    assert definition.name == expected.name
    assert [o.name for o in definition.operands] == [o.name for o in expected.operands]
    assert [o.role.value for o in definition.operands] == [o.role for o in expected.operands]
    assert [o.type for o in definition.operands] == [o.type for o in expected.operands]
    assert dict(definition.attributes) == dict(expected.attributes)
    assert definition.dims == expected.dims
    iterators = ["reduction" if d in definition.reductions else "parallel" for d in definition.dims]
    assert iterators == list(expected.iterators)
    accesses = {
        a.operand: a for a in (*definition.accesses, *(u.access for u in definition.updates))
    }
    assert list(accesses) == [o.name for o in expected.operands]
    assert len(accesses) == len(definition.accesses) + len(definition.updates)
    for operand, fact in zip(definition.operands, expected.operands, strict=True):
        subscripts = accesses[operand.name].subscripts
        assert not accesses[operand.name].is_padded
        for values in ATTRIBUTE_VALUES:
            attributes = {**expected.attributes, **values}
            got, wanted = (affine(m, expected.dims, attributes) for m in (subscripts, fact.map))
            assert got == wanted, (operand.name, got, wanted)
            got, wanted = (affine(s, (), attributes) for s in (operand.shape, fact.shape))
            assert got == wanted, (operand.name, got, wanted)
    (update,) = definition.updates
    payload = facts.canonical_update(update.access.operand, update.value, update.combiner)
    assert payload == expected.payload


@pytest.mark.parametrize("name", facts.ONE_RANK)
def test_an_op_of_one_rank_is_what_the_facts_say(name):
    op = OPS[name]
    assert isinstance(op, StructuredOp)
    assert_is(op.definition, facts.op_of(name))
    ranks = {o.name: len(o.shape) for o in op.definition.operands}
    assert_is(op.definition_for(ranks, {}), facts.op_of(name))


@pytest.mark.parametrize("name", facts.EVERY_RANK)
def test_an_op_of_every_rank_is_what_the_facts_say_at_each(name):
    op = OPS[name]
    inputs = [o.name for o in op.definition.inputs]
    for rank in range(4):
        expected = facts.op_of(name, rank)
        ranks = {o.name: len(o.shape) for o in expected.operands}
        assert_is(op.definition_for(ranks, {}), expected)
        if rank and len(inputs) > 1:  # numbers beside arrays
            for number in inputs:
                mixed = facts.op_of(name, rank, [number])
                assert_is(op.definition_for({**ranks, number: 0}, {}), mixed)


@pytest.mark.parametrize("name", facts.ONE_RANK)
def test_the_domain_has_the_extents_that_the_facts_say(name):
    expected = facts.op_of(name)
    definition = OPS[name].definition
    names = list(
        dict.fromkeys(e for o in expected.operands for s in o.shape for e in s.names(EXTENT))
    )
    sizes = {e: AffineExpr.const(k + 2) for k, e in enumerate(names)}
    for values in ATTRIBUTE_VALUES:
        given = {
            a: v[: len(expected.attributes[a])]
            for a, v in values.items()
            if a in expected.attributes
        }
        attributes = {**expected.attributes, **given}
        operands = {}
        for o in expected.operands:
            dtype = o.type if isinstance(o.type, np.dtype) else np.dtype(np.int32)
            extents = tuple(s.affine(sizes, attributes) for s in o.shape)
            operands[o.name] = Given(dtype, extents)
        for leave_out in ([], [definition.outputs[0].name]):
            if name == "fill_rng_2d" and leave_out:
                continue  # its shape is that of its output
            kept = {n: o for n, o in operands.items() if n not in leave_out}
            binding = bind(definition, kept, given, None, Numbers())
            wanted = [e.affine(sizes, attributes) for e in expected.extents]
            assert [binding.dims[d] for d in expected.dims] == wanted
            output = definition.outputs[0].name
            assert binding.shapes[output] == operands[output].extents


def test_combiners_are_those_of_the_facts():
    for name in facts.ONE_RANK:
        (update,) = OPS[name].definition.updates
        combiner = facts.OPS[name]["combiner"]
        assert update.combiner == (combiner and combiner.removesuffix("_signed")), name
        assert OPS[name].definition.reads_init(update) == facts.OPS[name]["init_read"], name


def test_shape_only_operands_are_not_read():
    windows = [n for n in facts.ONE_RANK if facts.OPS[n]["family"] == "pooling"]
    assert len(windows) == 17
    for name in windows:
        definition = OPS[name].definition
        assert definition.operand("K").role is Role.SHAPE
        assert [definition.is_read(a) for a in definition.accesses] == [True, False]
        assert all(s.op == DIM for s in definition.accesses[1].subscripts)
