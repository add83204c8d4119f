"""THE table of scalar ops: a row holds all that is known of one.

The tracer finds a NumPy ufunc's row here, the payload computes with it, passes ask it for
identities and ranges, codegen emits its template, MLIR its operation, the printer and
docs/semantics.md name it. A new elementwise function is one row.

Templates are Python expressions over operands ``{0}``, ``{1}``, ...; ``{T}`` is the result's dtype
token (``f64``), which casts. They are chosen by the class of the first operand's dtype:
``b`` bool, ``i`` signed, ``u`` unsigned, ``f`` floating, ``c`` complex (which only the rows that
take such numbers apart have: see `fusejit.ir.complex_numbers`). The names they call are rows of
`fusejit.codegen.intrinsics.intrinsic_table.INTRINSICS`.
"""

from __future__ import annotations

import math

import numpy as np

from fusejit.dataclass import replace
from fusejit.ir.scalar_ops import op_overflow, op_ranges
from fusejit.ir.scalar_ops.evaluation import FITS, complex_of, fused_multiply_add
from fusejit.ir.scalar_ops.families import (
    absorbing,
    all_ones,
    arithmetic,
    bitwise,
    compared,
    extremes,
    false,
    floating,
    highest,
    integers,
    integral,
    itself,
    logical,
    lowest,
    math_function,
    minus_zero,
    neutral,
    of_numpy,
    one,
    rounding,
    true,
    zero,
)
from fusejit.ir.scalar_ops.math_functions import MathFunction
from fusejit.ir.scalar_ops.mlir_forms import (
    NOT,
    REMAINDER,
    SQUARE,
    by_class,
    comparison,
    is_divisor,
    is_shift,
    of_floats,
    unary,
)
from fusejit.ir.scalar_ops.row import Identity, ScalarOp

_F32, _F64 = frozenset({"f32"}), frozenset({"f64"})
_BOTH = _F32 | _F64
_DEGREE, _RADIAN = "({T}(3.141592653589793) / {T}(180.0))", "({T}(180.0) / {T}(3.141592653589793))"

