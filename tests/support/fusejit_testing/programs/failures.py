"""Programs of the mutation fuzzer with statements that fail, and with ``try`` and ``with`` around.

Runs of statements are put into a ``try`` whose handlers keep and change arrays, or into a ``with``
whose context ends exceptions. What names hold when a statement fails is thus seen in what was kept
and in the result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fusejit_testing.programs.boundaries import STATEMENTS
from fusejit_testing.programs.mutation_programs import MutationProgram, Statement, parse

_FAILING = (
    "KEPT[9999]",
    "{0} = {0}.reshape(-1, 7, 11)",
    "{0}[10**6] = 1",
    "int('x')",
    "BOX.missing",
    "raise ValueError('x')",
    "raise IndexError(str(np.size({0})))",
    "for q in range(60):\n    {0}[q] = 2",
    "for q in range(60):\n    last = q\n    {0}[q] += 1",
    "if np.sum({0}) > 0:\n    raise ValueError('positive')",
    "assert np.sum({0}) > 1, 'small'",
    "assert np.max({0}) < 0",
)
_LIMIT = 4  # statements in one ``try``
_KEEPING = STATEMENTS[:5]  # those that do not ask for values


def with_failures(program: MutationProgram) -> MutationProgram:
    """The program with random statements that Python has to run, and that may fail."""
    rng = random.Random(program.seed)
    names = [parameter.name for parameter in program.parameters]
    return replace(program, body=tuple(_with_failures(rng, program.body, names)))


def _with_failures(
    rng: random.Random, body: Sequence[Statement], known: Sequence[str]
) -> Iterator[Statement]:
    names = list(known)
    at = 0
    while at < len(body):
        first = body[at]
        if _continues(first):
            yield replace(first, body=tuple(_with_failures(rng, first.body, names)))
            at += 1
            continue
        if rng.random() < 0.35:
            yield Statement(rng.choice(STATEMENTS).format(rng.choice(names)))
        if rng.random() < 0.3:
            end = min(len(body), at + rng.randrange(1, _LIMIT + 1))
            while end < len(body) and _continues(body[end]):
                end += 1
            yield from _guarded(rng, body[at:end], names)
        else:
            end = at + 1
            yield replace(first, body=tuple(_with_failures(rng, first.body, names)))
        names += _bound(body[at:end])
        at = end


def _guarded(
    rng: random.Random, run: Sequence[Statement], names: Sequence[str]
) -> Iterator[Statement]:
    """Statements, perhaps with one that fails, in a ``try`` or ``with``."""
    inside = [*names, *_bound(run)]
    body = list(_with_failures(rng, run, names)) if rng.random() < 0.5 else list(run)
    if rng.random() < 0.6:
        at = rng.randrange(len(body) + 1)
        while at < len(body) and _continues(body[at]):
            at += 1
        body[at:at] = parse(rng.choice(_FAILING).format(rng.choice(inside)))
    way = rng.random()
    if way < 0.35:
        yield Statement("with Ends():" if way < 0.25 else "with noted():", tuple(body))
        return
    yield Statement("try:", tuple(body))
    has_end = rng.random() < 0.3
    if not has_end or rng.random() < 0.7:
        handler = [*_handling(rng, inside)]
        if rng.random() < 0.2:
            handler.append(Statement("raise"))
        elif rng.random() < 0.2:
            handler.append(Statement(f"return {rng.choice(inside)}"))
        yield Statement("except CAUGHT:", tuple(handler))
    if has_end:
        yield Statement("finally:", tuple(_handling(rng, inside)))


def _handling(rng: random.Random, names: Sequence[str]) -> Iterator[Statement]:
    yield Statement(rng.choice(_KEEPING).format(rng.choice(names)))
    if rng.random() < 0.5:
        yield Statement(f"{rng.choice(names)} = {rng.choice(names)} * 2")


def _continues(statement: Statement) -> bool:
    """Whether it belongs to the statement before it."""
    return statement.text.startswith(("else", "elif", "except", "finally"))


def _bound(body: Sequence[Statement]) -> list[str]:
    """Names that statements bind."""
    found: list[str] = []
    for statement in body:
        target, is_bound, _ = statement.text.partition(" = ")
        if is_bound and target.isidentifier():
            found.append(target)
        found += _bound(statement.body)
    return found
