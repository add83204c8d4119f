"""The parts of a `TracedSet` that `fusejit.tracer.keyed.set_methods` is written with.

Each stands for a function of `fusejit.tracer.keyed.traced_set`, which is traced in its place. Those
of keys are in `fusejit.tracer.keyed.keyed_parts`.
"""
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations


def empty_set():
    """A new set."""


def keys_of(items):
    """What a loop runs over for a result that does not show the order of a set."""


def is_set(items):
    """Whether it is a set."""


def keys_are_alike(s, other):
    """Whether equal keys of two sets are of one type."""


def may_take(s, other):
    """Whether the keys of two sets have the same form, so that memory may be copied."""


def take(s, other):
    """Hold the keys of another set."""


def set_of(items):
    """A set of items."""
