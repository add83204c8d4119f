"""Random programs, parts of which are bound to something else between calls.

Each program is a module with two versions of a function ``f``, which share a cell, and with
helpers, a class and globals that they use. The module is loaded twice, decorated and plain. In both
the same statements rebind code, default values, cells, names and attributes between calls.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from fusejit.api import FuseWarning
from fusejit.errors import ConcretizationError, UnsupportedError
from fusejit_testing.oracle import compare_outcomes, decorate, no_faults, run, without_late_text
from fusejit_testing.programs.identities import inserted, with_result
from fusejit_testing.programs.mutation_expressions import is_exact
from fusejit_testing.programs.mutation_fuzzer import LONGEST_IN_NUMPY, PROGRAMS
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, deadline, parse

NUM_CALLS = 10

_MODULE = """\
FACTOR = 2
TABLE = {{"k": 1}}


class Model:
    weight = 2

    {methods}
    def scaled(self, x):
        return x * self.weight

    @property
    def shift(self):
        return self.weight + 1


class Other(Model):
    weight = 3

    {methods}
    def scaled(self, x):
        return x + self.weight

    @property
    def shift(self):
        return self.weight + 2


model = Model()


{helpers}
def tuned(x, k=2, *, w=1):
    return x * k + w


{helpers}
def tuned_otherwise(x, k=3, *, w=2):
    return x + k - w


{helpers}
def relayed(x):
    return tuned(x)


def make(cell):
    def set_cell(value):
        nonlocal cell
        cell = value

    @decorate
{f}

    @decorate
{other}

    return f, other, set_cell


f, other, set_cell = make(2)


{callers}
def caller({names}):
    return f({names})
