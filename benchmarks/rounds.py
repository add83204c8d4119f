"""Interleaved rounds: every engine takes its turn in each, and noisy rounds are repeated.

::

    gauge | numpy numexpr fusejit | gauge | numpy numexpr fusejit | gauge | ...
            \\_____ round 0 _____/           \\_____ round 1 _____/

A round counts if the gauge before and after it says that the machine was quiet.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median, quantiles

from benchmarks.gauge import Gauge

Runner = Callable[[int], float]
"""``run(calls) -> mean nanoseconds of a call``."""

TARGET_NS = 5_000_000
MAX_CALLS = 200_000
MAX_ATTEMPTS_PER_ROUND = 3


@dataclass(frozen=True)
class Rounds:
    """What the rounds of one case gave.

    Attributes
    ----------
    times_ns
        Per engine: mean time of a call in each accepted round, nanoseconds.
    calls
        Per engine: calls per round.
    discarded
        Rounds that were measured and thrown away.
    noisy
        The machine never got quiet enough: the quietest discarded rounds had to fill up.
    """

    times_ns: Mapping[str, tuple[float, ...]]
    calls: Mapping[str, int]
    discarded: int
    noisy: bool


def measure(
    runners: Mapping[str, Runner],
    gauge: Gauge,
    rounds: int,
    settle: Callable[[], None] = lambda: None,
) -> Rounds:
    """Run `rounds` interleaved rounds.

    Parameters
    ----------
    runners
        Per engine, in the order they take turns. Every other round goes backwards, so that no
        engine always follows the same one.
    gauge
        Says whether the machine is busy.
    rounds
        Accepted rounds wanted; at most `MAX_ATTEMPTS_PER_ROUND` times as many are tried.
    settle
        Called between turns; waits where an engine leaves spinning threads behind.
    """
    calls = {name: calls_per_round(run) for name, run in runners.items()}
    accepted: list[dict[str, float]] = []
    rejected: list[tuple[float, dict[str, float]]] = []
    slowness_before = gauge.measure()
    while len(accepted) < rounds and len(accepted) + len(rejected) < (
        rounds * MAX_ATTEMPTS_PER_ROUND
    ):
        turns = list(runners.items())
        if (len(accepted) + len(rejected)) % 2:
            turns.reverse()
        times: dict[str, float] = {}
        for name, run in turns:
            times[name] = run(calls[name])
            settle()
        slowness_after = gauge.measure()
        slowness = max(slowness_before, slowness_after)
        slowness_before = slowness_after
        if gauge.is_busy(slowness):
            rejected.append((slowness, times))
        else:
            accepted.append(times)
    missing = rounds - len(accepted)
    rejected.sort(key=lambda entry: entry[0])
    used = accepted + [times for _, times in rejected[:missing]]
    return Rounds(
        times_ns={name: tuple(times[name] for times in used) for name in runners},
        calls=calls,
        discarded=len(rejected) - missing,
        noisy=missing > 0,
    )


def calls_per_round(run: Runner, target_ns: float = TARGET_NS) -> int:
    """How many calls in a row last at least `target_ns`."""
    calls = 1
    while calls < MAX_CALLS:
        elapsed_ns = run(calls) * calls
        if elapsed_ns >= target_ns:
            break
        # Aim a little beyond the target, but grow at most tenfold on a first, cold estimate.
        wanted = 1.2 * calls * target_ns / max(elapsed_ns, 1.0)
        calls = min(int(max(calls + 1, min(wanted, 10 * calls))), MAX_CALLS)
    return calls


def paired_speedup(reference_ns: tuple[float, ...], engine_ns: tuple[float, ...]) -> float:
    """Median over the rounds of reference time / engine time: above 1 the engine is faster."""
    pairs = zip(reference_ns, engine_ns, strict=True)
    return median(reference / engine for reference, engine in pairs)


def spread(times_ns: tuple[float, ...]) -> float:
    """Interquartile range relative to the median."""
    if len(times_ns) < 2:
        return 0.0
    low, _, high = quantiles(times_ns, n=4, method="inclusive")
    return (high - low) / median(times_ns)
