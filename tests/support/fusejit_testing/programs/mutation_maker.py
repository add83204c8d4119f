"""Makes random mutation programs, statement by statement, while NumPy executes them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from fusejit.ir.write_access import WriteAccess
from fusejit_testing.programs.mutation_expressions import (
    DTYPE_TEXTS,
    Expressions,
    is_exact,
    numpy_copies_wrongly,
)
from fusejit_testing.programs.mutation_fields import Fields, NoField
from fusejit_testing.programs.mutation_programs import (
    MutationProgram,
    Statement,
    deadline,
    helpers,
    parse,
    random_parameters,
)
from fusejit_testing.programs.mutation_templates import NESTING, TEMPLATES
from fusejit_testing.programs.value_programs import template, with_values

NUM_STATEMENTS = (1, 2, 2, 3, 3, 4, 6)
_TRIES = 12  # with other operands, before a template is taken for one that NumPy refuses


_State = tuple[dict[str, Any], list[tuple[np.ndarray, np.ndarray]]]
_FOR = re.compile(r"for (.*) in (.*):$")
_JUMP = re.compile(r"break|continue|return|raise")
_RETURN = re.compile(r"^( *)return (.*)$")


class Refused(Exception):
    """NumPy refuses a line in the middle of a template."""


class Leave(Exception):
    """Stands for ``return`` while a program is made."""


@dataclass(slots=True)
class Maker(Expressions):
    """Makes statements."""

    # -- statements -------------------------------------------------------------------------------
    def statement(self, depth: int) -> list[Statement]:
        """Statements of a random kind that NumPy accepts now, executed; none if it does not."""
        kind = self.rng.choices(_KINDS, _WEIGHTS)[0]
        if depth and self.in_loop and self.rng.random() < 0.12:
            kind = "jump"
        if depth > 1 and kind in NESTING:
            kind = "store"
        before = self.saved()
        made, loops = self.num_made, list(self.loop_variables)
        try:
            if kind in TEMPLATES:
                statements = self.from_template(kind, depth)
            else:
                text = getattr(self, f"_{kind}")()
                statements = [] if text is None else [Statement(text)]
            accepted = bool(statements) and (kind == "jump" or self.runs(*statements))
        except Refused:
            accepted = False
        self.loop_variables = loops
        if accepted:
            return statements
        self.restore(before)
        self.num_made = made
        return []

    def saved(self) -> _State:
        """What names are bound to now, and what the arrays hold."""
        names = {k: v for k, v in self.names.items() if k != "__builtins__"}
        return names, [(a, a.copy()) for a in names.values() if isinstance(a, np.ndarray)]

    def restore(self, state: _State) -> None:
        """Go back to a state."""
        names, memory = state
        for array, contents in memory:
            if WriteAccess.of(array) is WriteAccess.WRITEABLE:
                array[...] = contents
        self.names.clear()
        self.names.update(names)

    def runs(self, *statements: Statement) -> bool:
        """Execute statements; whether NumPy took them and all numbers are still exact."""
        lines = [line for statement in statements for line in statement.lines("")]
        text = "\n".join(_RETURN.sub(r"\1raise Leave((\2))", line) for line in lines)
        try:
            with np.errstate(all="ignore"), deadline(2):
                exec(text, self.names)
        except Leave:
            pass  # what follows is made for the calls that do not leave here
        except Exception:
            return False
        values = (v for name, v in self.names.items() if name != "__builtins__")
        return bool(self.arrays()) and all(map(is_exact, values))

    def from_template(self, kind: str, depth: int) -> list[Statement]:
        """One of the templates of a kind, filled."""
        return self.from_text(self.rng.choice(TEMPLATES[kind][1]), depth)

    def from_text(
        self, text: str, depth: int = 0, known: Mapping[str, str] | None = None
    ) -> list[Statement]:
        """A template with its fields filled and its bodies made, against their first pass.

        ``known`` are fields that are filled already.
        """
        fields = Fields(self)
        fields.update(known or {})
        try:
            text = text.format_map(fields)
        except NoField:
            return []
        before = self.saved()
        outer = self.in_loop
        made = self.filled(parse(text), depth)
        self.in_loop = outer
        self.restore(before)
        return made

    def accepted(self, text: str, known: Mapping[str, str] | None = None) -> list[Statement]:
        """A template with fields that NumPy accepts, executed; nothing if none are found."""
        for _ in range(_TRIES):
            before, made, loops = self.saved(), self.num_made, list(self.loop_variables)
            try:
                statements = self.from_text(text, 0, known)
                if statements and self.runs(*statements):
                    return statements
            except Refused:
                pass
            finally:
                self.loop_variables = loops
            self.restore(before)
            self.num_made = made
        return []

    def filled(self, statements: tuple[Statement, ...], depth: int) -> list[Statement]:
        """Statements with other statements in place of ``{body}``."""
        made: list[Statement] = []
        for at, statement in enumerate(statements):
            if statement.text == "{body}":
                for _ in range(self.rng.randint(1, 2)):
                    made += self.statement(depth + 1)
            elif statement.body:
                before, loops, outer = self.saved(), list(self.loop_variables), self.in_loop
                if statement.text.startswith(("for ", "while ")):
                    self.in_loop = True
                self.enter(statement.text)
                body = self.filled(statement.body, depth)
                self.loop_variables, self.in_loop = loops, outer
                self.restore(before)
                made.append(replace(statement, body=tuple(body or [Statement("pass")])))
            else:
                is_last = at + 1 == len(statements)
                if not is_last and not _JUMP.match(statement.text) and not self.runs(statement):
                    raise Refused
                made.append(statement)
        return made

    def enter(self, header: str) -> None:
        """Bind the variables of a loop as its first pass does."""
        found = _FOR.match(header)
        if not found:
            return
        targets, items = found.groups()
        if not self.runs(Statement(f"for {targets} in {items}:", (Statement("break"),))):
            raise Refused
        for name in targets.split(", "):
            self.names.setdefault(name, 0)  # a loop without items
        if "range(" in items or "enumerate(" in items:
            self.loop_variables.append(targets.split(", ")[0])

    # -- kinds of statements ----------------------------------------------------------------------
    def _view(self) -> str:
        return f"{self.fresh('v')} = {self.part(self.rng.choice(self.arrays()))}"

    def _compute(self) -> str:
        shape = self.rng.choice(self.values()).shape
        return f"{self.fresh()} = {self.expression(shape)}"

    def _store(self) -> str | None:
        target = self.target()
        if target is None:
            return None
        text = self.expression(target[1])
        if numpy_copies_wrongly(self.evaluate(target[0]), self.evaluate(text)):
            text = f"({text}).copy()"
        return f"{target[0]} = {text}"

    def _update(self) -> str | None:
        target = self.target()
        op = self.rng.choice(("+=", "-=", "*=", "+=", "-="))
        return None if target is None else f"{target[0]} {op} {self.expression(target[1])}"

    def _in_place(self) -> str:
        name = self.rng.choice(self.arrays())
        op = self.rng.choice(("+=", "-=", "*=", "+=", "-="))
        return f"{name} {op} {self.expression(self.names[name].shape)}"

    def _overlap(self) -> str:
        name = self.rng.choice(self.arrays())
        ndim = self.names[name].ndim
        choices = [
            "{x}[1:] -= {x}[:-1]",
            "{x}[:-1] += {x}[1:]",
            "{x}[:] = {x}[::-1]",
            "{x}[::2] = {x}[: ({x}.shape[0] + 1) // 2] * 1",
            "{x}[1:-1] = {x}[:-2] + {x}[2:]",
            "{x} += {x}[::-1]",
            "{x}[2:] = {x}[:-2] - {x}[1:-1]",
            "{x}[1:], {x}[:-1] = {x}[:-1], {x}[1:]",
            "{x}[0], {x}[-1] = {x}[-1], {x}[0]",
        ]
        if ndim > 1:
            choices += [
                "{x} += {x}.T",
                "{x}[:] = {x}.T",
                "{x}[1:, 1:] -= {x}[:-1, :-1]",
                "{x}[1:, :-1] = {x}[:-1, 1:]",
                "{x}[:, 1:] += {x}[:, :-1]",
                "{x} -= {x}[0]",
                "{x} -= {x}[:, :1]",
                "{x}.T[1:] *= {x}.T[:-1]",
                "{x}[0] = {x}[:, 0] * 1",
            ]
        return self.rng.choice(choices).format(x=name)

    def _masked(self) -> str:
        name = self.rng.choice(self.arrays())
        shape = self.names[name].shape
        number = self.number()
        if self.rng.random() < 0.5:
            mask = f"{name} {self.rng.choice(('>', '<', '=='))} {number}"
        else:
            mask = f"{self.operand(shape)} > {self.operand(shape)}"
        made = self.evaluate(mask)
        roll = self.rng.random()
        if roll < 0.4 or np.shape(made) != shape or not shape:
            return f"{name}[{mask}] = {self.number()}"
        if roll < 0.6:
            return f"{name}[{mask}] {self.rng.choice(('+', '-', '*'))}= {self.number()}"
        source = self.operand(shape)
        if np.shape(self.evaluate(source)) != shape:
            source = name
        change = self.rng.choice(("", " + 1", f" * {name}[{mask}]"))
        return f"{name}[{mask}] = {source}[{mask}]{change}"

    def _out(self) -> str:
        name = self.rng.choice(self.arrays())
        text = name if self.rng.random() < 0.4 else self.part(name)
        value = self.evaluate(text)
        shape = value.shape if isinstance(value, np.ndarray) else ()
        ufunc = self.rng.choice(("add", "subtract", "multiply"))
        call = f"np.{ufunc}({self.operand(shape)}, {self.operand(shape)}, out={text})"
        return call if self.rng.random() < 0.6 else f"{self.fresh()} = {call}"

    def _swap(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        return f"{x}, {y} = {y}, {x}"

    def _alias(self) -> str:
        return f"{self.fresh()} = {self.rng.choice(self.arrays())}"

    def _create(self) -> str:
        x = self.rng.choice(self.arrays())
        made = self.rng.choice(
            (
                f"{x}.copy()",
                f"{self.part(x)}.copy()",
                f"np.zeros_like({x})",
                f"np.ones_like({self.part(x)})",
                f"np.zeros({x}.shape)",
                f"np.full({x}.shape, 2, dtype=np.int64)",
                f"np.ones({x}.shape[:1], dtype=np.float32)",
                f"np.arange({x}.shape[0])",
                f"np.full_like({x}, 1)",
                f"np.array({x})",
                f"np.asarray({x})",
                f"{x}.astype({self.rng.choice(DTYPE_TEXTS)})",
            )
        )
        return f"{self.fresh()} = {made}"

    def _empty(self) -> str:
        x, new = self.rng.choice(self.arrays()), self.fresh()
        make = self.rng.choice((f"np.empty_like({x})", f"np.empty({x}.shape)"))
        fill = self.rng.choice(
            ("[...] = 3", ".fill(2)" if new == x else f"[...] = {x}", ".fill(2)")
        )
        return f"{new} = {make}; {new}{fill}"

    def _reduce(self) -> str:
        x = self.rng.choice(self.arrays())
        text = x if self.rng.random() < 0.5 else self.part(x)
        ops = ("sum",) if self.names[x].dtype.kind == "f" else ("sum", "max", "min")
        arguments = self.rng.choice(("", "axis=0", "axis=-1", "axis=0, keepdims=True"))
        return f"{self.fresh('s')} = {text}.{self.rng.choice(ops)}({arguments})"

    def _element(self) -> str:
        x = self.rng.choice(self.arrays())
        zeros = ", ".join(self.rng.choice(("0", "-1")) for _ in range(self.names[x].ndim))
        return f"{self.fresh('e')} = {x}[{zeros or '()'}]"

    def _scalars(self) -> str | None:
        names = [k for k, v in self.names.items() if isinstance(v, np.generic)]
        if not names:
            return None
        s, x = self.rng.choice(names), self.rng.choice(self.arrays())
        return self.rng.choice((f"{s} += 1", f"{x}[...] = {s}", f"{x} += {s}", f"{s} = {s} * 2"))

    def _helper(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        new = self.fresh("h")
        return self.rng.choice(
            (
                f"{new} = bump({x}, 1)",
                f"{new} = bump({self.part(x)}, 2)",
                f"{new} = first_half({x})",
                f"{x}, {new} = ordered({x}, {y})",
            )
        )

    def _fill(self) -> str | None:
        text = self.part(self.rng.choice(self.arrays()))
        return f"{text}.fill({self.number()})" if self.is_array(text) else None

    def _container(self) -> str:
        x, y = self.rng.choice(self.arrays()), self.rng.choice(self.arrays())
        new = self.fresh("c")
        return self.rng.choice(
            (
                f"pair = [{x}, {y}]; pair[0] += 1; {new} = pair[1]",
                f"pair = ({x}, {y}); pair[1][...] = {self.number()}; {new} = pair[0]",
                f"named = {{'x': {x}}}; named['x'] -= 1; {new} = named['x']",
            )
        )


_TABLE = {
    "view": 4,
    "compute": 3,
    "store": 4,
    "update": 3,
    "in_place": 3,
    "overlap": 3,
    "masked": 1.5,
    "out": 1.5,
    "swap": 1.5,
    "alias": 1,
    "create": 1.5,
    "empty": 0.7,
    "reduce": 1.5,
    "element": 1,
    "scalars": 1,
    "helper": 1,
    "fill": 0.5,
    "container": 0.5,
    **{kind: weight for kind, (weight, _) in TEMPLATES.items() if weight},
}
_KINDS, _WEIGHTS = list(_TABLE), list(_TABLE.values())


def started(program: MutationProgram, rng: Random) -> Maker:
    """A maker whose names are bound as the program's first call binds them."""
    names: dict[str, Any] = dict(helpers())
    names["Leave"] = Leave
    names.update(zip((p.name for p in program.parameters), program.arguments(0), strict=True))
    return Maker(rng, names)