"""
# statements with the name of a variable
_USES = (
    "{0} = tuned({0})",
    "{0} = tuned({0}, scale)",
    "{0} = relayed({0})",
    "{0} = model.scaled({0})",
    "{0} = {0} * FACTOR",
    "{0} = {0} + cell",
    "{0} = {0} * scale + shift",
    "{0} = {0} + Model.weight",
    "{0} = {0} - model.shift",
    "hits += FACTOR + cell",
    "hits += TABLE['k']",
    "if FACTOR is scale:\n    hits += 1",
    "if cell > 2:\n    {0} = {0} + 1",
    "for q in range(shift):\n    {0} = {0} + q",
    "hits += len(str(np.size({0})))",
    "hits += len(repr(np.sum({0}) + cell))",  # Python runs it
)
# statements with a value; ``helpers`` decorates helpers or not
_REBINDINGS = (
    "f.__code__, other.__code__ = other.__code__, f.__code__",
    "f.__code__ = other.__code__\nf.__defaults__ = other.__defaults__",
    "f.__code__ = other.__code__\nf.__dict__.update(other.__dict__)",
    "f, other = other, f",
    "f.__defaults__ = ({v},)",
    "f.__defaults__ = (1, {v})",
    "f.__defaults__ = None",
    "f.__kwdefaults__ = {{'shift': {v}}}",
    "f.__kwdefaults__['shift'] = {v}",
    "set_cell({v})",
    "f, other, set_cell = make({v})",
    "FACTOR = {v}",
    "TABLE['k'] = {v}",
    "TABLE = {{'k': {v}}}",
    "tuned, tuned_otherwise = tuned_otherwise, tuned",
    "tuned.__code__, tuned_otherwise.__code__ = tuned_otherwise.__code__, tuned.__code__",
    "relayed = tuned_otherwise",
    "{helpers}\ndef tuned(x, k=2, *, w=1):\n    return x - {v} * k + w",
    "tuned.__defaults__ = ({v},)",
    "tuned.__defaults__ = (2, {v})",
    "tuned.__kwdefaults__ = {{'w': {v}}}",
    "Model.weight = {v}",
    "model.weight = {v}",
    "vars(model).clear()",
    "Model.scaled, Other.scaled = Other.scaled, Model.scaled",
    "Model.shift = Other.shift",
    "Model.shift = property(lambda self: {v})",
    "Model.scaled = lambda self, x: x - {v}",
    "model.scaled = lambda x: x * {v}",
    "model.__class__ = Other",
    "model.__class__ = Model",
    "model = Other()",
    "Model = Other",
)
_VALUES = ("1", "2", "3", "5", "0.5", "True", "-1", "np.int64(2)", "None")
_DECORATE = ("@decorate", "")


def rebinding_program(seed: int) -> tuple[MutationProgram, str, str]:
    """The program of a seed, the text of its module, and how its helpers are decorated."""
    rng = random.Random(f"rebinding {seed}")
    made = rng.choice([*PROGRAMS.values()])(seed)
    names = ", ".join(p.name for p in made.parameters)
    versions = {}
    for name, (scale, shift) in (("f", (2, 1)), ("other", (3, 2))):
        header = f"def {name}({names}, scale={scale}, *, shift={shift}):"
        versions[name] = replace(_version(rng, made), header=header).text
    fields = {name: _indented(text) for name, text in versions.items()}
    fields |= {part: rng.choice(_DECORATE) for part in ("methods", "helpers", "callers")}
    lines = _MODULE.format(names=names, **fields).splitlines()
    return made, "\n".join(line for line in lines if line.strip()) + "\n", fields["helpers"]


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def _version(rng: random.Random, program: MutationProgram) -> MutationProgram:
    def use(names: Sequence[str]) -> tuple[Statement, ...]:
        return parse(rng.choice(_USES).format(rng.choice(names)))

    arrays = [p.name for p in program.parameters if p.dtype != "value"]
    body = [Statement(f"hits = cell + {rng.randrange(3)}")]
    body += inserted(rng, program.body, arrays, use)
    body += [*use(arrays), *use(arrays)]
    return with_result(replace(program, body=tuple(body)), "hits")


def check_rebinding(seed: int, folder: Path, *, jit: bool = False) -> str:
    """Call a program and rebind parts of it in turns; how it ran: compiled, skipped or refused.

    Raises
    ------
    AssertionError
        If a call gives something other than what plain Python gives.
    """
    program, text, helpers = rebinding_program(seed)
    rebindings = [each.replace("{helpers}", helpers) for each in _REBINDINGS]
    done: list[str] = []
    try:
        with warnings.catch_warnings(), no_faults() as reports:
            warnings.simplefilter("ignore", FuseWarning)
            warnings.simplefilter("ignore", RuntimeWarning)
            decorated = partial(decorate, jit=jit, reports=reports)
            return _check_calls(program, folder, text, rebindings, decorated, done)
    except Exception as error:
        happened = "\n".join(done)
        raise AssertionError(f"seed {seed}: {error}\n{text}\n{happened}") from error


def _check_calls(
    program: MutationProgram,
    folder: Path,
    text: str,
    rebindings: Sequence[str],
    decorated: Any,
    done: list[str],
) -> str:
    rng = random.Random(f"rebindings {program.seed}")
    plain = program.names(folder, text, decorate=lambda function: function)
    fused = program.names(folder, text, decorate=decorated)
    entry = rng.choice(("f", "f", "caller"))
    compared = 0
    for at in range(NUM_CALLS):
        if at and rng.random() < 0.8:
            rebinding = rng.choice(rebindings).format(v=rng.choice(_VALUES))
            done.append(rebinding)
            errors = [_error_of(rebinding, names) for names in (plain, fused)]
            assert errors[0] == errors[1], errors
        call = rng.randrange(len(program.calls))
        done.append(f"{entry}(...)  # {program.calls[call]}")
        args = program.arguments(call)
        with deadline(LONGEST_IN_NUMPY):
            expected = run(plain[entry], args)
        if isinstance(expected.error, TimeoutError):
            return "skipped"
        actual = run(fused[entry], args)
        if isinstance(actual.error, UnsupportedError | ConcretizationError):
            return "refused"
        if is_exact(expected.result) and is_exact(expected.args):
            compare_outcomes(without_late_text(expected, actual), actual, where=f"call {at}")
            compared += 1
    return "compared" if compared > NUM_CALLS // 2 else "skipped"


def _error_of(statement: str, names: dict[str, Any]) -> str:
    try:
        exec(statement, names)
    except Exception as error:
        return repr(error)
    return ""
