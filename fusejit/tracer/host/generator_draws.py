"""Random numbers: draws from a generator that the program was given.

Each draw is a host call on the actual generator, an effect: it happens in program order, once per
call, and leaves the generator as NumPy would. What a draw returns is found with a generator of the
same kind that nobody else has.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from fusejit.ir import host_calls
from fusejit.ir.host import Path
from fusejit.tracer.builder.primitives import primitive
from fusejit.tracer.builder.trace import current_trace
from fusejit.tracer.host.host_call_tracing import Source, host_call
from fusejit.tracer.host.inline_draws import Draws, Unknown
from fusejit.tracer.host.python_draws import python_draw
from fusejit.tracer.ops.stores import assign_operand
from fusejit.tracer.program.fallback import Fallback
from fusejit.tracer.program.locations import MOVE_OUTSIDE, unsupported
from fusejit.tracer.values.array import TracedArray

GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)

# methods whose results are numbers or fresh arrays
_DRAWS: frozenset[str] = frozenset(
    (
        # of both kinds of generators
        *("uniform", "normal", "standard_normal", "choice", "permutation", "random"),
        *("beta", "binomial", "chisquare", "dirichlet", "exponential", "f", "gamma", "geometric"),
        *("gumbel", "hypergeometric", "laplace", "logistic", "lognormal", "logseries"),
        *("multinomial", "multivariate_normal", "negative_binomial", "noncentral_chisquare"),
        *("noncentral_f", "pareto", "poisson", "power", "rayleigh", "standard_cauchy"),
        *("standard_exponential", "standard_gamma", "standard_t", "triangular", "vonmises"),
        *("wald", "weibull", "zipf"),
        # Generator
        *("integers", "permuted", "multivariate_hypergeometric"),
        # RandomState
        *("rand", "randn", "randint", "random_sample", "random_integers", "tomaxint"),
    )
)


def draw(rng: Any, method: str, path: Path | None, args: Any, kwargs: dict[str, Any]) -> Any:
    """``rng.method(*args, **kwargs)`` as a host call on the generator at ``path``.

    Raises
    ------
    UnsupportedError
        If the method does something else than draw numbers, or nobody else knows the generator.
    """
    path = path or current_trace().captured_reads.path_of(rng)
    if type(rng) is random.Random:
        _require_one_path(rng)
        return python_draw(rng, method, path, args, kwargs)
    owner = type(rng)
    name = f"numpy.random.{owner.__name__}.{method}"
    if rng is host_calls.GLOBAL_RANDOM:
        name = f"numpy.random.{method}"
        path = None
    elif path is None:
        what = f"calls {method} of a generator of random numbers that no argument or name holds"
        raise unsupported(what, "pass the generator as an argument")
    _require_one_path(rng)
    sample = Source(path, _like(rng))
    if owner is np.random.Generator and path is not None:
        try:
            return Draws(rng, path).draw(method, tuple(args), kwargs)
        except Unknown:
            pass  # a host call
    if method == "shuffle":
        array, *rest = args
        if not isinstance(array, TracedArray):
            what = f"shuffles an object of type {type(array).__name__}"
            raise unsupported(what, "shuffle an array")
        if path is None:
            raise unsupported(f"calls {name}", "shuffle with a generator that is an argument")
        made = host_call(
            host_calls.SHUFFLED, host_calls.shuffled, (array, *rest), kwargs, rng=sample
        )
        assign_operand(array, made)
        return None
    if method not in _DRAWS:
        raise unsupported(f"calls {name}, which is not a draw that fusejit knows", MOVE_OUTSIDE)
    if kwargs.get("out") is not None:
        raise unsupported(f"{name} with out= is not traced", "assign its result: out[...] = ...")
    function = getattr(owner, method) if path else getattr(sample.like, method)
    return host_call(name, function, args, kwargs, rng=sample)


primitive(draw)(draw)  # its own handler: a trace may have none


def _require_one_path(rng: Any) -> None:
    """One generator under two names could be two in another call: the order of draws would tell."""
    if len(current_trace().captured_reads.paths_to(rng)) > 1:
        raise Fallback("one generator of random numbers is passed under two names")


def _like(rng: Any) -> Any:
    """A generator of the same kind with a state of its own."""
    bits = getattr(rng, "bit_generator", None) or rng._bit_generator
    return type(rng)(type(bits)(0))
