"""Random programs with identity tests and annotations among their statements.

The programs are those of the mutation fuzzer. ``hits``, which they return too, depends on the
answer of each identity test, so one wrong answer changes the result.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fusejit_testing.programs.boundaries import with_boundaries
from fusejit_testing.programs.mutation_fuzzer import PROGRAMS
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, parse

IDENTITY_HELPERS = """\
SENTINEL = object()
THREE = 3


def negated(flag):
    return not flag


def passed_on(value):
    return value


def asked(value, other):
    return 1 if value is other else 2


def with_flag(x, flag):
    if flag is True:
        return x * 2
    if flag is None:
        return x + 3
    return x if flag is not np.True_ else x + 1


"""
# values computed from a variable {0}
SUBJECTS = (
    *("bool(np.sum({0}) > 0)", "np.sum({0}) > 0", "not np.sum({0}) > 1", "np.any({0})"),
    *("bool(np.all({0}))", "np.size({0}) > 2", "np.size({0}) > 2 and np.sum({0}) > 0"),
    *("int(np.sum({0}))", "np.size({0})", "np.ndim({0})", "np.int64(np.size({0}))"),
    *("float(np.sum({0}))", "np.sum({0})", "np.max({0}) if np.size({0}) else None"),
    *("{0}", "np.asarray({0})", "passed_on({0})", "{0} if np.size({0}) > 2 else None"),
    *("type({0})", "type(np.sum({0}))", "type(bool(np.sum({0}) > 0))", "np.sum({0}).dtype"),
    *("None if np.sum({0}) > 0 else 3", "True if np.sum({0}) > 1 else None"),
    *("... if np.sum({0}) > 0 else NotImplemented", "negated(np.sum({0}) > 0)"),
    *("passed_on(bool(np.sum({0}) > 0))", "np.shape({0})", "({0}, 1)", "np.sum({0}) > 0 or None"),
    *("np.bool_(np.size({0}))", "bool(np.size({0})) and np.ravel({0})[0] > 0"),
)
# values computed from an element v with the number q, where {0} is the variable
ELEMENTS = (
    *("bool(v > 0)", "v > 0", "not v > 0", "int(v)", "v", "q", "q > 1", "v > 0 and q > 0"),
    *("None if v > 0 else q", "True if v > 0 else v", "bool(v)", "v == v", "q + 250", "type(v)"),
    *("v in {0}", "float(v)", "0 < v < 3", "negated(v > 0)", "passed_on(bool(v < 1))", "SENTINEL"),
)
OBJECTS = (
    *("None", "None", "True", "True", "False", "False", "np.True_", "np.False_", "0", "1", "3"),
    *("-2", "256", "1000", "THREE", "Ellipsis", "...", "NotImplemented", "SENTINEL", "int"),
    *("bool", "float", "np.bool_", "np.float64", "np.ndarray", "np.dtype(np.float64)", "{1}"),
)
# {s} is a subject, {e} a value of an element, {o} an object, {0} and {1} are variables
IDENTITIES = (
    "hits = (3 * hits + ({s} is {o})) % 64",
    "hits = (3 * hits + ({o} is not ({s}))) % 64",
    "hits += 1 if ({s}) is {o} else 2",
    "hits += None is not ({s}) is {o}",
    "hits += asked({s}, {o})",
    "hits += [({s}) is {o}, True].count(True)",
    "flag = {s}\nif flag is {o}:\n    hits += 1\nelif flag is not {p}:\n    hits += 5",
    "if ({s}) is {o} or ({t}) is {p}:\n    hits += 3",
    "if ({s}) is not {o}:\n    {0} = {0} * 2",
    "{0} = {0} + 1 if ({s}) is {o} else {0}",
    "{0} = with_flag({0}, {s})",
    "match {s}:\n    case True:\n        hits += 1\n    case None:\n        hits += 2\n"
    "    case _:\n        hits += 3",
    "for q, v in enumerate(np.ravel({0})):\n    flag = {e}\n    if flag is {o}:\n        hits += 1",
    "for q in range(np.size({0})):\n    v = np.ravel({0})[q]\n    hits += ({e}) is not {o}",
    "for q in range(np.size({0})):\n    v = np.ravel({0})[q]\n    if ({e}) is {o}:\n        break\n"
    "    hits += 1",
    "q = 0\nwhile q < np.size({0}):\n    v = np.ravel({0})[q]\n    q += 1\n"
    "    if ({o}) is ({e}):\n        continue\n    hits += asked({e}, {p})",
    "hits += sum([({e}) is {o} for q, v in enumerate(np.ravel({0}))])",
    "last = None\nfor q, v in enumerate(np.ravel({0})):\n    if last is {o}:\n        hits += 1\n"
    "    last = {e}\nhits += last is {p}",
)
ANNOTATIONS = (
    "{0}: np.ndarray",
    "{0}: Missing",
    "({0}): Missing",
    "{0}: np.ndarray = {0} * 2",
    "({0}): Missing = {0} + 1",
    "note: int = np.size({0})\nhits += note",
    "note: Missing\nnote = 3\nhits += note",
    "{0}[0:1]: int",
    "{0}[np.size({0}) + 9]: Missing",
    "{0}[...]: float = 1",
    "scale: float\nscale = 0.5\n{0} = {0} * scale",
    "def inner(v: np.ndarray, w: int = 2, *, u: 'Missing' = 1) -> np.ndarray:\n"
    "    kept: np.ndarray = v * w\n    kept: Missing\n    return kept + u\n{0} = inner({0})",
    "for q in range(2):\n    step: int = q + 1\n    hits += step",
    "if np.sum({0}) > 1:\n    note: int = 3\nelse:\n    note: int\n    note = 2\nhits += note",
)
OBJECT_ANNOTATIONS = (
    "BOX.last: Missing",
    "BOX.last: np.ndarray = {0} * 2",
    "BOX.items[0]: Missing",
    "BOX.add.__self__.last: np.ndarray",
    "KEPT[np.size({0})]: int",
)
"""Annotations of what `fusejit_testing.programs.boundaries` defines."""
_CONTINUES = ("else", "elif", "except", "finally", "case")  # what belongs to the statement before
_OFTEN = 0.35  # of the places before a statement


def identity_program(seed: int) -> MutationProgram:
    """The program of a seed; NumPy's functions and helpers are all that it uses."""
    return with_identities(_any_program(seed))


