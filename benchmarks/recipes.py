"""Recipes that the benchmarks run: schedules of products in loops."""

from fusejit.transform import Schedule


def product(
    s: Schedule, rows: int = 256, depth: int = 256, columns: int = 32, height: int = 8
) -> Schedule:
    """A product of matrices: blocks of rows on threads, panels of B in cache, a register tile."""
    h = s["matmul"].generalize().tile(m=rows, k=depth, reassociate=True)
    h = h.tile(n=columns).promote("b").tile(m=height)
    h = h.vectorize("n", reassociate=True).unroll("m")
    return h.threads("m.0").schedule
