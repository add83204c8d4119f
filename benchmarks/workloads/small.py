"""The same functions on 10 to 1000 elements, where the cost of the call decides."""

from dataclasses import replace

from benchmarks.workload import SMALL_SIZES
from benchmarks.workloads import contraction, elementwise, integer, reduction, rowwise, stencil
from benchmarks.workloads import transcendental as trans

FAMILY = "small"

_NAMES = (
    "add",
    "sqrt",
    "chain2",
    "chain8",
    "leaky_relu",
    "exp_decay",
    "sum_all",
    "dot_like",
    "softmax",
    "layer_norm",
    "laplace",
    "dense_relu",
    "integer_chain",
)

_SOURCES = (elementwise, trans, reduction, rowwise, stencil, contraction, integer)
_BY_NAME = {w.name: w for module in _SOURCES for w in module.WORKLOADS}

WORKLOADS = tuple(
    replace(
        _BY_NAME[name],
        name=f"small_{name}",
        family=FAMILY,
        sizes=SMALL_SIZES,
        tags=_BY_NAME[name].tags - {"fusion", "one_kernel"},
        reference=None,
    )
    for name in _NAMES
)
