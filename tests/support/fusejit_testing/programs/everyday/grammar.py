"""Grammars of random programs, and the programs that are made from them.

A field of a template is written ``$name``. It is filled with one of the templates of that name, or
with a variable of that kind. ``$new_name`` is a new variable of the kind ``name``, for ``$body``: a
line of its own that becomes some statements. ``$same_name`` is what the first field ``name`` of the
template became.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, parse

NUM_CALLS = 4
_FIELD = re.compile(r"\$(new_|same_)?([a-z]+)")
_BODY = re.compile(r"^( *)\$body$", re.MULTILINE)
_OPERATION = re.compile(r" |^-|^[0-9]")  # of what needs parentheses before an attribute
_DEEPEST = 2  # fields within fields
_OFTEN_A_NAME = 0.6


@dataclass(frozen=True)
class Grammar:
    """What the programs of one kind are made from.

    Attributes
    ----------
    outside : tuple of tuple of str
        Texts of the module before the function; one of each tuple is taken.
    parameters : tuple of str
        The parameters of the function: one is taken, such as ``"s:text n:int"``. What stands
        behind a colon names one of the `values` and, up to a ``_``, the field it belongs to.
    beginning : str
        The first statements.
    names : mapping
        The variables of each field from the beginning on.
    fields : mapping
        The templates of each field.
    statements, loops, results : tuple of str
        Templates of statements, of those with ``$body``, and of what is returned.
    state : tuple of str
        Global names, the objects of which a call may change.
    inner : tuple of str
        Loops within others, if other ones: those that do not take long.
    few : int
        How many of the statements one program has.
    """

    outside: tuple[tuple[str, ...], ...]
    parameters: tuple[str, ...]
    beginning: str
    names: Mapping[str, tuple[str, ...]]
    fields: Mapping[str, tuple[str, ...]]
    statements: tuple[str, ...]
    loops: tuple[str, ...]
    results: tuple[str, ...]
    state: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    few: int = 6


class Maker:
    """Makes the text of one program."""

    def __init__(self, rng: random.Random, grammar: Grammar) -> None:
        self.rng, self.grammar = rng, grammar
        self.names = {field: [*names] for field, names in grammar.names.items()}
        self.num_names = 0
        count = min(len(grammar.statements), rng.choice((1, 2, 3, grammar.few)))
        self.statements = rng.sample(grammar.statements, count)
        self.fields = {
            field: rng.sample(templates, min(len(templates), rng.choice((2, 4, 6))))
            for field, templates in grammar.fields.items()
        }

    def filled(self, template: str, depth: int = 0, level: int = 0) -> str:
        """A template with all of its fields and bodies filled."""
        new: dict[str, list[str]] = {}
        first: dict[str, str] = {}

        def chosen(match: re.Match[str]) -> str:
            prefix, field = match.groups()
            if field == "body":
                return match[0]
            if prefix == "new_":
                self.num_names += 1
                new.setdefault(field, []).append(f"{field}{self.num_names}")
                return new[field][-1]
            made = first[field] if prefix == "same_" else self.field(field, depth + 1)
            first.setdefault(field, made)
            is_object = template[match.end() : match.end() + 1] in (".", "[")
            return f"({made})" if is_object and _OPERATION.search(made) else made

        text = _FIELD.sub(chosen, template)
        if "$body" not in text:
            return text
        before = {field: [*names] for field, names in self.names.items()}
        for field, names in new.items():
            self.names.setdefault(field, []).extend(names * 4)
        text = _BODY.sub(lambda match: indented(self.body(level + 1), match[1]), text)
        self.names = before
        return text

    def field(self, field: str, depth: int) -> str:
        """What a field is filled with."""
        names, choices = self.names.get(field, []), self.fields.get(field, [])
        if names and (not choices or self.rng.random() < _OFTEN_A_NAME):
            return self.rng.choice(names)
        if depth > _DEEPEST:
            every = (*choices, *self.grammar.fields[field])
            choices = names or [each for each in every if "$" not in each] or [*every]
        return self.filled(self.rng.choice(choices), depth)

    def body(self, level: int) -> str:
        """Some statements."""
        return "\n".join(self.statement(level) for _ in range(self.rng.choice((1, 1, 2, 3))))

    def statement(self, level: int) -> str:
        """A statement, or a loop or conditional with its body."""
        draw = self.rng.random()
        if level < 3 and draw < 0.25:
            return self.loop(level)
        if level < 4 and draw < 0.45:
            condition = self.rng.choice(("if $cond:\n    $body",) * 2 + _WITH_ELSE)
            return self.filled(condition, level=level)
        if level > 1 and draw > 0.96:
            return self.filled(
                "if $cond:\n    " + self.rng.choice(("break", "continue", "return k"))
            )
        return self.filled(self.rng.choice(self.statements))

    def loop(self, level: int) -> str:
        """A loop with its body."""
        loops = (level and self.grammar.inner) or self.grammar.loops
        return self.filled(self.rng.choice(loops), level=level)


_WITH_ELSE = (
    "if $cond:\n    $body\nelse:\n    $body",
    "if $cond:\n    $body\nelif $cond:\n    $body",
)


def indented(text: str, indent: str) -> str:
    """The lines of a text behind an indentation."""
    return "\n".join(indent + line for line in text.split("\n"))


def made_program(name: str, grammar: Grammar, seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = random.Random(f"{name} {seed}")
    parameters = []
    maker = Maker(rng, grammar)
    for each in rng.choice(grammar.parameters).split():
        parameter, kind = each.split(":")
        maker.names.setdefault(kind.partition("_")[0], []).extend([parameter] * 6)
        parameters.append(Parameter(parameter, kind, (), "value"))
    outside = "\n".join(maker.filled(rng.choice(choices)) for choices in grammar.outside)
    lines = [maker.filled(rng.choice(maker.statements)) for _ in range(rng.choice((0, 0, 1)))]
    lines += [maker.loop(0) for _ in range(rng.choice((1, 1, 2)))]
    lines += [maker.filled(rng.choice(maker.statements)) for _ in range(rng.choice((0, 1, 2)))]
    words = {*re.findall(r"\w+", "\n".join(lines))}
    results = [maker.filled(each) for each in rng.sample(grammar.results, 4)]
    returned = max(results, key=lambda each: len(words & {*re.findall(r"\w+", each)}))
    calls = tuple({"at": k, "variation": int(rng.random() < 0.3)} for k in range(NUM_CALLS))
    return MutationProgram(
        seed,
        tuple(parameters),
        parse("\n".join([grammar.beginning, *lines])),
        (returned,),
        "one",
        calls,
        outside=outside + "\n\n",
    )
