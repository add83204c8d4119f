"""`Answer`: a report as text that a notebook shows as a table."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence

Row = tuple[str, str, str]


class Answer(str):
    """The text of a report; as HTML, its lines are a table.

    Attributes
    ----------
    head : tuple of str
        The lines before the table.
    rows : tuple of tuples of str
        Place, source and notes of each line of the user's program.
    rest : str
        What follows the table.
    """

    head: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    rest: str = ""

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Row] = (), rest: str = "") -> Answer:
        """The report with these parts."""
        made = cls("".join(f"{line}\n" for line in (*head, *row_texts(rows))) + rest)
        made.head, made.rows, made.rest = (*head,), (*rows,), rest
        return made

    def __repr__(self) -> str:
        return self.rstrip("\n")

    def _repr_html_(self) -> str:
        first, *others = map(html.escape, self.head or ("",))
        parts = [f"<p><b>{first}</b>", *others]
        made = "<br>".join(parts) + "</p>" if self.head else ""
        if self.rows:
            cells = (
                f"<tr><td>{html.escape(place)}</td><td><code>{html.escape(source)}</code></td>"
                f"<td>{html.escape(notes)}</td></tr>"
                for place, source, notes in self.rows
            )
            made += f"<table>{''.join(cells)}</table>"
        rest = self.rest if self.head or self.rows else str(self)
        return made + (f"<pre>{html.escape(rest)}</pre>" if rest else "")


def row_texts(rows: Sequence[Row]) -> Iterator[str]:
    """The rows as lines of text in columns."""
    places = max((len(place) for place, _, _ in rows), default=0)
    sources = max((len(source) for _, source, _ in rows), default=0)
    for place, source, notes in rows:
        yield f"  {place:{places}}  {source:{sources}}  {notes}".rstrip()
