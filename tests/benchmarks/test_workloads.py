"""The table of workloads: complete, runnable, and the same in every form."""

import inspect

import numpy as np
import pytest

from benchmarks.correctness import compare
from benchmarks.engines import NumexprEngine, with_float32_literals
from benchmarks.selection import HEADLINE, SUITES, select_cases, select_workloads
from benchmarks.worker import as_results, build_arguments, digests
from benchmarks.workload import DTYPES, SIZES
from benchmarks.workloads import FAMILIES, WORKLOADS, by_name

SIZE = 300

CASES = [pytest.param(w, dtype, id=f"{w.name}-{dtype}") for w in WORKLOADS for dtype in w.dtypes]
NUMEXPR_CASES = [case for case in CASES if case.values[0].numexpr]
OUT_CASES = [case for case in CASES if case.values[0].out_function]

EXPECTED_FAMILIES = {
    "elementwise",
    "transcendental",
    "broadcast",
    "transpose",
    "reduction",
    "rowwise",
    "stencil",
    "contraction",
    "integer",
    "gather",
    "image",
    "small",
}


def test_names_are_unique():
    names = [w.name for w in WORKLOADS]
    assert len(set(names)) == len(names)


def test_all_families_are_there():
    assert set(FAMILIES) == EXPECTED_FAMILIES


def test_sizes_ascend_and_dtypes_are_known():
    for w in WORKLOADS:
        assert list(w.sizes) == sorted(set(w.sizes))
        assert set(w.dtypes) <= set(DTYPES)


def test_headline_names_exist_and_cover_all_families():
    assert {by_name(name).family for name in HEADLINE} == EXPECTED_FAMILIES


def test_unknown_name_says_what_there_is():
    with pytest.raises(KeyError, match="chain8"):
        by_name("nonsense")


@pytest.mark.parametrize(("workload", "dtype"), CASES)
def test_runs_repeatably_without_warnings(workload, dtype):
    first = workload.build(SIZE, dtype)
    second = workload.build(SIZE, dtype)
    assert digests(first) == digests(second), "the seed decides the arguments"
    results = as_results(workload.function(*first))
    again = as_results(workload.function(*second))
    if workload.mutates:
        results, again = [*results, *first], [*again, *second]
    assert results, "there must be something to compare"
    for have, want in zip(results, again, strict=True):
        np.testing.assert_array_equal(have, want)
        assert np.all(np.isfinite(have))


@pytest.mark.parametrize(("workload", "dtype"), CASES)
def test_only_declared_workloads_write_to_their_arguments(workload, dtype):
    arguments = workload.build(SIZE, dtype)
    before = digests(arguments)
    workload.function(*arguments)
    assert (digests(arguments) != before) == workload.mutates


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.name)
def test_largest_argument_or_result_has_about_the_size_asked_for(workload):
    for size in (size for size in workload.sizes if 1_000 <= size <= 10_000):
        arguments = workload.build(size, workload.dtypes[0])
        results = as_results(workload.function(*arguments))
        largest = max(np.size(array) for array in (*arguments, *results))
        assert 0.8 * size <= largest <= 1.2 * size


@pytest.mark.parametrize(("workload", "dtype"), NUMEXPR_CASES)
def test_numexpr_expression_is_the_same(workload, dtype):
    arguments = workload.build(SIZE, dtype)
    expected = as_results(workload.function(*arguments))
    function = NumexprEngine().load(workload, dtype, with_out=False)
    found = [np.asarray(result) for result in as_results(function(*arguments))]
    _, mismatch = compare(expected, found, SIZE, reassociates=True)
    assert mismatch is None


@pytest.mark.parametrize(("workload", "dtype"), OUT_CASES)
def test_out_form_is_the_same(workload, dtype):
    arguments = build_arguments(workload, SIZE, dtype, with_out=True)
    expected = workload.function(*arguments[:-1])
    assert arguments[-1].dtype == expected.dtype
    workload.out_function(*arguments)
    np.testing.assert_array_equal(arguments[-1], expected)


@pytest.mark.parametrize("workload", [w for w in WORKLOADS if w.out_function], ids=lambda w: w.name)
def test_out_form_has_one_more_parameter(workload):
    parameters = list(inspect.signature(workload.function).parameters)
    assert list(inspect.signature(workload.out_function).parameters) == [*parameters, "out"]


REFERENCED = [pytest.param(w, id=w.name) for w in WORKLOADS if w.reference]


@pytest.mark.parametrize("workload", REFERENCED)
def test_reference_reads_the_argument_and_writes_a_like_result(workload):
    for dtype in workload.dtypes:
        arguments = workload.build(SIZE, dtype)
        wanted = as_results(workload.function(*arguments))
        (found,) = as_results(workload.reference.function(*arguments))
        assert (found.shape, found.dtype) == (wanted[0].shape, wanted[0].dtype)
        assert np.all(np.isin(found, arguments[0])), "values pass through unchanged"
        if workload.out_function:
            out = np.empty_like(found)
            workload.reference.out_function(*arguments, out)
            np.testing.assert_array_equal(out, found)


def test_what_must_be_one_kernel_is_held_against_a_reference():
    tagged = [w for w in WORKLOADS if "one_kernel" in w.tags]
    assert {w.name for w in tagged} >= {"softmax", "layer_norm", "mean_var_max", "stencil_chain"}
    assert all(w.reference for w in tagged)
    for w in tagged:
        for dtype in w.dtypes:
            assert max(w.sizes) * DTYPES[dtype].itemsize >= 128 << 20


def test_fusion_rows_are_4096_of_1024():
    for name in ("softmax", "layer_norm", "rms_norm", "standardise_columns"):
        (x,) = by_name(name).build(2**22, "f32")
        assert x.shape == (4096, 1024)


def test_float32_literals_are_named_and_integers_left_alone():
    expression, constants = with_float32_literals("0.5*x1 + 2*y - 0.5 + 1.e-3")
    assert expression == "k0*x1 + 2*y - k0 + k1"
    assert constants == {"k0": np.float32(0.5), "k1": np.float32(1e-3)}


def test_selection_narrows_and_respects_ranges():
    (chain8,) = select_workloads("all", names=["chain8"])
    assert len(select_cases([chain8])) == len(SIZES) * 2 * 2
    assert len(select_cases([chain8], dtypes=["f64"], with_out=False)) == len(SIZES)
    assert [c.size for c in select_cases([chain8], [5, 5_000], ["f32"], False)] == [5_000]
    small = select_workloads("small")
    assert {w.family for w in small} == {"small"}
    assert select_cases(small, [10**6]) == []
    assert select_workloads("all", families=["image"]) == [
        w for w in WORKLOADS if w.family == "image"
    ]


def test_selection_refuses_unknown_names():
    with pytest.raises(ValueError, match="nonsense"):
        select_workloads("all", names=["nonsense"])
    assert set(SUITES) == {"all", "headline", "small", "fusion", "programs", "bars"}
