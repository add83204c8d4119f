"""The named ops against real MLIR: its executions, and its generic forms.

MLIR runs in a child process: all ops are sent to it at once.
"""

from __future__ import annotations

import numpy as np
import pytest

from fusejit import linalg
from fusejit.ir.affine import AffineExpr
from fusejit.linalg.elementwise import KINDS
from fusejit.linalg.registry import OPS
from fusejit.structured import affine_map
from fusejit_testing import mlir_oracle
from fusejit_testing.linalg import contractions, facts, named_mlir, pointwise, windows
from fusejit_testing.linalg.cases import Case, sample

pytest.importorskip("torch_mlir", reason="the MLIR bindings are not installed")

CONTRACTIONS = [*contractions.EINSUM, "contract"]


def cases_of(name):
    """The cases that MLIR has types for; those without elements are left out."""
    if name in CONTRACTIONS:
        found = contractions.cases(name)
    elif name.startswith("pooling"):
        found = windows.poolings(name)
    elif "conv" in name:
        found = windows.convolutions(name)
    elif name == "fill":
        found = fills()
    elif name == "fill_rng_2d":
        found = random_numbers()
    else:
        own = {"select": pointwise.selections, "copy": pointwise.copies}
        found = own[name]() if name in own else pointwise.cases(name)
    return [c for c in found if is_of_mlir(name, c)]


def fills():
    found = []
    for value in (np.float64(2.5), np.float32(-1.5), np.int32(7), np.int8(-3), np.bool_(True)):
        start = sample(np.random.default_rng(0), (3, 5), value.dtype)
        found.append(Case(f"fill {value!r}", (value,), {}, None, start, start))
    return found


def random_numbers():
    found = []
    for dtype in ("f8", "f4", "i4"):
        inputs = (-50.0, 70.0, np.int32(-123456789))
        start = np.zeros((5, 7), dtype)
        found.append(Case(f"fill_rng_2d {dtype}", inputs, {}, None, start, start))
    return found


def is_of_mlir(name, case):
    """Whether all types are MLIR's, and it does what its definition says."""
    values = [np.asarray(v) for v in (*case.inputs, case.start)]
    if any(v.dtype.kind in "uc" or not v.size for v in values):
        return False
    if name.endswith("_unsigned") and case.start.dtype.kind == "b":
        return False  # it refuses to read bools as unsigned
    return not (name == "batch_reduce_matmul" and case.keywords.get("cast") == "cast_unsigned")


NAMES = [*facts.FIXED, "contract"]
NAMES.remove("map")  # has a payload of the user's
CASES = [(name, case) for name in NAMES for case in cases_of(name)]


def keywords_of(case):
    return {k: v for k, v in case.keywords.items() if k != "dtype"}


def program_of(name, case):
    inputs = [x if not isinstance(x, float) else np.float64(x) for x in case.inputs]
    return named_mlir.program_of(name, inputs, case.start, keywords_of(case))


def test_every_op_with_fixed_maps_has_cases():
    assert {name for name, _ in CASES} == set(NAMES)
    assert len(NAMES) == 85
    assert len(CASES) > 270


def test_executions_are_equal():
    programs = [program_of(name, case) for name, case in CASES]
    for (name, case), (expected,) in zip(CASES, mlir_oracle.run(programs), strict=True):
        actual = OPS[name].reference(*case.inputs, **keywords_of(case), init=case.start)
        assert np.asarray(actual).dtype == expected.dtype, case.label
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(actual, expected, 1e-5, 1e-6, err_msg=case.label)
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=case.label)


def test_maps_and_iterator_types_are_equal():
    """Those of the generic op that MLIR makes of the named one."""
    texts = [program_of(name, case).text for name, case in CASES]
    for (name, case), (maps, iterators, text) in zip(
        CASES, mlir_oracle.generalized(texts), strict=True
    ):
        values = [*case.inputs, case.start]
        operands = OPS[name].definition.operands
        ranks = {o.name: np.ndim(v) for o, v in zip(operands, values, strict=True)}
        definition = OPS[name].definition_for(ranks, keywords_of(case))
        own = ["reduction" if d in definition.reductions else "parallel" for d in definition.dims]
        assert own == iterators, (case.label, text)
        accesses = [*definition.accesses, *(u.access for u in definition.updates)]
        for access, written in zip(accesses, maps, strict=True):
            attributes = {**definition.attributes, **keywords_of(case)}
            found = definition.indexing_map(access, {}, attributes)
            wanted = affine_map(written)
            dims = {d: AffineExpr.dim(k) for k, d in enumerate(wanted.dims)}
            results = tuple(r.affine(dims, {}) for r in wanted.results)
            assert found.results == results, (case.label, access.operand, written)


# ------------------------------------------------------------------------------------ ops by rule
def calls_by_rule():
    """What runs, the op's own call, and the program in MLIR."""
    rng = np.random.default_rng(3)
    for dtype in ("f8", "f4", "i4", "?"):
        x = sample(rng, (2, 3, 4), dtype)
        for order in ((2, 0, 1), (1, 0, 2), (0, 2, 1)):
            start = np.zeros([x.shape[k] for k in order], dtype)
            ending = f" permutation = {list(order)}"
            program = named_mlir.program_with("transpose", [x], start, ending)
            yield f"transpose {order}", linalg.transpose, [x], {"permutation": order}, program
        for new, shape in (((1,), (2, 5, 3, 4)), ((3, 0), (6, 2, 3, 5, 4)), ((), (2, 3, 4))):
            start = np.zeros(shape, dtype)
            program = named_mlir.program_with("broadcast", [x], start, f" dimensions = {list(new)}")
            yield f"broadcast {new}", linalg.broadcast, [x], {"dimensions": new}, program
    for kind in KINDS:
        name = kind.removesuffix("_signed")
        maps = {}
        if name == "select":
            inputs = pointwise.selections()[0].inputs
        elif name in pointwise.BINARY:
            dtype = pointwise.BINARY[name][1].split()[0]
            inputs = pointwise.operands(name, 2, (3, 5), dtype)
            inputs[1] = inputs[1][0]
            maps = {"indexing_maps": ["(a, b) -> (a, b)", "(a, b) -> (b)", "(a, b) -> (a, b)"]}
        else:
            inputs = [np.abs(sample(rng, (3, 5), "f8")) % 0.9 + (kind == "acosh")]
            maps = {"indexing_maps": ["(a, b) -> (b, a)", "(a, b) -> (a, b)"]}
        shape = inputs[0].shape[::-1] if len(inputs) == 1 else inputs[0].shape
        start = np.zeros(shape, inputs[-1].dtype)
        text, _ = named_mlir.attributes_of(maps)
        op = f"elementwise kind=#linalg.elementwise_kind<{kind}>{text}"
        program = named_mlir.program_with(op, inputs, start, " -> {result}")
        yield f"elementwise {kind}", linalg.elementwise, inputs, {"kind": kind, **maps}, program


def test_ops_by_rule_are_equal():
    calls = list(calls_by_rule())
    results = mlir_oracle.run([program for *_, program in calls])
    assert len(calls) == 24 + 36
    for (label, op, inputs, keywords, program), (expected,) in zip(calls, results, strict=True):
        actual = op.reference(*inputs, **keywords, init=program.arguments[-1])
        assert actual.dtype == expected.dtype, label
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(actual, expected, 1e-5, err_msg=label)
        else:
            np.testing.assert_array_equal(actual, expected, err_msg=label)
