"""Mixes with exp, log, sin, cos, tanh: arithmetic-bound, so vector math decides."""

# mypy: disable-error-code="no-any-return"
# NumPy declares its ufuncs as returning Any.

import numpy as np

from benchmarks.arguments import vectors
from benchmarks.workload import Array, Workload

FAMILY = "transcendental"
TRIG = frozenset({"trig"})


def exp_decay(t: Array) -> Array:
    return np.exp(-t * t) / (1 + t)


def exp_decay_out(t: Array, out: Array) -> None:
    np.divide(np.exp(-t * t), 1 + t, out=out)


def sigmoid(x: Array) -> Array:
    return 1.0 / (1.0 + np.exp(-x))


def softplus(x: Array) -> Array:
    return np.log(1.0 + np.exp(x))


def gelu(x: Array) -> Array:
    return 0.5 * x * (1.0 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def log_distance(a: Array, b: Array) -> Array:
    return np.sqrt(np.log(a) * np.log(a) + np.log(b) * np.log(b))


def black_scholes(spot: Array, strike: Array, years: Array) -> Array:
    """Call prices; the normal distribution by its logistic approximation."""
    rate = 0.03
    volatility = 0.2
    spread = volatility * np.sqrt(years)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    n1 = 1.0 / (1.0 + np.exp(-1.5976 * d1 - 0.07056 * d1 * d1 * d1))
    n2 = 1.0 / (1.0 + np.exp(-1.5976 * d2 - 0.07056 * d2 * d2 * d2))
    return spot * n1 - strike * np.exp(-rate * years) * n2


def trig_mix(a: Array, b: Array, c: Array) -> Array:
    return np.sin(a) * np.cos(b) + np.tanh(c)


def trig_mix_out(a: Array, b: Array, c: Array, out: Array) -> None:
    np.add(np.sin(a) * np.cos(b), np.tanh(c), out=out)


def damped_wave(t: Array) -> Array:
    return np.exp(-0.5 * t) * np.sin(6.0 * t)


def rotate_x(x: Array, y: Array, angle: Array) -> Array:
    return x * np.cos(angle) - y * np.sin(angle)


_D1 = "((log(spot / strike) + (0.03 + 0.5*0.2*0.2)*years) / (0.2*sqrt(years)))"
_D2 = f"({_D1} - 0.2*sqrt(years))"

WORKLOADS = (
    Workload(
        "exp_decay",
        FAMILY,
        exp_decay,
        vectors(1),
        numexpr="exp(-t*t) / (1 + t)",
        out_function=exp_decay_out,
    ),
    Workload("sigmoid", FAMILY, sigmoid, vectors(1, -4.0, 4.0), numexpr="1.0 / (1.0 + exp(-x))"),
    Workload("softplus", FAMILY, softplus, vectors(1, -4.0, 4.0), numexpr="log(1.0 + exp(x))"),
    Workload(
        "gelu",
        FAMILY,
        gelu,
        vectors(1, -3.0, 3.0),
        numexpr="0.5*x*(1.0 + tanh(0.7978845608*(x + 0.044715*x*x*x)))",
    ),
    Workload(
        "log_distance",
        FAMILY,
        log_distance,
        vectors(2),
        numexpr="sqrt(log(a)*log(a) + log(b)*log(b))",
    ),
    Workload(
        "black_scholes",
        FAMILY,
        black_scholes,
        vectors(3, 0.5, 2.0),
        numexpr=(
            f"spot / (1.0 + exp(-1.5976*{_D1} - 0.07056*{_D1}*{_D1}*{_D1}))"
            f" - strike*exp(-0.03*years) / (1.0 + exp(-1.5976*{_D2} - 0.07056*{_D2}*{_D2}*{_D2}))"
        ),
    ),
    Workload(
        "trig_mix",
        FAMILY,
        trig_mix,
        vectors(3),
        numexpr="sin(a)*cos(b) + tanh(c)",
        out_function=trig_mix_out,
        tags=TRIG,
    ),
    Workload(
        "damped_wave",
        FAMILY,
        damped_wave,
        vectors(1, 0.0, 6.0),
        numexpr="exp(-0.5*t) * sin(6.0*t)",
        tags=TRIG,
    ),
    Workload(
        "rotate_x",
        FAMILY,
        rotate_x,
        vectors(3, -3.0, 3.0),
        numexpr="x*cos(angle) - y*sin(angle)",
        tags=TRIG,
    ),
)
