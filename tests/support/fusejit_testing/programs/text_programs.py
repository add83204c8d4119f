"""Random programs over strings, their characters, lists of characters, and deques.

Each is a function of one or two strings. It has lists of characters ``a`` and ``b``, a string ``o``
that loops add to, a string or None ``h``, a dictionary ``d`` and a set ``z`` of characters, and a
deque of numbers ``q``.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from fusejit_testing.programs.list_programs import indented
from fusejit_testing.programs.mutation_programs import MutationProgram, Parameter, parse

_LETTERS = "abcAB1 -"
_UNUSUAL = ("é", "😀", "ß", "\0", "٣", "ab")
_SIZES = (0, 1, 2, 3, 5, 5, 8, 13)
_OUTSIDE = """\
VALUES = {"a": 1, "b": 2, "c": 30, "A": 4}
OPPOSITES = {"a": "A", "A": "a", "b": "B", "-": ""}
ALPHABET = "abcdefgh"


def added(text, character):
    if character != "a":
        text += character
    return text


def kind_of(character):
    if character.isalpha():
        return "letter"
    return "digit" if character.isdigit() else None


"""

CHARACTERS = (
    *("{w}",) * 8,
    *("{x}[{j}]", "{x}[-1 - {j}]", "chr(97 + {j} % 5)", "{w}.upper()", "{w}.lower()", "'a'", "'b'"),
    *("ALPHABET[{j} % 8]", "('a' if {c} else {w})", "OPPOSITES.get({w}, 'c')", "(h or 'c')"),
)
CONDITIONS = (
    *("{v} == {v}", "{v} != {v}", "{v} in 'abB'", "{v} in ('a', '1')", "{v} not in {a}"),
    *("k % 3 == 1",),
    *("{v} < 'b'", "{v} >= {w}", "h == 'a'", "h is None", "h is not None", "o", "len(o) < 5"),
    *("{v}.isdigit()", "{v}.isalpha()", "{v} in VALUES", "{v} in z", "{v} in d", "{v} in o"),
    *("len({a}) > {n}", "{x}[{n}:] == {y}[{n}:]", "{v} in {x}", "h == {v}", "k > {n}", "q"),
)
STATEMENTS = (
    *("{a}.append({v})", "{b}.append(({v}, {n}))", "h = {v}", "h = None", "h = 'word'", "k += {n}"),
    *("o += {v}", "o += {v}", "o += 'xy'", "o = ''", "p = o", "o += p", "o = added(o, {v})"),
    *("d[{v}] = d.get({v}, 0) + {n}", "d.setdefault({v}, k)", "z.add({v})", "z.discard({v})"),
    *(
        "k += ord({v})",
        "k += {x}.count({v})",
        "k += {x}.find({v})",
        "k += o.count({v})",
        "k += len(o)",
    ),
    *("k += VALUES.get({v}, {n})", "k += VALUES[{v}]", "k += {v} in {x}", "u = {x}[{n}:{m}]"),
    *("k += int({v}) if {v}.isdigit() else 1", "u = kind_of({v})", "k += kind_of({v}) == 'letter'"),
    *(
        "{a} = sorted({a})",
        "{a}.reverse()",
        "if {a}:\n    h = {a}.pop()",
        "{a} = []",
        "u = ''.join({a})",
    ),
    *("k += {x}[{n}:].count('a')", "k += {x}.startswith({y}[:{n}])", "k += {x} == {y}", "u = h, k"),
    *("if {a} and {a}[-1] == {v}:\n    k += 1", "{a} = [c for c in {x} if c != {w}]", "u = {v}"),
    *("q.append(k)", "q.appendleft({n})", "if q:\n    k += q.popleft()", "if q:\n    k -= q.pop()"),
    *("q.rotate({n})", "k += len(q)", "k += {n} in q", "o += ''.join({a}[:3])", "u = list({x})"),
    *(
        "{a} += {x}[:{n}]",
        "{a}.extend({x})",
        "u = o, p",
        "k += (h is None) + ({v} == h)",
        "p += {v}",
    ),
)
IN_LOOPS = ("if {c}:\n    break", "if {c}:\n    continue", "if {c}:\n    return k, h, o")
LOOPS = (
    *(
        "for {f} in {x}:",
        "for {f} in {x}:",
        "for {g}, {f} in enumerate({x}):",
        "for {f} in reversed({x}):",
    ),
    *(
        "for {g} in range(len({x})):",
        "for {f}, {f}2 in zip({x}, {y}):",
        "for {f} in {a}:",
        "for {f} in o:",
    ),
    *("for {g} in range({m}):", "for {f} in sorted({x}):", "for {f} in {x}[{n}:]:"),
)
RESULTS = (
    "a, b, o, h, d, k, u",
    "o",
    "h, k",
    "a, k",
    "d, k",
    "u, p",
    "len(z), sorted(z), k",
    "list(q), k",
)


class _Maker:
    """Makes the statements of one program."""

    def __init__(self, rng: random.Random, strings: list[str]) -> None:
        self.rng, self.strings = rng, strings
        self.characters, self.places = ["'c'"], ["0"]
        self.num_names = 0
        self.statements = rng.sample(STATEMENTS, rng.choice((3, 5, 8)))
        self.conditions = rng.sample(CONDITIONS, 4)
        self.values = ["{w}", "{w}", *rng.sample(CHARACTERS, 4)]

    def filled(self, text: str, **more: str) -> str:
        """A template with all of its fields filled."""
        rng = self.rng
        while "{v}" in text or "{c}" in text:  # each occurrence by itself
            text = text.replace("{v}", rng.choice(self.values), 1)
            text = text.replace("{c}", rng.choice(self.conditions), 1)
        text = text.replace("{x}[{j}]", rng.choice(("{x}[{j}]", "{x}[{j} % len({x})]")))
        fields = {
            **{"x": rng.choice(self.strings), "y": rng.choice(self.strings)},
            **{"w": rng.choice(self.characters), "j": rng.choice(self.places)},
            **{"a": "a", "b": "b", "n": rng.choice("01123"), "m": rng.choice("2345"), **more},
        }
        return text.format(**fields)

    def body(self, depth: int) -> str:
        """Some statements, loops and conditionals."""
        rng = self.rng
        lines = []
        for _ in range(rng.choice((1, 2, 2, 3))):
            draw = rng.random()
            if depth < 2 and draw < 0.25:
                lines.append(self.loop(depth))
            elif depth < 3 and draw < 0.45:
                lines.append(f"if {self.filled('{c}')}:\n{indented(self.body(depth + 1))}")
                if rng.random() < 0.4:
                    lines.append(f"else:\n{indented(self.body(depth + 1))}")
            else:
                is_end = depth and len(self.places) > 1 and draw > 0.96
                lines.append(self.filled(rng.choice(IN_LOOPS if is_end else self.statements)))
        return "\n".join(lines)

    def loop(self, depth: int) -> str:
        """A loop with its body."""
        self.num_names += 1
        f, g = f"c{self.num_names}", f"i{self.num_names}"
        template = self.rng.choice(LOOPS)
        header = self.filled(template, f=f, g=g)
        outer = self.characters, self.places
        self.characters = [*outer[0], f, f] if "{f}" in template else outer[0]
        self.places = [*outer[1], g, g] if "{g}" in template else outer[1]
        inner = indented(self.body(depth + 1))
        self.characters, self.places = outer
        bounded = f" in {'a'}:" in header or " in o:" in header
        bound = "    if len(a) + len(o) > 200: break  # bound\n" if bounded else ""
        return f"{header}\n{bound}{inner}"


def text_program(seed: int) -> MutationProgram:
    """The program of a seed."""
    rng = random.Random(f"texts {seed}")
    names = "xy"[: rng.choice((1, 2, 2))]
    parameters = tuple(Parameter(name, "text", (), "value") for name in names)
    maker = _Maker(rng, [*names])
    lines = ["k = 0", "h = u = None", "o, p = '', ''", "a, b = [], []"]
    lines[2:3] = rng.choice((["o = ''", "p = ''"], ["o = '>'", "p = ''"]))
    lines += ["d, z = {}, set()", "q = deque()"]
    lines += [maker.loop(0) for _ in range(rng.choice((1, 1, 2)))]
    lines.append(maker.filled(rng.choice(maker.statements)))
    calls = tuple(_calls(rng))
    outside = "from collections import deque\n\n" + _OUTSIDE
    body, returned = parse("\n".join(lines)), (rng.choice(RESULTS),)
    return MutationProgram(seed, parameters, body, returned, "one", calls, outside=outside)


def _calls(rng: random.Random) -> Iterator[dict[str, int]]:
    for _ in range(5):
        yield {"n": rng.choice(_SIZES), "variation": rng.random() < 0.25}


def texts_of(program: MutationProgram, call: int) -> tuple[Any, ...]:
    """The strings of a call, the same ones each time; a variation has unusual characters."""
    sizes = program.calls[call]
    rng = random.Random(f"{program.seed} {call}")
    letters = [*_LETTERS] + [*_UNUSUAL] * sizes["variation"]
    return tuple("".join(rng.choices(letters, k=sizes["n"])) for _ in program.parameters)
