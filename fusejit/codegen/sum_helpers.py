"""Functions that generated reductions call: plain Python text, jitted and unjitted alike.

`emit` puts those that a kernel uses in front of it. They know lanes, stacks of partial totals and
rows of them, and merge in the order of `fusejit.ir.summation`.
"""

from __future__ import annotations

from fusejit.codegen.lanes import FOLDS

# combiner -> text that merges ``left`` and ``right``
_MERGED = {
    "add": "left + right",
    "multiply": "left * right",
    "max": "maximum(left, right)",
    "min": "minimum(left, right)",
}

_COMBINING_HELPERS: dict[str, str] = {
    "merge_lanes_{c}": '''\
def merge_lanes_{c}(lanes, width):
    """Halving tree over the lanes."""
    if width == {lanes}:
        return fold_{c}(lanes)
    while width > 1:
        width //= 2
        for j in range(width):
            left = get(lanes, j)
            right = get(lanes, j + width)
            put(lanes, j, {merged})
    return get(lanes, 0)
''',
    "push_{c}": '''\
def push_{c}(stack, top, count, right):
    """Put the total of block number `count` on the stack, merging neighbours of equal size."""
    while count & 1:
        top -= 1
        left = get(stack, top)
        right = {merged}
        count >>= 1
    put(stack, top, right)
    return top + 1
''',
    "finish_{c}": '''\
def finish_{c}(stack, top, identity):
    """Merge what is left on the stack, the smallest first."""
    if top == 0:
        return identity
    top -= 1
    right = get(stack, top)
    while top > 0:
        top -= 1
        left = get(stack, top)
        right = {merged}
    return right
''',
}

# What generated source calls; `emit` puts the functions a kernel uses in front of it.
SUM_HELPERS: dict[str, str] = {
    "lane_width": '''\
def lane_width(n, lanes):
    """How many of the lanes n numbers fill, rounded up to a power of two."""
    width = 1
    while width < n and width < lanes:
        width *= 2
    return width
''',
    "clear_lanes": """\
def clear_lanes(lanes, width, zero):
    for j in range(width):
        put(lanes, j, zero)
""",
    **{
        name.format(c=combiner): text.format(c=combiner, merged=merged, lanes=FOLDS[combiner][0])
        for combiner, merged in _MERGED.items()
        for name, text in _COMBINING_HELPERS.items()
    },
    "reverse_bits": '''\
def reverse_bits(value, width):
    """The bits of value in reverse, in a number below the power of two `width`."""
    reverse = 0
    while width > 1:
        reverse = 2 * reverse + (value & 1)
        value >>= 1
        width //= 2
    return reverse
''',
    "clear_row": """\
def clear_row(stack, base, w, zero):
    for c in range(w):
        put(stack, base + c, zero)
""",
    "push_row": '''\
def push_row(stack, top, count, w):
    """Row `top` is partial sum number `count`: merge neighbours of equal size; new height."""
    while count & 1:
        for c in range(w):
            put(stack, (top - 1) * w + c, get(stack, (top - 1) * w + c) + get(stack, top * w + c))
        top -= 1
        count >>= 1
    return top + 1
''',
}
