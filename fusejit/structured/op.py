"""`StructuredOp`: a definition that can be called, printed, and asked for its reference.

A call with NumPy arrays runs a small decorated function, whose variants are compiled and cached
like those of any other. Calls without a variant of their own run the op's general form
(`fusejit.structured.general`). In a traced function a call is one generic op of the graph
(`fusejit.tracer.np.structured_ops`).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, cast

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.ir.definitions.definition import Definition
from fusejit.options import Options, options_from_environment
from fusejit.structured.call import Call
from fusejit.structured.notation import define
from fusejit.support.locks import CachedProperty
from fusejit.support.syntax import run_text

_POSITIONAL = inspect.Parameter.POSITIONAL_OR_KEYWORD
_KEYWORD = inspect.Parameter.KEYWORD_ONLY
_MAX_GENERAL_VARIANTS = 256  # of one general form; a new one replaces the oldest
_MAX_GENERAL_OPS = 64  # of one op, by the structure of its formula
_MAX_DEFINITIONS = 256  # of one op whose attributes decide about its formula


@dataclass(frozen=True, slots=True)
class Compiling:
    """How entries of ops are compiled.

    Attributes
    ----------
    decorate : callable
        From a plain function and its options to the decorated function.
    why_in_python : callable
        Why a call of a decorated function would run in Python now; empty if it would not.
    """

    decorate: Callable[[Callable[..., Any], Options], Any]
    why_in_python: Callable[[Any, tuple[Any, ...], dict[str, Any]], str]


class StructuredOp:
    """A structured op.

    Parameters
    ----------
    definition : Definition
        Its parameters and their names; for operands of one rank, all of the op.
    specialize : callable, optional
        From the ranks of the operands of a call (None for what is not given) and its attributes to
        the definition that serves it.
    is_general : bool
        Whether it is the general form of another op.

    Attributes
    ----------
    compiling : Compiling
        The same for all ops: `fusejit.structured` sets it.
    """

    compiling: ClassVar[Compiling]

    def __init__(
        self,
        definition: Definition,
        specialize: Callable[..., Definition] | None = None,
        *,
        is_general: bool = False,
    ) -> None:
        self.definition = definition
        self._specialize = specialize
        self.__name__ = self.__qualname__ = definition.name
        self.__doc__ = definition.doc
        self.__signature__ = inspect.Signature(
            [
                *(inspect.Parameter(o.name, _POSITIONAL) for o in definition.inputs),
                *(
                    inspect.Parameter(name, _KEYWORD, default=default)
                    for name, default in definition.attributes.items()
                ),
                *(inspect.Parameter(n, _KEYWORD, default=None) for n in ("init", "out", "dtype")),
            ]
        )
        self.is_general = is_general
        self.in_python = InPython(self)
        self._specialized: dict[Any, Definition] = {}
        self._general: dict[int, Any] = {}
        self._general_ops: dict[str, StructuredOp] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the op.

        Parameters
        ----------
        *args
            The inputs: arrays or numbers.
        **kwargs
            Attributes by name. ``init`` is where the result starts (an array of its shape or a
            number; several in a tuple), by default what the combiner leaves unchanged. ``out`` is
            memory that holds the start and takes the result. ``dtype`` is the type of a result
            that no operand determines; by default the common type of the inputs.

        Raises
        ------
        TypeError
            If an argument is missing or unknown, or types disagree.
        ValueError
            If ranks or extents disagree, a subscript leaves its operand, or ``out`` overlaps an
            input. Nothing has been written then.
        """
        if _ACTIVE and _ACTIVE[0].get() is None:
            return self.entry(*args, **kwargs)
        return (self.entry if _active_trace() is None else self.in_python)(*args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> StructuredOp:
        """The op itself, as an attribute of a class; `help` shows the signature of such objects."""
        return self

    @CachedProperty
    def entry(self) -> Any:
        """The decorated function that calls with NumPy arrays run."""
        return _entry(self)

    @property
    def state(self) -> Any:
        """How its entry is compiled, and what serves its calls."""
        return self.entry.__fusejit_state__

    def definition_for(
        self, ranks: Mapping[str, int | None], attributes: Mapping[str, Any]
    ) -> Definition:
        """The definition for the ranks and the attributes of a call."""
        if self._specialize is None:
            return self.definition
        key = tuple(ranks.items()), tuple((name, str(value)) for name, value in attributes.items())
        known = self._specialized.get(key)
        if known is None:
            if len(self._specialized) >= _MAX_DEFINITIONS:
                self._specialized.pop(next(iter(self._specialized)), None)
            known = self._specialized[key] = self._specialize(ranks, attributes)
        return known

    def bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """The arguments of a call.

        Raises
        ------
        TypeError
            If one is missing or unknown.
        """
        try:
            given = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{self.__name__}: {error}") from None
        inputs = {o.name: given[o.name] for o in self.definition.inputs}
        attributes = {a: given[a] for a in self.definition.attributes if a in given}
        starts = _by_output(self.definition, "init", given.get("init"))
        outs = _by_output(self.definition, "out", given.get("out"))
        ranks = {name: rank_of(value) for name, value in {**inputs, **starts, **outs}.items()}
        definition = self.definition_for(ranks, attributes)
        both = [name for name in starts if name in outs]
        if both:
            raise TypeError(f"{self.__name__}: {both[0]} is given both by init= and out=")
        return Call(definition, inputs, attributes, starts, outs, given.get("dtype"))

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What a call returns, computed point by point by the interpreter of the IR, slowly."""
        from fusejit.structured.reference import computed

        return computed(self.bound(args, kwargs))

    def general_form(self, call: Call) -> Any:
        """The form that serves calls of any extents, windows, strides, dilations and numbers."""
        from fusejit.structured.general import GeneralForm

        definition = call.definition
        known = self._general.get(id(definition))
        if known is None or known.definition is not definition:
            if len(self._general) >= _MAX_DEFINITIONS:
                self._general.pop(next(iter(self._general)), None)
            known = self._general[id(definition)] = GeneralForm(
                definition,
                self._general_op,
                has_numbers=any(type(v) is float for v in call.attributes.values()),
            )
        return known

    def _general_op(self, general: Definition) -> StructuredOp:
        """The op of a general definition: definitions that differ in numbers have one."""
        text, ops = str(general), self._general_ops
        if text not in ops:
            if len(ops) >= _MAX_GENERAL_OPS:
                ops.pop(next(iter(ops)), None)
            ops[text] = StructuredOp(general, is_general=True)
        return ops[text]

    def explain(self, *args: Any, detail: bool = False, **kwargs: Any) -> str:
        """What runs compiled for these arguments, with all that is fused if ``detail`` is set.

        Runs nothing.
        """
        why = self.compiling.why_in_python(self.entry, args, kwargs)
        if not why or self.is_general or not self.state.options.enabled:
            return cast(str, self.entry.explain(*args, detail=detail, **kwargs))
        try:
            call = self.bound(args, kwargs)
            text = self.general_form(call).explain(call, detail=detail)
        except (TypeError, ValueError) as error:
            return f"{self.__name__} raises {type(error).__name__}: {error}\n"
        return f"{self.__name__} takes its general form for this call: {why}\n{text}"

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """The traced graph for these arguments. Runs nothing."""
        return self.entry.trace(*args, **kwargs)

    def mlir(self, *args: Any, fused: bool = False, **kwargs: Any) -> str:
        """The op as MLIR text. Runs nothing."""
        return str(self.entry.mlir(*args, fused=fused, **kwargs))

    def __str__(self) -> str:
        return str(self.definition)

    def __repr__(self) -> str:
        return f"<structured op {self.__name__}{self.__signature__}>"


def rank_of(value: Any) -> int:
    """The number of axes of an operand; 0 for a number."""
    if isinstance(value, (list, tuple)):
        return np.ndim(value)
    rank = getattr(value, "ndim", 0)  # a number of a traced call has none
    return rank if type(rank) is int else 0


def _by_output(definition: Definition, what: str, given: Any) -> dict[str, Any]:
    """One value per output, by name; those that are None are left out."""
    if given is None:
        return {}
    outputs = definition.outputs
    values = given if isinstance(given, tuple) else (given,)
    if len(values) != len(outputs):
        raise TypeError(
            f"{definition.name}: {what}= takes {len(outputs)} values, not {len(values)}"
        )
    return {o.name: v for o, v in zip(outputs, values, strict=True) if v is not None}


class InPython:
    """What a call is where Python runs it: a trace has an op of it, else its general form runs."""

    def __init__(self, op: StructuredOp) -> None:
        self.op = op
        self.__name__ = op.__name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace = _active_trace()
        if trace is None:
            return self._computed(args, kwargs)
        result = trace.handler(self)(*args, **kwargs)
        if result is not NotImplemented:
            return result
        token = _ACTIVE[0].set(None)  # of arrays that the trace takes as constants
        try:
            return self._computed(args, kwargs)
        finally:
            _ACTIVE[0].reset(token)

    def _computed(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result for arrays of NumPy."""
        if self.op.is_general or not self.op.state.options.enabled:
            return self.op.reference(*args, **kwargs)
        call = self.op.bound(args, kwargs)
        return self.op.general_form(call)(call)


_ACTIVE: list[Any] = []
"""The context variable of the active trace, once the tracer is loaded."""


def _active_trace() -> Any:
    context = sys.modules.get("fusejit.tracer.program.active_trace")
    if context is None:
        return None
    if not _ACTIVE:
        _ACTIVE.append(context.ACTIVE)
    return context.active_trace()


def _entry(op: StructuredOp) -> Any:
    """A decorated function with the op's parameters that calls it."""
    name, parameters, given = op.__name__, [], []
    for parameter in op.__signature__.parameters.values():
        is_keyword = parameter.kind is _KEYWORD
        if is_keyword and "*" not in parameters:
            parameters.append("*")
        default = f"=_{parameter.name}" if is_keyword else ""
        parameters.append(parameter.name + default)
        given.append(f"{parameter.name}={parameter.name}" if is_keyword else parameter.name)
    source = f"def {name}({', '.join(parameters)}):\n    return {name}({', '.join(given)})\n"
    scope: dict[str, Any] = {"__name__": __name__}
    scope |= {f"_{p.name}": p.default for p in op.__signature__.parameters.values()}
    run_text(source, f"<structured op {name}>", scope)
    function, scope[name] = scope[name], op.in_python
    # a call that is not compiled is quick in the general form, and an error is one of the op
    options = options_from_environment(warn=op.is_general, fullgraph=op.is_general, tiering=False)
    options = replace(options, is_op=True)
    if op.is_general:
        options = replace(options, is_general=True, max_variants=_MAX_GENERAL_VARIANTS)
    return op.compiling.decorate(function, options)


# ------------------------------------------------------------------------------------ the decorator
def structured_op(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Make a structured op of a function in index notation.

    Parameters
    ----------
    function : callable
        Its parameters are the operands, annotated with `Tensor`, `Number`, `Shape` or `Output`, and
        attributes, which have defaults. Its body writes each output once.
    library_call : str, optional
        The name of a routine (`register_library_call`) that computes the op where it may.
    numpy_bools : bool, optional
        False for the booleans of linalg's dialect, where a signed True is -1, not NumPy's.

    Returns
    -------
    StructuredOp

    Raises
    ------
    DefinitionError
        If the body is no formula.

    Examples
    --------
    >>> import numpy as np
    >>> from fusejit.structured import Output, Tensor, structured_op
    >>> @structured_op
    ... def outer_sum(A: Tensor["T", "M"], B: Tensor["T", "N"], C: Output["T", "M", "N"]):
    ...     C[m, n] = A[m] + B[n]
    >>> outer_sum.reference(np.arange(2), np.arange(3))
    array([[0, 1, 2],
           [1, 2, 3]])
    """
    if function is None:
        return lambda f: structured_op(f, **options)
    definition = define(function, **options)
    static = [a for a, default in definition.attributes.items() if not _is_integral(default)]
    if not static:
        return StructuredOp(definition)

    def specialize(ranks: Mapping[str, int | None], attributes: Mapping[str, Any]) -> Definition:
        values = {a: attributes[a] for a in static if a in attributes}
        return define(function, **options, values=values)

    return StructuredOp(definition, specialize)


def _is_integral(default: Any) -> bool:
    items = default if isinstance(default, tuple) else (default,)
    return all(type(item) is int for item in items)