def identity_program_by_python(seed: int) -> MutationProgram:
    """The program of a seed, with statements that Python has to run."""
    return with_identities(with_boundaries(_any_program(seed)), OBJECT_ANNOTATIONS)


def _any_program(seed: int) -> MutationProgram:
    made = random.Random(f"program {seed}").choice([*PROGRAMS.values()])
    return made(seed)


def with_identities(program: MutationProgram, more: Sequence[str] = ()) -> MutationProgram:
    """The program with identity tests and annotations; ``more`` are statements to draw from."""
    rng = random.Random(f"identities {program.seed}")
    annotations = (*ANNOTATIONS, *more)

    def statement(names: Sequence[str]) -> tuple[Statement, ...]:
        if rng.random() < 0.4:
            return parse(rng.choice(annotations).format(rng.choice(names)))
        return parse(_identity(rng, names))

    arrays = [p.name for p in program.parameters if p.dtype != "value"]
    body = (
        Statement(rng.choice(("hits = 0", "hits: int = 0"))),
        *inserted(rng, program.body, arrays, statement),
        *parse(_identity(rng, arrays)),
    )
    header = _annotated_header(rng, program) if rng.random() < 0.5 else ""
    made = with_result(replace(program, body=body), "hits")
    return replace(made, header=header, outside=IDENTITY_HELPERS)


def _identity(rng: random.Random, names: Sequence[str]) -> str:
    one, other = rng.choice(names), rng.choice(names)
    filled = {
        field: rng.choice(choices).format(one, other)
        for field, choices in (
            *(("s", SUBJECTS), ("t", SUBJECTS), ("e", ELEMENTS)),
            *(("o", OBJECTS), ("p", OBJECTS)),
        )
    }
    return rng.choice(IDENTITIES).format(one, other, **filled)


def _annotated_header(rng: random.Random, program: MutationProgram) -> str:
    kinds = ("np.ndarray", "'Missing'", "int", "None", "np.float64 | None", "[1, 2]")
    names = ", ".join(f"{p.name}: {rng.choice(kinds)}" for p in program.parameters)
    return f"def f({names}) -> {rng.choice(kinds)}:"


def with_result(program: MutationProgram, name: str) -> MutationProgram:
    """The program that returns the value of a name too."""
    if program.container != "one":
        return replace(program, returned=(*program.returned, name))
    first = f"{program.returned[0]} + {name}" if program.returned else name
    return replace(program, returned=(first,))


def inserted(
    rng: random.Random,
    body: Sequence[Statement],
    known: Sequence[str],
    statement: Callable[[Sequence[str]], tuple[Statement, ...]],
) -> Iterator[Statement]:
    """A body with statements at random places, made for the names that are bound there."""
    names = list(known)
    for each in body:
        belongs = each.text.startswith(_CONTINUES) or each.text.endswith("# bound")
        if not belongs and rng.random() < _OFTEN:  # what is bound is no memory without values
            yield from statement(names)
        if each.text.startswith("def "):  # its names are its own
            yield each
            continue
        yield replace(each, body=tuple(inserted(rng, each.body, names, statement)))
        target, is_bound, _ = each.text.partition(" = ")
        if is_bound and target.isidentifier() and not each.body:
            names.append(target)
