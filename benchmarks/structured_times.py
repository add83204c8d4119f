"""``python -m benchmarks.structured_times [NAME..]``: ops of fusejit.linalg beside other libraries.

Each case runs its forms in turn, in one process. A row has the median of each form and the ratio of
the other's time to the time of fusejit, above 1 where fusejit is faster. Contractions stand beside
`np.matmul` on the same data (packed ones beside the product of the matrices that were packed),
convolutions, alone and with bias and relu, beside torch and JAX, if they are installed, and beside
NumPy's windows; products by a recipe of `fusejit.transform` beside BLAS.
"""

import statistics
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.convolution_forms import Form, other_forms
from benchmarks.recipes import product
from fusejit import fuse_jit, linalg
from fusejit.transform import schedule

SECONDS = 1.5
WARM_UP = 5


@dataclass(frozen=True)
class Case:
    """One op on one shape: the form of fusejit, and others by name."""

    name: str
    shape: str
    fusejit: Form
    others: Mapping[str, Form]


def contractions() -> Iterator[Case]:
    """The ops from `dot` to `batch_mmt4d`, f32."""
    rng = np.random.default_rng(0)

    def array(*shape: int) -> np.ndarray:
        return rng.random(shape, np.float32)

    n, b = 512, 8
    square, other, vector = array(n, n), array(n, n), array(n)
    stack, stack2, vectors = array(b, n // 2, n // 2), array(b, n // 2, n // 2), array(b, n // 2)
    long = array(1_000_000)

    def case(name: str, fusejit: Form, numpy: Form, shape: str) -> Case:
        return Case(name, shape, fusejit, {"np.matmul": numpy})

    yield case("dot", lambda: linalg.dot(long, long), lambda: np.matmul(long, long), "1e6")
    yield case("matvec", lambda: linalg.matvec(square, vector), lambda: square @ vector, f"{n}")
    yield case("vecmat", lambda: linalg.vecmat(vector, square), lambda: vector @ square, f"{n}")
    yield case("matmul", lambda: linalg.matmul(square, other), lambda: square @ other, f"{n}")
    transposed = "(m, n, k) -> (m, k)", "(m, n, k) -> (n, k)", "(m, n, k) -> (m, n)"
    yield case(
        "matmul, B transposed",
        lambda: linalg.matmul(square, other, indexing_maps=transposed),
        lambda: square @ other.T,
        f"{n}",
    )
    yield case(
        "contract",
        lambda: linalg.contract(square, other, indexing_maps=transposed),
        lambda: square @ other.T,
        f"{n}",
    )
    shape = f"{b} x {n // 2}"
    yield case(
        "batch_matmul", lambda: linalg.batch_matmul(stack, stack2), lambda: stack @ stack2, shape
    )
    yield case(
        "batch_reduce_matmul",
        lambda: linalg.batch_reduce_matmul(stack, stack2),
        lambda: (stack @ stack2).sum(0),
        shape,
    )
    yield case(
        "batch_matvec",
        lambda: linalg.batch_matvec(stack, vectors),
        lambda: np.matmul(stack, vectors[..., None])[..., 0],
        shape,
    )
    yield case(
        "batch_vecmat",
        lambda: linalg.batch_vecmat(vectors, stack),
        lambda: np.matmul(vectors[:, None], stack)[:, 0],
        shape,
    )
    tiles, packed = array(n // 8, n // 8, 8, 8), array(n // 8, n // 8, 8, 8)
    yield case(
        "mmt4d", lambda: linalg.mmt4d(tiles, packed), lambda: square @ other, f"{n}, tiles 8"
    )
    tiles4, packed4 = array(b, n // 16, n // 16, 8, 8), array(b, n // 16, n // 16, 8, 8)
    yield case(
        "batch_mmt4d",
        lambda: linalg.batch_mmt4d(tiles4, packed4),
        lambda: stack @ stack2,
        f"{shape}, tiles 8",
    )


def convolutions() -> Iterator[Case]:
    """Depthwise and full convolutions, f32, channels last, alone and with bias and relu."""
    rng = np.random.default_rng(0)
    image, bias = rng.random((8, 58, 58, 64), np.float32), rng.random(64, np.float32)
    depthwise, full = rng.random((3, 3, 64), np.float32), rng.random((3, 3, 64, 64), np.float32)
    named = (
        ("depthwise_conv_2d_nhwc_hwc", linalg.depthwise_conv_2d_nhwc_hwc, depthwise, "3x3"),
        ("conv_2d_nhwc_hwcf", linalg.conv_2d_nhwc_hwcf, full, "3x3, 64"),
    )
    for name, op, kernel, window in named:

        @fuse_jit(fullgraph=True)
        def layer(x: Any, k: Any, b: Any, op: Any = op) -> Any:
            return np.maximum(op(x, k) + b, 0)

        shape = f"8x58x58x64, {window}"
        yield Case(name, shape, partial(op, image, kernel), other_forms(image, kernel))
        run = partial(layer, image, kernel, bias)
        yield Case(f"{name}+relu", shape, run, other_forms(image, kernel, bias))


def recipes() -> Iterator[Case]:
    """Products by a recipe of `fusejit.transform`, in loops, beside BLAS."""
    rng = np.random.default_rng(0)
    for n in (256, 512, 1000, 1024):
        a, b = rng.random((n, n), np.float32), rng.random((n, n), np.float32)
        run = product(schedule(lambda a, b: a @ b, a, b)).compile()
        blas = {"np.matmul": partial(np.matmul, a, b)}
        yield Case("matmul by a recipe", str(n), partial(run, a, b), blas)


def medians(case: Case) -> dict[str, float]:
    """The median time of each form, run in turn."""
    forms = {"fusejit": case.fusejit, **case.others}
    for form in forms.values():
        for _ in range(WARM_UP):
            form()
    times: dict[str, list[float]] = {name: [] for name in forms}
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times["fusejit"]) < 5:
        for name, form in forms.items():
            begin = time.perf_counter()
            form()
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(found) for name, found in times.items()}


def main(names: list[str]) -> None:
    """Print a row for each case."""
    for case in (*contractions(), *convolutions(), *recipes()):
        if names and case.name not in names:
            continue
        found = medians(case)
        seconds = found.pop("fusejit")
        rest = "   ".join(f"{n} {t * 1e6:9.1f} us {t / seconds:6.2f}x" for n, t in found.items())
        print(f"{case.name:28s} {case.shape:20s} {seconds * 1e6:9.1f} us   {rest}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
