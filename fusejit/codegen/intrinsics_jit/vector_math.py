"""Numba side of `fusejit.codegen.intrinsics.vector_math`; the Python implementations are there.

Each math function becomes a function ``fj_exp_512`` defined in the kernel's own LLVM module:

    before vectorising   y[i] = fj_exp_512(x[i])                  a call LLVM may not look into
    loop body            y[i : i+8] = _ZGVeN8v_exp(x[i : i+8])    named by the function's attribute
    other widths         y[i : i+4] = fj_exp_512_n4(x[i : i+4])   widen, call _ZGVeN8v_exp, narrow
    remainder, scalars   y[i] = fj_exp_512(x[i])                  broadcast, _ZGVeN8v_exp, lane 0

So every element goes through the same library function and its bits do not depend on its position,
the chunk or the vector width LLVM chose. (libmvec's results are independent of lane and neighbours,
but its 128-, 256- and 512-bit forms differ among each other in 0 to 60 % of random inputs.)

Source: "vector-function-abi-variant" in the LLVM Language Reference; Vector Function ABI for AMD64.
"""

from __future__ import annotations

import functools
from typing import Any

from numba.core.registry import cpu_target

from fusejit.codegen.intrinsics.vector_math import EXACT_FUNCTIONS, EXTREMA
from fusejit.codegen.intrinsics_jit.raw_memory import prefer_vector_width, prefer_widest
from fusejit.codegen.machine.numba_api import intrinsic_of, ir, types
from fusejit.codegen.machine.probe import (
    FLOAT_BITS,
    VectorForm,
    VectorSupport,
    load_library,
    probe,
    scalar_symbol,
)
from fusejit.ir.scalar_ops.math_functions import MathFunction
from fusejit.ir.scalar_ops.scalar_op_table import MATH_FUNCTIONS

_PURE = ("nounwind", "willreturn", "memory(none)")

# LLVM spills vector registers around each call, to a stack aligned to 16 unless told otherwise;
# spills across cache lines made whole loops 1.3 (512 bit) to 2 times (256 bit) slower.
_ALIGNED_STACK = "alignstack(64)"


def _add_attributes(function: Any, *attributes: str) -> None:
    # llvmlite refuses attributes it does not know; its set type does not.
    for attribute in attributes:
        set.add(function.attributes, attribute)


def _shuffle(builder: Any, first: Any, second: Any, lanes: list[int]) -> Any:
    mask_type = ir.VectorType(ir.IntType(32), len(lanes))
    return builder.shuffle_vector(first, second, ir.Constant(mask_type, lanes))


class _LibraryCall:
    """One math function in one LLVM module, with all the forms the vectoriser may ask for."""

    def __init__(
        self, module: Any, function: MathFunction, dtype: str, vector: VectorForm | None
    ) -> None:
        self.module = module
        self.arity = function.arity
        self.scalar = ir.FloatType() if dtype == "f32" else ir.DoubleType()
        self.native_lanes = vector.bits // FLOAT_BITS[dtype] if vector else 1
        self.symbol = vector.symbol if vector else scalar_symbol(function, dtype)
        origin = "scalar" if not vector else "svml" if "svml" in vector.symbol else vector.bits
        self.name = f"fj_{scalar_symbol(function, dtype)}_{origin}"
        widest = self.native_lanes * (2 if dtype == "f64" else 1)
        self.lane_counts = [n for n in (2, 4, 8, 16) if n <= widest] if vector else []

    def entry(self) -> Any:
        """The scalar function to call; defined on first use in the module."""
        known = self.module.globals.get(self.name)
        if known is not None:
            return known
        native = ir.Function(self.module, self._type(self.native_lanes), self.symbol)
        _add_attributes(native, *_PURE)
        kept = []
        variants = []
        for lanes in self.lane_counts:
            form = native if lanes == self.native_lanes else self._define_form(native, lanes)
            kept.append(form)
            letters = "v" * self.arity
            variants.append(f"_ZGV_LLVM_N{lanes}{letters}_{self.name}({form.name})")
        entry = self._define(self.name, 1)
        if variants:
            mapping = ",".join(variants)
            _add_attributes(entry, f'"vector-function-abi-variant"="{mapping}"')
            self._keep(kept)
        builder = ir.IRBuilder(entry.append_basic_block())
        if self.native_lanes == 1:
            builder.ret(builder.call(native, entry.args))
        else:
            zero = ir.Constant(ir.IntType(32), 0)
            wide = [self._broadcast(builder, argument) for argument in entry.args]
            builder.ret(builder.extract_element(builder.call(native, wide), zero))
        return entry

    def _type(self, lanes: int) -> Any:
        element = self.scalar if lanes == 1 else ir.VectorType(self.scalar, lanes)
        return ir.FunctionType(element, [element] * self.arity)

    def _define(self, name: str, lanes: int) -> Any:
        defined = ir.Function(self.module, self._type(lanes), name)
        # Other kernels define the same text under the same name: any copy will do.
        defined.linkage = "linkonce_odr"
        # Inlined before vectorisation it would be a vector call of one lane that nothing can widen.
        _add_attributes(defined, "noinline", *_PURE)
        if lanes > 1:
            _add_attributes(defined, _ALIGNED_STACK)
        return defined

    def _broadcast(self, builder: Any, value: Any) -> Any:
        vector = ir.VectorType(self.scalar, self.native_lanes)
        zero = ir.Constant(ir.IntType(32), 0)
        single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, zero)
        return _shuffle(builder, single, single, [0] * self.native_lanes)

    def _define_form(self, native: Any, lanes: int) -> Any:
        form = self._define(f"{self.name}_n{lanes}", lanes)
        builder = ir.IRBuilder(form.append_basic_block())
        if lanes < self.native_lanes:
            repeated = [i % lanes for i in range(self.native_lanes)]
            wide = [_shuffle(builder, a, a, repeated) for a in form.args]
            result = builder.call(native, wide)
            builder.ret(_shuffle(builder, result, result, list(range(lanes))))
        else:
            halves = []
            for start in range(0, lanes, self.native_lanes):
                taken = list(range(start, start + self.native_lanes))
                halves.append(
                    builder.call(native, [_shuffle(builder, a, a, taken) for a in form.args])
                )
            builder.ret(_shuffle(builder, halves[0], halves[1], list(range(lanes))))
        return form

    def _keep(self, functions: list[Any]) -> None:
        """Only an attribute names the vector forms, so LLVM would drop them as unused."""
        used = self.module.globals.get("llvm.compiler.used")
        known = list(used.initializer.constant) if used is not None else []
        if used is not None:
            del self.module.globals["llvm.compiler.used"]
        listed = {value.name for value in known}
        known += [f for f in functions if f.name not in listed]
        array = ir.ArrayType(ir.PointerType(), len(known))
        self.module.scope._useset.discard("llvm.compiler.used")
        replaced = ir.GlobalVariable(self.module, array, "llvm.compiler.used")
        replaced.linkage = "appending"
        replaced.section = "llvm.metadata"
        replaced.initializer = ir.Constant(array, known)


