"""`tune`: try a recipe with several values of its parameters, and keep the fastest.

def by_rows(s, rows=8):
    return s["divide"].tile(i=rows).fuse("sum", "exp", "subtract", "max").threads("i.0")

result = tune(by_rows, (x,), function=softmax, rows=[16, 32, 64])
print(result)
result.save("softmax.json")
fast = fuse_jit(schedule="softmax.json")(softmax)
"""

from __future__ import annotations

import copy
import functools
import itertools
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fusejit.dataclass import dataclass, replace
from fusejit.errors import ScheduleError
from fusejit.options import Options
from fusejit.transform.core.base import short
from fusejit.transform.log import quantity, table_lines
from fusejit.transform.saved import machine, name_of
from fusejit.transform.schedules import Handle, Schedule, applied, schedule
from fusejit.transform.timing import median_seconds, with_progress
from fusejit.transform.verification import require_equal

Recipe = Callable[..., Schedule | Handle]


@dataclass(frozen=True)
class Candidate:
    """Parameters of a recipe, and the median seconds of a call."""

    parameters: Mapping[str, Any]
    seconds: float


@dataclass(frozen=True)
class TuneResult:
    """The candidates, the fastest first. Print it to see them; it is a recipe itself.

    Attributes
    ----------
    recipe : callable
        The recipe with its parameters.
    function : callable
        The function it was tried on.
    shapes : tuple of str
        The arguments it was tried with, as ``float64[300, 200]``.
    candidates : tuple of Candidate
    illegal : mapping
        Reasons why combinations are not legal, each with the number of combinations.
    automatic_seconds : float
        The median seconds of a call without the recipe.
    """

    recipe: Recipe
    function: Callable[..., Any]
    shapes: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    illegal: Mapping[str, int]
    automatic_seconds: float

    @property
    def best(self) -> Mapping[str, Any]:
        """The fastest parameters."""
        return self.candidates[0].parameters

    def __call__(self, s: Schedule) -> Schedule | Handle:
        """Apply the recipe with the fastest parameters."""
        return self.recipe(s, **self.best)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fastest parameters, all times, and what they were measured with, as JSON.

        Raises
        ------
        TypeError
            If a parameter is not a number, text, bool, None, or a list of these.
        """
        written = {
            "recipe": name_of(self.recipe),
            "parameters": dict(self.best),
            "function": name_of(self.function),
            "arguments": [*self.shapes],
            "seconds": self.candidates[0].seconds,
            "automatic_seconds": self.automatic_seconds,
            "candidates": [
                {"parameters": dict(c.parameters), "seconds": c.seconds} for c in self.candidates
            ],
            "machine": machine(),
        }
        Path(path).write_text(json.dumps(written, indent=1) + "\n", "utf-8")

    def __str__(self) -> str:
        names = [*self.best]
        rows = [[*names, "time", "against automatic"]]
        for candidate in self.candidates:
            factor = f"{self.automatic_seconds / candidate.seconds:.2f}x"
            values = map(str, candidate.parameters.values())
            rows.append([*values, quantity(candidate.seconds, "s"), factor])
        automatic = quantity(self.automatic_seconds, "s")
        rows.append(["automatic", *[""] * (len(names) - 1), automatic, "1.00x"])
        num_illegal = sum(self.illegal.values())
        name = getattr(self.recipe, "__name__", "recipe")
        head = (
            f"{self.function.__name__}({', '.join(self.shapes)}): {len(self.candidates)} "
            f"combinations of {name} timed, {num_illegal} not legal"
        )
        columns = range(len(rows[0]))
        lines = table_lines(rows, columns, {*columns} - {0})
        reasons = [f"not legal, {count}: {why}" for why, count in self.illegal.items()]
        return "\n".join([head, *(f"  {line}" for line in lines), *reasons])


def tune(
    recipe: Recipe,
    args: Sequence[Any],
    /,
    *,
    function: Callable[..., Any],
    rounds: int = 7,
    options: Options | None = None,
    **choices: Sequence[Any],
) -> TuneResult:
    """Time a recipe with each combination of parameters; illegal ones are left out and counted.

    Each combination is applied and compiled, its result is compared with that of the function
    without the recipe, and all of them take turns in each round. The steps are not compared one by
    one, as they are without `tune`.

    Parameters
    ----------
    recipe : callable
        ``recipe(s, m=.., k=..)``, as for `fusejit.fuse_jit`.
    args : sequence
        The arguments of the calls, which are copied.
    function : callable
        The function, decorated or not.
    rounds : int, optional
        How many times each candidate is called for its median.
    options : Options, optional
        How to compile.
    **choices
        The values of each parameter of the recipe.

    Raises
    ------
    ScheduleError
        If no combination is legal, or one gives another result.
    ValueError
        If a parameter has no values.
    """
    if not isinstance(args, tuple | list):
        raise TypeError(f"tune: args is {short(args)}; give the arguments of a call: (x,)")
    if not callable(recipe):
        raise TypeError(f"tune: recipe is {short(recipe)}; it is a function of a schedule")
    for name, values in choices.items():
        if isinstance(values, str | bytes) or not isinstance(values, Iterable):
            what = f"tune: {name} is {short(values)}; give the values to try"
            raise TypeError(f"{what}, as in {name}=[{short(values)}]")
    choices = {name: [*values] for name, values in choices.items()}
    empty = [name for name, values in choices.items() if not values]
    if empty or not choices:
        what = f"{empty[0]} has no values" if empty else "no parameter is given"
        raise ValueError(f"tune: {what}, such as rows=[16, 32]")
    given = copy.deepcopy(tuple(args))
    traced = replace(schedule(function, *given, options=options), is_checked=False)
    automatic = traced.compile()
    expected = automatic(*copy.deepcopy(given))
    calls = [functools.partial(automatic, *copy.deepcopy(given))]
    legal: list[dict[str, Any]] = []
    illegal: Counter[str] = Counter()
    combinations = [
        dict(zip(choices, c, strict=True)) for c in itertools.product(*choices.values())
    ]
    for parameters in with_progress(combinations, "compiling"):
        try:
            s = applied(recipe, traced, **parameters)
        except ScheduleError as error:
            illegal[str(error)] += 1
            continue
        run = s.compile()
        require_equal(s, run(*copy.deepcopy(given)), expected)
        legal.append(parameters)
        calls.append(functools.partial(run, *copy.deepcopy(given)))
    if not legal:
        why, _ = illegal.most_common(1)[0]
        raise ScheduleError(f"none of {len(combinations)} combinations is legal: {why}")
    automatic_seconds, *seconds = median_seconds(calls, rounds)
    candidates = [Candidate(p, t) for p, t in zip(legal, seconds, strict=True)]
    return TuneResult(
        recipe,
        traced.stage.function,
        tuple(map(_shape_text, given)),
        tuple(sorted(candidates, key=lambda c: c.seconds)),
        dict(illegal.most_common()),
        automatic_seconds,
    )


def _shape_text(arg: Any) -> str:
    return f"{arg.dtype}{[*arg.shape]}" if isinstance(arg, np.ndarray) else repr(arg)
