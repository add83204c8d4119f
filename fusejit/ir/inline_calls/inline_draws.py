"""Draws of random numbers that kernels make themselves, with NumPy's or Python's bits.

One row per draw:

    %z = host_call "numpy.random.Generator.standard_normal"(%bits) as "{o0}, 3" with (arg:rng)
         inline effect

Such a call is a draw from the generator ``{o0}``, for whoever runs it in Python. Kernels get the
address of the generator's C struct instead, ``bits(arg:rng)``, as its last argument, after the
parameters of the draw: that of `numpy.random.Generator`, or the state of `random.Random`,
``twister(arg:rng)``.
"""

from __future__ import annotations

from fusejit.dataclass import dataclass
from fusejit.ir.ops import HostCall
from fusejit.ir.values import Value

NUMPY, PYTHON = "numpy.random.Generator", "random.Random"


@dataclass(frozen=True, slots=True)
class InlineDraw:
    """One number of a draw: ``intrinsic(bits, *parameters)``.

    Attributes
    ----------
    method : str
        Of the ``owner``.
    dtype : str
        Of the numbers.
    num_parameters : int
        Integers that the kernel is given for each call.
    """

    intrinsic: str
    method: str
    dtype: str
    num_parameters: int = 0
    owner: str = NUMPY

    @property
    def function(self) -> str:
        """What the host call calls."""
        return f"{self.owner}.{self.method}"


INLINE_DRAWS: tuple[InlineDraw, ...] = (
    InlineDraw("draw_f64", "random", "float64"),
    InlineDraw("draw_f32", "random", "float32"),
    InlineDraw("draw_normal", "standard_normal", "float64"),
    InlineDraw("draw_exponential", "standard_exponential", "float64"),
    InlineDraw("draw_integer", "integers", "int64", 2),
    InlineDraw("draw_twister", "random", "float64", owner=PYTHON),
    InlineDraw("draw_twister_bits", "getrandbits", "int64", 1, owner=PYTHON),
)
_BY_CALL = {(row.function, row.dtype): row for row in INLINE_DRAWS}

BOUNDS: dict[tuple[bool, bool], str] = {
    (False, False): "low >= high",
    (False, True): "low > high",
    (True, False): "high <= 0",
    (True, True): "high < 0",
}
"""What NumPy says where there is no integer to draw: whether ``low`` is 0, ``endpoint``."""


def inline_draw(method: str, dtype: str, owner: str = NUMPY) -> InlineDraw | None:
    """The row of a method of a generator for numbers of a dtype."""
    return _BY_CALL.get((f"{owner}.{method}", dtype))


def draw_of(op: HostCall) -> InlineDraw:
    """The row of a call that kernels make themselves."""
    return _BY_CALL[op.function, op.results[0].type.dtype.name]


def draw_arguments(op: HostCall) -> tuple[Value, ...]:
    """What the kernel needs: the address of the generator, then the parameters."""
    first = len(op.arguments) - 1 - draw_of(op).num_parameters
    return op.arguments[-1], *op.arguments[first:-1]