def random_results(maker: Maker) -> list[str]:
    """Up to four arrays, parts of arrays and sums to return."""
    rng, names = maker.rng, maker.names
    returned: list[str] = []
    for _ in range(rng.randint(0, 4)):
        name = rng.choice([k for k, v in names.items() if isinstance(v, np.ndarray | np.generic)])
        text = name
        if isinstance(names[name], np.ndarray):
            text = maker.part(name) if rng.random() < 0.35 else name
            if rng.random() < 0.1:
                text = f"{maker.operand(names[name].shape)} + {name}"
        if maker.evaluate(text) is not None:
            returned.append(text)
    if returned and rng.random() < 0.1:
        returned.append(returned[0])
    return returned


def make_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = Random(seed)
    parameters, calls = random_parameters(rng)
    program = with_values(MutationProgram(seed, parameters, (), (), "one", calls), 0.1)
    maker = started(program, rng)
    body: list[Statement] = []
    wanted = rng.choice(NUM_STATEMENTS)
    for _ in range(3 * wanted):
        if len(body) < wanted:
            if "g" in maker.names and rng.random() < 0.3:
                body += maker.accepted(template(rng, maker.names))
            body += maker.statement(0)
    returned = random_results(maker)
    if rng.random() < 0.04:
        body += maker.from_template("out_of_bounds", 0)
    return finished(program, maker, body, returned)


def finished(
    program: MutationProgram,
    maker: Maker,
    body: Sequence[Statement],
    returned: Sequence[str],
) -> MutationProgram:
    """The program with a body and results; one that returns inside returns a number always."""
    if any(_RETURN.match(line) for s in body for line in s.lines("")):
        name = maker.rng.choice(maker.arrays())
        return replace(program, body=tuple(body), returned=(f"float({name}.sum())",))
    container = maker.rng.choice(("tuple", "tuple", "list", "dict", "nested", "one"))
    return replace(program, body=tuple(body), returned=tuple(returned), container=container)