_ROWS: tuple[ScalarOp, ...] = (
    of_numpy(
        np.add,
        {**arithmetic("+", "int_add"), "b": "({0} | {1})"},
        is_few_instructions=True,
        commutative=True,
        identities=(neutral("biuf", minus_zero),),
        range_of=op_ranges.added,
        keeps_low_bits=True,
        fits=op_overflow.added_fits,
        host="add",
        mlir=by_class("arith.addi", "arith.addi", "arith.addf", "arith.ori"),
    ),
    of_numpy(
        np.subtract,
        arithmetic("-", "int_sub"),
        is_few_instructions=True,
        identities=(neutral("iuf", zero, is_symmetric=False), itself("iu", zero)),
        range_of=op_ranges.subtracted,
        keeps_low_bits=True,
        fits=op_overflow.subtracted_fits,
        host="sub",
        mlir=by_class("arith.subi", "arith.subi", "arith.subf"),
    ),
    of_numpy(
        np.multiply,
        {**arithmetic("*", "int_mul"), "b": "({0} & {1})"},
        is_few_instructions=True,
        commutative=True,
        identities=(neutral("biuf", one), absorbing("biu", zero)),
        range_of=op_ranges.multiplied,
        keeps_low_bits=True,
        fits=op_overflow.multiplied_fits,
        host="mul",
        mlir=by_class("arith.muli", "arith.muli", "arith.mulf", "arith.andi"),
    ),
    of_numpy(
        np.divide,
        floating("({0} / {1})"),
        0.4,
        identities=(neutral("f", one, is_symmetric=False),),
        host="truediv",
        mlir=of_floats("arith.divf", 2),
    ),
    replace(
        math_function(
            np.power, "pow", 2.0, (4.28, 9.94), (0.69, 1.84), mlir="powf", prefer_svml=_BOTH
        ),
        templates=integral("int_pow({0}, {1})", f="power({0}, {1})"),
        host="pow",
    ),
    of_numpy(
        np.negative,
        integral("int_neg({0})", f="(-{0})"),
        is_few_instructions=True,
        range_of=op_ranges.negated,
        keeps_low_bits=True,
        fits=op_overflow.negated_fits,
        host="neg",
        mlir={
            "f": unary("arith.negf"),
            **dict.fromkeys("iu", ("arith.constant {zero} : {t}", "arith.subi {p0}, {0} : {t}")),
        },
    ),
    of_numpy(
        np.absolute,
        {"i": "int_abs({0})", "u": "{0}", "b": "{0}", "f": "fabs({0})"},
        range_of=op_ranges.absolute,
        fits=op_overflow.negated_fits,
        host="abs",
        mlir={"i": unary("math.absi"), "f": unary("math.absf"), "u": (), "b": ()},
    ),
    of_numpy(np.sqrt, floating("sqrt({0})"), 0.6, host="sqrt", mlir=of_floats("math.sqrt")),
    of_numpy(
        np.square,
        integral("int_mul({0}, {0})", f="({0} * {0})"),
        is_few_instructions=True,
        mlir=SQUARE,
    ),
    of_numpy(
        np.reciprocal,
        floating("({T}(1.0) / {0})"),
        0.4,
        mlir={"f": ("arith.constant {one} : {t}", "arith.divf {p0}, {0} : {t}")},
    ),
    math_function(np.exp, "exp", 0.7, (1.95, 3.85), (0.34, 0.63), mlir="exp", prefer_svml=_F64),
    math_function(np.exp2, "exp2", 0.6, (2.22, 2.49), (0.23, 0.60), mlir="exp2"),
    math_function(np.expm1, "expm1", 0.9, (9.10, 6.91), (0.36, 0.89), mlir="expm1"),
    math_function(np.log, "log", 0.8, (2.22, 3.08), (0.29, 0.64), mlir="log", prefer_svml=_BOTH),
    math_function(np.log2, "log2", 0.7, (1.96, 3.07), (0.21, 0.66), mlir="log2"),
    math_function(np.log10, "log10", 0.7, (4.93, 5.65), (0.22, 0.70), mlir="log10"),
    math_function(np.log1p, "log1p", 0.9, (6.92, 5.66), (0.49, 0.86), mlir="log1p"),
    math_function(np.sin, "sin", 1.0, (2.38, 8.58), (0.32, 0.71), mlir="sin"),
    math_function(np.cos, "cos", 1.0, (2.59, 8.65), (0.34, 0.75), mlir="cos"),
    math_function(np.tan, "tan", 1.0, (10.7, 10.2), (0.44, 0.97), mlir="tan"),
    math_function(np.arcsin, "asin", 1.1, (3.27, 4.59), (0.43, 1.09), mlir="asin"),
    math_function(np.arccos, "acos", 1.1, (4.36, 4.66), (0.46, 1.14), mlir="acos"),
    math_function(np.arctan, "atan", 1.1, (4.89, 8.10), (0.43, 1.13), mlir="atan"),
    math_function(np.arctan2, "atan2", 1.5, (9.37, 11.3), (0.62, 1.55), mlir="atan2"),
    math_function(
        *(np.sinh, "sinh", 1.4, (12.5, 11.1), (0.38, 1.20)),
        mlir="sinh",
        prefer_svml=_F64,
        high_accuracy=_F64,
    ),
    math_function(np.cosh, "cosh", 0.8, (4.97, 5.52), (0.34, 0.81), mlir="cosh"),
    math_function(np.tanh, "tanh", 1.3, (11.7, 10.0), (0.45, 1.86), mlir="tanh"),
    math_function(np.arcsinh, "asinh", 2.0, (6.79, 7.89), (0.85, 2.05), mlir="asinh"),
    math_function(
        np.arccosh, "acosh", 1.8, (5.25, 6.36), (0.66, 1.81), mlir="acosh", prefer_svml=_BOTH
    ),
    math_function(np.arctanh, "atanh", 1.4, (10.4, 9.16), (0.52, 1.38), mlir="atanh"),
    math_function(np.hypot, "hypot", 0.5, (2.49, 4.96), (0.26, 0.46)),
    math_function(np.cbrt, "cbrt", 0.9, (8.42, 9.87), (0.34, 0.90), mlir="cbrt"),
    math_function(math.erf, "erf", 1.5, (8.64, 8.83), (0.55, 1.45), mlir="erf", half_width=_F32),
    math_function(math.erfc, "erfc", 1.8, (11.1, 11.4), (0.72, 1.82), mlir="erfc", half_width=_F32),
    extremes(
        np.maximum,
        identities=(neutral("biuf", lowest), absorbing("biu", highest)),  # NaN stays NaN
        range_of=op_ranges.larger,
        host="max",
        mlir=by_class("arith.maxsi", "arith.maxui", "arith.maximumf", "arith.ori"),
    ),
    extremes(
        np.minimum,
        identities=(neutral("biuf", highest), absorbing("biu", lowest)),
        range_of=op_ranges.smaller,
        host="min",
        mlir=by_class("arith.minsi", "arith.minui", "arith.minimumf", "arith.andi"),
    ),
    extremes(np.fmax),  # no neutral number: it turns NaN into the number
    extremes(np.fmin),
    integers(
        np.floor_divide,
        "int_floordiv",
        1.0,
        "float_floordiv({0}, {1})",
        scalar_templates=dict.fromkeys("iu", "scalar_floordiv({0}, {1})"),
        identities=(neutral("iu", one, is_symmetric=False),),
        range_of=op_ranges.floor_divided,
        fits=op_overflow.divided_fits,
        host="floordiv",
        mlir=by_class("arith.floordivsi", "arith.divui"),
        mlir_defines=is_divisor,
    ),
    integers(
        np.remainder,
        "int_mod",
        1.0,
        "float_mod({0}, {1})",
        scalar_templates=dict.fromkeys("iu", "scalar_mod({0}, {1})"),
        identities=(Identity("iu", one, zero, is_symmetric=False),),
        range_of=op_ranges.remainder,
        host="mod",
        mlir=REMAINDER,
        mlir_defines=is_divisor,
    ),
    integers(
        *(np.fmod, "int_fmod", 1.0, "float_fmod({0}, {1})"),
        host="fmod",
        mlir=by_class("arith.remsi", "arith.remui"),
        mlir_defines=is_divisor,
    ),
    rounding(np.floor),
    rounding(np.ceil),
    rounding(np.trunc),
    of_numpy(np.rint, floating("rint({0})"), mlir=of_floats("math.roundeven")),
    of_numpy(np.fabs, floating("fabs({0})"), host="fabs"),
    of_numpy(
        np.copysign,
        floating("copysign({0}, {1})"),
        host="copysign",
        mlir=of_floats("math.copysign", 2),
    ),
    of_numpy(
        np.sign,
        {
            "i": "{T}({T}({0} > {T}(0)) - {T}({0} < {T}(0)))",
            "u": "{T}({0} > {T}(0))",
            "f": "select({0} > {T}(0.0), {T}(1.0), "
            "select({0} < {T}(0.0), {T}(-1.0), {0} + {T}(0.0)))",
        },
        0.2,
    ),
    of_numpy(
        np.heaviside,
        floating(
            "select({0} == {T}(0.0), {1}, select({0} < {T}(0.0), {T}(0.0), "
            "select({0} > {T}(0.0), {T}(1.0), {0})))"
        ),
        0.2,
    ),
    *(
        of_numpy(ufunc, floating(f"({{0}} * {factor})"), host=host)
        for ufunc, factor, host in (
            (np.deg2rad, _DEGREE, ""),
            (np.radians, _DEGREE, "radians"),
            (np.rad2deg, _RADIAN, ""),
            (np.degrees, _RADIAN, "degrees"),
        )
    ),
    compared(
        *(np.equal, "==", "eq", comparison("eq", "oeq"), itself("biu", true)),
        commutative=True,
        opposite="not_equal",
        opposite_if_ordered="not_equal",
    ),
    compared(
        *(np.not_equal, "!=", "ne", comparison("ne", "une"), itself("biu", false)),
        commutative=True,
        opposite="equal",
        opposite_if_ordered="equal",
    ),
    compared(
        *(np.less, "<", "lt", comparison("lt", "olt"), itself("biuf", false)),
        opposite_if_ordered="greater_equal",
    ),
    compared(
        *(np.less_equal, "<=", "le", comparison("le", "ole"), itself("biu", true)),
        opposite_if_ordered="greater",
    ),
    compared(
        *(np.greater, ">", "gt", comparison("gt", "ogt"), itself("biuf", false)),
        opposite_if_ordered="less_equal",
    ),
    compared(
        *(np.greater_equal, ">=", "ge", comparison("ge", "oge"), itself("biu", true)),
        opposite_if_ordered="less",
    ),
    logical(
        *(np.logical_and, "&", neutral("b", true), absorbing("b", false), itself("b")),
        mlir="arith.andi",
    ),
    logical(
        *(np.logical_or, "|", neutral("b", false), absorbing("b", true), itself("b")),
        mlir="arith.ori",
    ),
    logical(np.logical_xor, "!=", neutral("b", false), itself("b", false)),
    of_numpy(np.logical_not, {"b": "({0} == False)"}, is_few_instructions=True, mlir={"b": NOT}),
    bitwise(
        *(np.bitwise_and, "&", "&", "bitand", op_ranges.bitwise_and, "arith.andi"),
        *(neutral("biu", all_ones), absorbing("biu", zero), itself("biu")),
    ),
    bitwise(
        *(np.bitwise_or, "|", "|", "bitor", op_ranges.bitwise_or, "arith.ori"),
        *(neutral("biu", zero), absorbing("biu", all_ones), itself("biu")),
    ),
    bitwise(
        *(np.bitwise_xor, "^", "!=", "bitxor", op_ranges.bitwise_or, "arith.xori"),
        *(neutral("biu", zero), itself("biu", zero)),
    ),
    of_numpy(
        np.invert,
        integral("{T}(~{0})", b="({0} == False)"),
        is_few_instructions=True,
        range_of=op_ranges.inverted,
        keeps_low_bits=True,
        host="invert",
        mlir=dict.fromkeys("iub", NOT),
    ),
    integers(
        np.left_shift,
        "shift_left",
        0.15,
        identities=(neutral("iu", zero, is_symmetric=False),),
        range_of=op_ranges.shifted_left,
        keeps_low_bits=True,
        fits=op_overflow.shifted_fits,
        host="lshift",
        mlir=by_class("arith.shli", "arith.shli"),
        mlir_defines=is_shift,
    ),
    integers(
        np.right_shift,
        "shift_right",
        0.15,
        identities=(neutral("iu", zero, is_symmetric=False),),
        range_of=op_ranges.shifted_right,
        host="rshift",
        mlir=by_class("arith.shrsi", "arith.shrui"),
        mlir_defines=is_shift,
    ),
    of_numpy(
        np.isnan,
        floating("({0} != {0})"),
        host="isnan",
        mlir={"f": ("arith.cmpf uno, {0}, {0} : {t}",)},
    ),
    of_numpy(np.isinf, floating("(fabs({0}) == inf)"), host="isinf"),
    of_numpy(np.isfinite, floating("(fabs({0}) < inf)"), host="isfinite"),
    of_numpy(np.signbit, floating("signbit({0})")),
    *(
        ScalarOp(
            f"{name}_fits",
            None,
            2,
            {"i": f"{name}_fits({{0}}, {{1}})"},
            is_few_instructions=True,
            function=function,
        )
        for name, function in FITS.items()
    ),
    ScalarOp(
        "select",
        None,
        3,
        {"b": "select({0}, {1}, {2})"},
        0.15,
        is_few_instructions=True,
        range_of=op_ranges.selected,
        mlir={"b": ("arith.select {0}, {1}, {2} : {r}",)},
    ),
    ScalarOp(
        *("fma", None, 3, floating("fma({0}, {1}, {2})")),
        function=fused_multiply_add,
        mlir={"f": ("math.fma {0}, {1}, {2} : {t}",)},
    ),
    ScalarOp("real", None, 1, {"c": "real_part({0})"}, 0.0, function=np.real),
    ScalarOp("imag", None, 1, {"c": "imag_part({0})"}, 0.0, function=np.imag),
    ScalarOp("complex", None, 2, floating("complex_of({0}, {1})"), 0.0, function=complex_of),
)
SCALAR_OPS: dict[str, ScalarOp] = {row.name: row for row in _ROWS}
UFUNC_ROWS: dict[np.ufunc, ScalarOp] = {row.ufunc: row for row in _ROWS if row.ufunc is not None}
HOST_ROWS: dict[str, ScalarOp] = {row.host: row for row in _ROWS if row.host}
"""Rows of ops that Python computes on numbers, by their name in `fusejit.ir.host`."""
MATH_FUNCTIONS: dict[str, MathFunction] = {r.name: r.math for r in _ROWS if r.math is not None}
"""Functions that call the C library, by name."""
