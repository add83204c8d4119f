r"""`expand`: a dim becomes two.

>>> h = schedule(lambda a: np.exp(a[:8]), np.ones(9))["exp"]
>>> print(h.show())
%v2 = generic "exp" domain (8) ins (%v1) outs (write) { t0 = exp in0 : f64; yield t0 } : 8 x f64
>>> print("\n".join(h.expand(i=4).schedule.show().splitlines()[-4:-2]))
  %v2_r = generic "exp" domain (2, 4) ins (%v1 [(d0, d1) -> (4 * d0 + d1)]) outs (write) { t0 =
      exp in0 : f64; yield t0 } : 2 x 4 x f64
  %v2 = reshape %v2_r collapse [[0, 1]] : 8 x f64

Rule: the extent is known to be a multiple of the size: `tile`, `peel` or `pad` make such extents.
A dim ``i`` becomes ``i.0`` and ``i.1``, of that size. A dim that is summed becomes two, of which
``i.1`` is summed first. Source: MLIR's ``expand_shape`` patterns.
"""

from __future__ import annotations

from fusejit.fuse.reshaping.regroup import DimGroup
from fusejit.fuse.tiling.illegal import illegal
from fusejit.ir.affine import AffineExpr
from fusejit.ir.ops import base_name
from fusejit.transform.core.arguments import primitive
from fusejit.transform.core.base import H, call
from fusejit.transform.core.regroup import regrouped


@primitive
def expand(handle: H, *, reassociate: bool = False, check: bool = True, **sizes: int) -> H:
    """Make two dims of one, the inner one of the given size.

    Parameters
    ----------
    reassociate : bool, optional
        True: floats may be summed in another order.
    check : bool, optional
        False: do not compare with the op before on small arrays.
    **sizes
        One dim, and the extent of the inner one.

    Raises
    ------
    ScheduleError
        If the dim is unknown, its extent is not known to be a multiple of the size, or nothing
        would change.
    """
    step, op, dims = call("expand", **sizes), handle.op, handle.dims
    if len(sizes) != 1:
        raise illegal(step, op.name, "one dim is split at a time", [f"{n}=.." for n in dims])
    (name, size), *_ = sizes.items()
    d = handle.dim(name, step)
    extent = op.domain[d]
    if size < 2 or extent.as_constant() == size:
        raise illegal(step, op.name, f"a size of {size} changes nothing")
    if extent.mod(size).as_constant() != 0:
        legal = [] if extent.is_constant else [f"tile({name}=..) and peel first", "pad first"]
        why = f"{name} has extent {extent}, which is not known to be a multiple of {size}"
        raise illegal(step, op.name, why, legal)
    outer = extent.floordiv(size)
    through = {k: AffineExpr.dim(k + (k > d)) for k in range(len(dims))}
    through[d] = AffineExpr.dim(d) * size + AffineExpr.dim(d + 1)
    names = [*dims[:d], f"{name}.0", f"{name}.1", *dims[d + 1 :]]
    what = f"{name} of {base_name(op.name)} is {outer} times {size}"
    group = DimGroup((d,), (outer, AffineExpr.const(size)))
    return regrouped(
        handle,
        group,
        handle.schedule.graph,
        step,
        what,
        names,
        through=through,
        reassociate=reassociate,
        check=check,
    )