def _dtype_name(type_: Any) -> str | None:
    return {types.float32: "f32", types.float64: "f64"}.get(type_)


def _usable_form(support: VectorSupport, name: str, dtype: str) -> VectorForm | None:
    """As probed, but never wider than the registers Numba really compiles for."""
    form = support.form(name, dtype)
    features = cpu_target.target_context.codegen()._tm_features
    needed = {512: "+avx512f", 256: "+avx2"}.get(form.bits if form else 0)
    return form if needed is None or needed in features.split(",") else None


def library_intrinsic(name: str, support: VectorSupport | None = None) -> Any:
    """The Numba intrinsic of one row of the table.

    Parameters
    ----------
    name : str
        A key of `MATH_FUNCTIONS`.
    support : VectorSupport, optional
        Defaults to `probe`; tests pass others.
    """
    function = MATH_FUNCTIONS[name]
    known = support or probe()
    load_library(known)

    def signature_and_code(*arguments: Any) -> Any:
        dtype = _dtype_name(arguments[0])
        if dtype is None or any(a != arguments[0] for a in arguments):
            return None
        vector = _usable_form(known, name, dtype)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            call = _LibraryCall(builder.module, function, dtype, vector)
            if vector and vector.bits > 128:
                _add_attributes(builder.function, _ALIGNED_STACK)
            if vector and vector.bits > 256:  # of 256 bits, loops would waste half of each call
                prefer_vector_width(builder.function, vector.bits)
            return builder.call(call.entry(), values)

        return arguments[0](*arguments), generate

    return intrinsic_of(name, function.arity, signature_and_code)


_LLVM_FLOAT = {name: f"llvm.{name}" for name in (*EXACT_FUNCTIONS, *EXTREMA)}
_LLVM_FLOAT |= {"fmax": "llvm.maximum", "fmin": "llvm.minimum"}  # of numbers: see `_without_nan`
_INTEGER_COMPARE = {"maximum": ">=", "fmax": ">=", "minimum": "<=", "fmin": "<="}


def _without_nan(builder: Any, left: Any, right: Any) -> tuple[Any, Any]:
    """The operands, a NaN replaced by the other one.

    ``llvm.maximumnum`` does that itself, and reductions of it vectorise. But on x86 LLVM 22 gets a
    single one wrong, outside of vectors: it returns the NaN where it knows that the other operand,
    an integer that was converted, is none.
    """
    left_is_nan = builder.fcmp_unordered("uno", left, left)
    right_is_nan = builder.fcmp_unordered("uno", right, right)
    return builder.select(left_is_nan, right, left), builder.select(right_is_nan, left, right)


def _llvm_intrinsic(name: str) -> Any:
    llvm_name = _LLVM_FLOAT[name]
    compare = _INTEGER_COMPARE.get(name)

    def signature_and_code(*arguments: Any) -> Any:
        kind = arguments[0]
        if any(a != kind for a in arguments):
            return None
        is_integer = isinstance(kind, types.Integer | types.Boolean)
        if _dtype_name(kind) is None and not (is_integer and compare):
            return None

        def call_llvm(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            element = values[0].type
            function_type = ir.FunctionType(element, [element] * len(values))
            callee = builder.module.declare_intrinsic(llvm_name, [element], function_type)
            if compare:
                prefer_widest(builder.function)
            if name in ("fmax", "fmin"):
                values = _without_nan(builder, *values)
            return builder.call(callee, values)

        def select_integer(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if kind == types.boolean:  # as a select, a reduction of it would not vectorise
                return builder.or_(*values) if compare == ">=" else builder.and_(*values)
            is_signed = kind.signed
            test = builder.icmp_signed if is_signed else builder.icmp_unsigned
            return builder.select(test(compare, *values), *values)

        return kind(*arguments), select_integer if is_integer else call_llvm

    return intrinsic_of(name, 2 if compare or name == "copysign" else 1, signature_and_code)


@functools.cache
def _attribute(name: str) -> Any:
    return library_intrinsic(name) if name in MATH_FUNCTIONS else _llvm_intrinsic(name)


def __getattr__(name: str) -> Any:
    """``vector_math_jit.exp`` and so on, built on first use."""
    if name in MATH_FUNCTIONS or name in _LLVM_FLOAT:
        return _attribute(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
