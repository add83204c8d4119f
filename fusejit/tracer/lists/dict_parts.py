"""The parts of a `TracedDict` that `fusejit.tracer.lists.dict_methods` is written with.

Each stands for the method of `TracedDict` of its name, which is traced in its place. Those of keys
are in `fusejit.tracer.lists.keyed_parts`.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations


def add_value(d, value):
    """Append the value of a new key."""


def put_value(d, at, value):
    """Replace a value."""


def value_at(d, at):
    """The value at a place."""


def made_by_factory(d):
    """The value that a ``defaultdict`` makes for a new key."""
