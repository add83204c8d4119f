"""Tokens of IR text, with a cursor that reports where something else was expected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import NoReturn, TypeVar

from fusejit.dataclass import dataclass
from fusejit.errors import ParseError

_TOKEN = re.compile(
    r"""(?P<space>\s+|\#[^\n]*)
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<literal>'(?:[^'\\\n]|\\.)*')
      | (?P<value>%\w+)
      | (?P<buffer>@\w+)
      | (?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)
      | (?P<name>[^\W\d][\w.]*)
      | (?P<attribute>\.\w+)
      | (?P<arrow>->)
      | (?P<mark>[@()\[\]{},:;=+*-])
    """,
    re.VERBOSE,
)
T = TypeVar("T")

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
AFFINE_WORDS = ("floordiv", "mod")
AFFINE_OPERATORS = ("+", "-", "*", *AFFINE_WORDS)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: its kind (a group of the pattern, or ``end``) and where it stands."""

    kind: str
    text: str
    start: int
    end: int


class Cursor:
    """The tokens of a text, read from front to back."""

    def __init__(self, text: str) -> None:
        self.source = text
        self.tokens: list[Token] = []
        at = 0
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                self._fail_at(at, f"unexpected character {text[at]!r}")
            if match.lastgroup != "space":
                self.tokens.append(Token(str(match.lastgroup), match.group(), at, match.end()))
            at = match.end()
        self.tokens.append(Token("end", "", at, at))
        self.position = 0

    # -- errors ---------------------------------------------------------------------------------
    def _fail_at(self, offset: int, message: str) -> NoReturn:
        line = self.source.count("\n", 0, offset) + 1
        column = offset - self.source.rfind("\n", 0, offset)
        raise ParseError(f"line {line}, column {column}: {message}")

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """Raise: ``expected`` should stand where ``token`` (or else the next token) stands."""
        token = token or self.peek
        found = repr(token.text) if token.text else "the end of the text"
        self._fail_at(token.start, f"expected {expected}, found {found}")

    def refuse(self, message: str, token: Token) -> NoReturn:
        """Raise: what ``token`` says is not possible here."""
        self._fail_at(token.start, message)

    # -- reading --------------------------------------------------------------------------------
    @property
    def peek(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    @property
    def peek_second(self) -> Token:
        """The token after the next one."""
        return self.tokens[min(self.position + 1, len(self.tokens) - 1)]

    def next(self) -> Token:
        """Take the next token."""
        token = self.peek
        self.position = min(self.position + 1, len(self.tokens) - 1)
        return token

    def at(self, text: str) -> bool:
        """Whether the next token is this word or mark."""
        return self.peek.text == text and self.peek.kind not in ("string", "literal", "end")

    def accept(self, text: str) -> bool:
        """Take the next token if it is this word or mark."""
        if self.at(text):
            self.next()
            return True
        return False

    def expect(self, text: str) -> Token:
        """Take this word or mark."""
        if not self.at(text):
            self.fail(repr(text))
        return self.next()

    def expect_kind(self, kind: str, description: str) -> Token:
        """Take a token of one kind."""
        if self.peek.kind != kind:
            self.fail(description)
        return self.next()

    def name(self, description: str = "a name") -> str:
        """Take a name."""
        return self.expect_kind("name", description).text

    def one_of(self, words: tuple[str, ...]) -> str:
        """Take one of several words."""
        if self.peek.kind != "name" or self.peek.text not in words:
            self.fail(" or ".join(map(repr, words)))
        return self.next().text

    def string(self, description: str) -> str:
        """Take a quoted text."""
        return str(json.loads(self.expect_kind("string", description).text))

    def integer(self, description: str = "an integer") -> int:
        """Take an integer with its sign."""
        sign = -1 if self.accept("-") else 1
        if not self.peek.text.isdigit():
            self.fail(description)
        return sign * int(self.next().text)

    # -- pieces that are read by others ---------------------------------------------------------
    def reading(self, read: Callable[[str], T], token: Token, text: str) -> T:
        """What ``read`` makes of a text that begins with a token."""
        try:
            return read(text)
        except (ParseError, ValueError, ZeroDivisionError) as error:
            self.refuse(str(error), token)

    def bracketed(self) -> tuple[Token, str]:
        """Take a balanced ``[ .. ]``; gives the opening token and the text between the brackets."""
        opening = self.expect("[")
        return opening, self.source[opening.end : self._closing("]").start]

    def affine_text(self) -> tuple[Token, str]:
        """Take the longest affine expression; gives its first token and its text."""
        first = self.peek
        while True:
            while self.accept("-"):
                pass
            if self.accept("("):
                last = self._closing(")")
            elif self.peek.kind == "name" or self.peek.text.isdigit():
                last = self.next()
            else:
                self.fail("an affine expression")
            if self.peek.text not in AFFINE_OPERATORS:
                return first, self.source[first.start : last.end]
            self.next()

    def _closing(self, mark: str) -> Token:
        """Take all up to the mark that closes a bracket, which was taken already."""
        depth = 1
        while depth:
            token = self.next()
            if token.kind == "end":
                self.fail(repr(mark), token)
            if token.kind == "mark":
                depth += (token.text in _OPENING) - (token.text in _CLOSING)
        return token
