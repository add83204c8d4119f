"""Exceptions, warnings and early returns."""

import contextlib
import time
import warnings

import numpy as np

from benchmarks.programs.program import Program


def validate(x, low, high):
    if x.ndim != 2:
        raise ValueError(f"expected 2 dimensions, got {x.ndim}")
    if np.isnan(x).any():
        raise ValueError(f"{np.isnan(x).sum()} missing values")
    if x.min() < low or x.max() > high:
        raise OverflowError("out of range")
    return x


def clean_or_explain(tables):
    reports = []
    for name, table in tables.items():
        try:
            x = validate(table, -3, 3)
        except ValueError as error:
            reports.append((name, "invalid", str(error)))
        except OverflowError:
            reports.append((name, "clipped", float(np.clip(table, -3, 3).mean())))
        else:
            reports.append((name, "fine", float(x.mean())))
        finally:
            print("checked", name)
    return reports


class TransientError(Exception):
    pass


class Sensor:
    def __init__(self, values):
        self.values = values
        self.calls = 0

    def read(self):
        self.calls += 1
        if self.calls % 3 == 0:
            raise TransientError(f"call {self.calls}")
        return self.values[self.calls % len(self.values)]


def retry(function, attempts, delay=0.0):
    for attempt in range(1, attempts + 1):
        try:
            return function()
        except TransientError:
            if attempt == attempts:
                raise
            time.sleep(delay)


def read_with_retries(values, n):
    sensor = Sensor(values)
    readings = [retry(sensor.read, 2) for _ in range(n)]
    with contextlib.suppress(TransientError):
        retry(sensor.read, 1)
        retry(sensor.read, 1)
        retry(sensor.read, 1)
    return np.array(readings), sensor.calls


class SolverError(RuntimeError):
    def __init__(self, message, residuals):
        super().__init__(message)
        self.residuals = residuals


def jacobi(a, b, max_iter):
    d = np.diag(a)
    if (d == 0).any():
        raise ZeroDivisionError("zero on the diagonal")
    x = np.zeros_like(b)
    residuals = []
    for _ in range(max_iter):
        x = (b - a @ x + d * x) / d
        residuals.append(float(np.abs(a @ x - b).max()))
        if residuals[-1] < 1e-10:
            return x, residuals
    raise SolverError(f"no convergence in {max_iter} rounds", residuals)


def solve_with_fallback(a, b):
    try:
        x, residuals = jacobi(a, b, 15)
        method = "jacobi"
    except SolverError as error:
        x, residuals = np.linalg.solve(a, b), error.residuals
        method = f"direct after {len(residuals)}: {error}"
    return method, x, residuals[0]


def safe_log_returns(prices):
    returns = []
    for day, (a, b) in enumerate(zip(prices, prices[1:])):
        if a <= 0 or b <= 0:
            warnings.warn(f"bad price on day {day}", UserWarning, stacklevel=2)
            continue
        returns.append(np.log(b / a))
    if not returns:
        return None
    returns = np.array(returns)
    return returns.mean(), returns.std(), returns.sum()


def first_bad_row(table, limit):
    for i, row in enumerate(table):
        if not np.isfinite(row).all():
            return i, "not finite"
        if np.abs(row).max() > limit:
            return i, "too large"
        if (np.diff(row) == 0).any():
            return i, "repeated"
    return None


def check_all_rows(table):
    findings = []
    while True:
        bad = first_bad_row(table, 2.5)
        if bad is None:
            return findings, table
        findings.append(bad)
        table = np.delete(table, bad[0], axis=0)


class Transaction:
    def __init__(self, array):
        self.array = array

    def __enter__(self):
        self.saved = self.array.copy()
        return self.array

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.array[:] = self.saved
        return kind is ValueError


def transfers(balances, orders):
    refused = 0
    for source, target, amount in orders:
        with Transaction(balances) as b:
            b[source] -= amount
            b[target] += amount
            if b[source] < 0:
                refused += 1
                raise ValueError("overdrawn")
    return refused, balances.sum()


def parse_numbers(words):
    values, errors = [], {}
    for i, word in enumerate(words):
        try:
            values.append(int(word))
        except ValueError:
            try:
                values.append(float(word))
            except ValueError as error:
                errors[i] = str(error)
                values.append(np.nan)
    return np.array(values), errors


def invert_all(matrices):
    inverses, singular = [], []
    for k, m in enumerate(matrices):
        try:
            inverses.append(np.linalg.inv(m))
        except np.linalg.LinAlgError as error:
            singular.append((k, str(error)))
    if not inverses:
        raise ArithmeticError("none can be inverted") from None
    return np.stack(inverses), singular


def tables_of(rng, n):
    x = rng.normal(size=(n, 3)) / 2
    holes = x.copy()
    holes[0, 0] = np.nan
    return ({"good": x.clip(-1, 1), "holes": holes, "flat": x[0], "wild": 9 * x},)


def systems(rng, n):
    a = rng.random((n, n)) + np.diag(np.full(n, 0.8 * n if n % 2 else 3.0 * n))
    return a, rng.random(n)


def prices(rng, n):
    p = np.exp(np.cumsum(rng.normal(size=n) / 10))
    p[n // 2] = -1
    return (p,)


def rows_of(rng, n):
    t = rng.normal(size=(n, 4))
    t[1, 2] = np.inf
    return (t,)


def orders_of(rng, n):
    return rng.random(5) * 10, [
        (int(a), int(b), float(c)) for a, b, c in rng.integers(0, 5, (n, 3))
    ]


def mixed_words(rng, n):
    return ([("12", "3.5", "x1", "-7", "1e3", "")[k] for k in rng.integers(0, 6, n)],)


def singular_some(rng, n):
    m = rng.random((n, 3, 3))
    m[::3, 0] = 2 * m[::3, 1]
    m[::3] = np.round(4 * m[::3])
    m[::3, 0] = m[::3, 1]
    return ([*m],)


PROGRAMS = (
    Program(clean_or_explain, tables_of, (5, 50), 50_000),
    Program(read_with_retries, lambda rng, n: (rng.random(5), n), (9, 60), 9_000, True),
    Program(solve_with_fallback, systems, (5, 20), 200),
    Program(safe_log_returns, prices, (9, 90), 9_000),
    Program(check_all_rows, rows_of, (6, 30), 400, True),
    Program(transfers, orders_of, (9, 60), 5_000),
    Program(parse_numbers, mixed_words, (9, 90), 20_000),
    Program(invert_all, singular_some, (4, 20), 500, True),
)
