"""Random steps of schedules, legal or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from fusejit.transform import Handle, Parts, Schedule
from fusejit.transform.core.lookup import labels

Step = Callable[[Handle, random.Random], Handle]


def names(s: Schedule) -> list[str]:
    """The names of the ops."""
    return [label for op, label in labels(s.graph).items() if op.domain]


def some_name(op: Handle, rng: random.Random) -> str:
    """An op of the schedule."""
    return rng.choice(names(op.schedule))


def loop(op: Handle, rng: random.Random) -> str:
    """A loop over tiles, or none."""
    return rng.choice([*op.schedule.loops, "none"])


def sizes(op: Handle, rng: random.Random, *choices: int) -> dict[str, Any]:
    """Sizes for one or two dims."""
    dims = rng.sample(op.dims, min(len(op.dims), rng.randint(1, 2)))
    return {dim: rng.choice(choices) for dim in dims}


def one(op: Handle, rng: random.Random, *choices: Any) -> dict[str, Any]:
    """A size for one dim."""
    return {rng.choice(op.dims): rng.choice(choices)}


def registers(op: Handle, rng: random.Random) -> Handle:
    """A register tile of some dims."""
    columns = rng.choice(op.dims)
    width: dict[str, Any] = {columns: rng.choice((4, 8))}
    op = op.tile(reassociate=True, **width)
    return op.vectorize(columns, reassociate=True)


STEPS: tuple[tuple[int, Step], ...] = (
    (4, lambda op, r: op.tile(reassociate=True, **sizes(op, r, 1, 2, 3, 5, 8, 30))),
    (1, lambda op, r: op.tile(reassociate=True, **one(op, r, *map(Parts, range(1, 6))))),
    (4, lambda op, r: op.fuse(some_name(op, r))),
    (2, lambda op, r: op.rematerialize(some_name(op, r))),
    (2, lambda op, r: op.threads(loop(op, r))),
    (2, lambda op, r: op.peel(loop(op, r))),
    (2, registers),
    (1, lambda op, r: op.unroll(r.choice(op.dims))),
    (2, lambda op, r: op.promote(r.choice("ab"), at=r.choice([None, loop(op, r)]))),
    (1, lambda op, r: op.interchange(" ".join(r.sample(op.dims, len(op.dims))), reassociate=True)),
    (1, lambda op, r: op.split(reassociate=True, **one(op, r, 1, 3, 8, 20))),
    (1, lambda op, r: op.tile_reduction(reassociate=True, **one(op, r, 2, 3, 8))),
    (1, lambda op, r: op.unroll_reduction(r.choice(op.dims), reassociate=True)),
    (1, lambda op, r: op.collapse(*op.dims[:2], reassociate=True)),
    (1, lambda op, r: op.expand(reassociate=True, **one(op, r, 2, 3, 4))),
    (1, lambda op, r: op.fold_unit_dims()),
    (1, lambda op, r: op.fuse_siblings(some_name(op, r))),
    (1, lambda op, r: op.decompose(reassociate=True)),
    (1, lambda op, r: op.specialize(reassociate=True)),
    (1, lambda op, r: op.generalize(reassociate=r.random() < 0.5)),
    (1, lambda op, r: op.to_library()),
    (1, lambda op, r: op.no_fuse()),
    (1, lambda op, r: op.transpose_matmul(r.choice("ab"))),
    (1, lambda op, r: op.hoist_pad(r.choice("ab"))),
    (2, lambda op, r: op.pad(reassociate=True, **sizes(op, r, 2, 3, 8, 16))),
    (1, lambda op, r: op.pack(r.choice("ab"), **sizes(op, r, 2, 3, 8))),
    (1, lambda op, r: op.unpack(r.choice("ab"))),
    (1, lambda op, r: op.pack_matmul(reassociate=True, **sizes(op, r, 2, 3, 8))),
    (1, lambda op, r: op.conv_to_matmul(reassociate=True)),
)
"""Steps with their weights."""


def random_step(s: Schedule, rng: random.Random) -> Handle:
    """A step that may be legal."""
    (step,) = rng.choices([step for _, step in STEPS], [weight for weight, _ in STEPS])
    return step(s[rng.choice(names(s))], rng)
