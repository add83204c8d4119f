"""What random programs are made of beyond single stores: masks, gathers, loops, conditionals.

A template is the text of a statement with fields, which `fusejit_testing.programs.mutation_fields`
fills: a letter says what is put there, a digit after it tells two fields of one kind apart.

    x z     an array by its name (``z``: any other one)       y   an array of the shape of ``x``
    v       something that broadcasts to ``x``                p   a view
    m       a mask of the shape of ``x``                      l   a mask of its first axis
    d       integers that are subscripts of its first axis    f   integers for another axis of it
    e       one element                                       n   a number
    c s     a condition on elements, on sizes and types       i   a loop variable, or a small number
    w       a name that is not bound yet                      t   a name that is, mostly

A line ``{body}`` stands for statements that are made when the template is; a line that ends with
``# bound`` keeps a loop finite, so that the shrinker leaves it alone.
"""

from __future__ import annotations

TEMPLATES: dict[str, tuple[float, tuple[str, ...]]] = {
    "masked_store": (
        2.5,
        (
            "{x}[{m}] = {n}",
            "{x}[{m}] {o}= {n}",
            "{x}[{m}] {o}= {y}[{m}]",
            "{x}[{m}] = {y}[{m}]",
            "{x}[{m}] = {y}[{m}] {o} {x}[{m}]",
            "{x}[{m}] = np.where({y}[{m}] > {n1}, {n2}, {x}[{m}])",
            "{x}[{l}] = {n}",
            "{x}[{l}] {o}= {n}",
            "{x}[{l}] = {x}[{l}] {o} 2",
            "{x}[..., {x}.shape[-1] // 2:][{x}[..., {x}.shape[-1] // 2:] > {n1}] = {n2}",
        ),
    ),
    "mask": (
        2,
        (
            "{t} = {m}",
            "{t} = {l}",
            "{w} = {m}; {x}[{w}] = {n1}; {x}[{w}] {o}= {n2}",
            "{w} = {m}; {x}[~{w}] = {n1}; {w}[...] = {x} > {n2}; {x}[{w}] -= 1",
            "{w} = {m}; {x} {o}= {v}; {x}[{w}] = {n}",
        ),
    ),
    "masked_read": (
        2,
        (
            "{w} = {x}[{m}].sum()",
            "{w} = {x}[{m}].sum() + {y}[{m}].sum()",
            "{w} = ({x}[{m}] {o} {y}[{m}]).sum()",
            "{w} = {x}[{m}].max(initial=0) + 0",
            "{w} = np.count_nonzero({m})",
            "{w} = {m}.sum(axis=0)",
            "{w} = {x}[{m}].size",
            "{w} = ({m}).any() & ({m1}).all()",
        ),
    ),
    "masked_call": (
        1.5,
        (
            "np.copyto({x}, {v}, where={m}, casting='unsafe')",
            "np.copyto({x}, {v}, casting='unsafe')",
            "np.putmask({x}, {m}, {n})",
            "np.putmask({x}, {m}, {y})",
            "{w} = np.where({m}, {v1}, {v2})",
        ),
    ),
    "where": (
        0.1,  # refused today
        (
            "np.place({x}, {m}, {n})",
            "np.add({x}, {v}, out={x}, where={m}, casting='unsafe')",
            "np.multiply({v1}, {v2}, out={x}, where={m}, casting='unsafe')",
            "np.negative({v1}, out={x}, where={m}, casting='unsafe')",
            "{w} = np.sum({x}, where={m})",
        ),
    ),
    "gather": (
        2.5,
        (
            "{t} = {x}[{d}]",
            "{t} = {x}[{d}] {o} {n}",
            "{w} = {x}[{d}].sum()",
            "{w} = {x}[{d1}][{d2}]",
            "{t} = {x}[:, {f}]",
            "{t} = {x}[{d}, {f}]",
            "{t} = {x}[{d}[:, None], {f}]",
            "{t} = {x}[1:, {f}]",
            "{t} = {x}[{f}, ..., None]",
            "{t} = np.take({x}, {d}, axis=0)",
            "{t} = {x}[::-1][{d}]",
            "{w} = {d}; {t} = {x}[{w}]; {w}[...] = {w}[::-1]; {x}[{w}] += 1",
        ),
    ),
    "scatter": (
        2.5,
        (
            "{x}[{d}] = {n}",
            "{x}[{d}] {o}= {n}",
            "{x}[{d}] = {x}[{d1}][: len({d})]",
            "{x}[{d}] {o}= {x}[{d}]",
            "{x}[:, {f}] = {n}",
            "{x}[:, {f}] {o}= {x}[:, {f}]",
            "{x}[{d}, {f}] = {n}",
            "{x}[{d}, 1:] {o}= {n}",
            "{x}[{d}] = np.arange(len({d})).reshape((-1,) + (1,) * ({x}.ndim - 1))",
            "np.add.at({x}, {d}, {n})",
            "np.subtract.at({x}, {d}, 1)",
            "np.add.at({x}, ({d}, {f}), 2)",
            "np.add.at({x}, {d}, {x}[{d}])",
        ),
    ),
    "for": (
        3,
        (
            "for {w} in range({r}):\n    {body}",
            "for {w} in range({x}.shape[0]):\n    {body}",
            "for {w} in range({x}.shape[0] - 1, -1, -1):\n    {x}[{w}] {o}= {n}\n    {body}",
            "for {w} in range(0, len({x}), 2):\n    {x}[{w}] = {n}\n    {body}",
            "for {w} in {p}:\n    {body}",
            "for {w1}, {w2} in enumerate({x}):\n    {x}[{w1}] = {w2} {o} {n}\n    {body}",
            "for {w1}, {w2} in zip({x}, {z}):\n    {body}",
            "for {w} in reversed(range({r})):\n    {body}",
            "{w2} = {x}[0] * 0\nfor {w} in range({x}.shape[0]):\n"
            "    {w2} = {w2} + {x}[{w}]\n    {body}",
            "for {w} in range(5):\n    {x}, {y} = {y}, {x}\n    {body}",
            "{w2} = {x}[1:]\nfor {w} in range(6):\n    {w2} {o}= {n}\n    {body}\n{w2}[...] = 1",
            "{w2} = {x}\nfor {w} in range(5):\n    {w2} = {w2} {o} {v}\n    {body}",
            "{w2} = {x}.copy()\nfor {w} in range(5):\n    {w2}[{i1}:] {o}= {n}\n    {body}",
            "for {w} in range({r}):\n    {body}\nelse:\n    {body}",
        ),
    ),
    "while": (
        1,
        (
            "{w} = 0\nwhile {w} < 5 and ({c}):\n    {w} += 1  # bound\n    {body}",
            "{w} = 0\nwhile {c}:\n    {w} += 1  # bound\n    if {w} > 3:  # bound\n"
            "        break  # bound\n    {body}",
            "{w} = 0\nwhile {w} < {x}.shape[0]:\n    {x}[{w}] {o}= {n}\n    {w} += 1  # bound\n"
            "    {body}",
            "{w} = 0\n{w2} = {x}.sum()\nwhile {w2} < 20 and {w} < 6:\n    {w} += 1  # bound\n"
            "    {x} += 1\n    {w2} = {x}.sum()\n    {body}",
        ),
    ),
    "if": (
        2,
        (
            "if {c}:\n    {body}",
            "if {c}:\n    {body}\nelse:\n    {body}",
            "if {s}:\n    {body}",
            "if {s}:\n    {body}\nelse:\n    {body}",
            "if {c1}:\n    {body}\nelif {c2}:\n    {body}\nelse:\n    {body}",
            "if {s}:\n    {body}\nelif {c}:\n    {body}",
            "if {c}:\n    {w} = {x}.copy()\nelse:\n    {w} = {x} {o} {v}",
            "if {c}:\n    {w} = {n1}\nelse:\n    {w} = {n2}\n{x} {o}= {w}",
            "{w} = {n1}\nif {c}:\n    {w} = {n2}\n{x}[...] = {w}",
            "if {c}:\n    {x} {o}= {v}\nelse:\n    {x}[...] = {n}",
            "{x} {o}= {n1} if {c} else {n2}",
            "{w} = {x}[0] if {c} else {x}[-1]",
        ),
    ),
    "element_loop": (
        3,
        (
            "for {w} in range(1, {x}.shape[0]):\n    {x}[{w}] = {x}[{w} - 1] + {n}",
            "for {w} in range(1, {x}.shape[0]):\n    {x}[{w}] {o}= {x}[{w} - 1]",
            "for {w} in range({x}.shape[0] - 1):\n    {x}[{w}] = {x}[{w} + 1] - {x}[{w}]",
            "for {w} in range({x}.shape[0]):\n    if {x}[{w}] > {n}:\n        {x}[{w}] = {n1}\n"
            "    else:\n        {x}[{w}] -= 1",
            "for {w} in range({x}.shape[0]):\n    for {w1} in range({w}):\n"
            "        {x}[{w}] {o}= {x}[{w1}]",
            "for {w} in range({x}.shape[0]):\n    for {w1} in range({w}, {x}.shape[1]):\n"
            "        {x}[{w}, {w1}] = {n}",
            "for {w} in range({x}.shape[0]):\n    for {w1} in range({x}.shape[1]):\n"
            "        {x}[{w}, {w1}] {o}= {x}[{w}, {w1} - 1]",
            "{w1} = {d}\nfor {w} in range(len({w1})):\n    {x}[{w1}[{w}]] {o}= {n}",
            "{w1} = {d}\n{w2} = 0\nfor {w} in range(len({w1})):\n    {w2} += {x}[{w1}[{w}]].sum()",
            "{w1} = {d}\nfor {w} in {w1}:\n    {x}[{w}] += 1",
            "{w1} = {x}[0] * 2\n{w2} = 0\nfor {w} in range({x}.shape[0]):\n"
            "    if {x}[{w}] > {w1}:\n"
            "        {w1} = {x}[{w}]\n        {w2} = {w}",
            "{w1} = np.zeros({x}.shape[0])\nfor {w} in range({x}.shape[0]):\n"
            "    {w1}[{w}] = {x}[{w}].sum()\n    if {w1}[{w}] > 4:\n        break",
            "for {w} in range({x}.shape[0]):\n    if {x}[{w}] == {n}:\n        continue\n"
            "    {x}[{w}] {o}= {n1}",
            "{w1} = 1\nfor {w} in range({r}):\n    {w1} = {w1} * 0.5 + {w}",
            "{w1} = None\nfor {w} in range({x}.shape[0]):\n    {w1} = {x}[{w}] {o} {n}",
            "{w1} = {e}\nfor {w} in range({i}):\n    {w1} = {w} * 0.5 + {n}",
            "{w1} = {e}\n{w2} = 0\nwhile {w2} < {i}:\n    {w2} += 1  # bound\n"
            "    {w1} = {w2} - {n}",
        ),
    ),
    "dynamic_slice": (
        2,
        (
            "for {w} in range({x}.shape[0]):\n    {x}[{w}] = {x}[:{w}].sum()",
            "for {w} in range(1, {x}.shape[0]):\n    {x}[{w}:] {o}= {n}\n    {body}",
            "for {w} in range({x}.shape[0]):\n    {x}[:{w}] -= {x}[{w}]\n    {body}",
            "for {w} in range({x}.shape[0]):\n    {x}[{w} + 1:] += {x}[{w}]",
            "for {w} in range({x}.shape[0]):\n    {x}[{w}, :{w}] = {n}\n    {body}",
            "for {w} in range({x}.shape[0]):\n    {x}[{w} + 1:, {w}] {o}= {x}[{w}, {w}]",
            "for {w} in range({x}.shape[0]):\n    {x}[{w}:{w} + 2] {o}= {y}[{w}:{w} + 2]",
            "for {w} in range({x}.shape[0]):\n    {x}[-{w}:] {o}= {n}",
            "for {w} in range({x}.shape[0]):\n    {x}[{w}:][{x}[{w}:] > {n}] = {n1}",
            "{w1} = {x}.copy()\nfor {w} in range({x}.shape[0]):\n    {x}[:{w}] = {w1}[:{w}][::-1]",
            "{w} = int({e}) % 3\n{x}[{w}:] {o}= {n}",
            "{w} = int({e}) % 3\n{x}[:{w}] = {x}[:{w}] {o} 2",
            "{w1} = 0\nfor {w} in range({x}.shape[0]):\n    {w1} = {w1} + ({x}[{w}:] > {n}).sum()",
        ),
    ),
    "number_as_index": (
        1,
        (
            "{w} = {x}[int({e})]",
            "{w} = {x}[int({e} / 2)] {o} {n}",
            "{x}[int({e})] {o}= {n}",
            "{x}[int({e} * 0.5)] = {y}[int({e1})]",
            "{w} = int({e})\n{t} = {x}[{w}:]\n{x}[:{w}] {o}= {n}",
            "{w1} = 0\nfor {w} in range({x}.shape[0]):\n"
            "    {w1} += {x}[int({n} - {w} * 0.5)].sum()",
            "for {w} in range({x}.shape[0]):\n    {x}[{w}] = {y}[int({w} / -2)]",
            "{w1} = {e}\nfor {w} in range(4):\n    {w1} = {w1} / 2 - 1\n"
            "    {x}[int({w1})] {o}= {n}",
            "{w} = int({e}) // 2\n{x}[{w}] {o}= {x}[-{w}]",
            "{w} = round(float({e}) / 2)\n{x}[{w}] {o}= {n}",
        ),
    ),
    "branch_name": (0.7, ("if {c}:\n    {w} = {x} {o} {n}\n    {z}[...] = {w}.sum()",)),
    "jump": (
        0,
        (
            "if {c}:\n    break",
            "if {c}:\n    continue",
            "if {c}:\n    return float({p}.sum())",
            "if {s}:\n    break",
            "if {i} == 2:\n    continue",
            "if {i} > 1:\n    break",
            "if {c}:\n    {body}\n    break",
        ),
    ),
    "leave": (
        0.3,
        ("if {c}:\n    return float({x}.sum())", "if {s}:\n    return float({p}.sum())"),
    ),
    "out_of_bounds": (
        0,
        (
            "{x}[{d}] += 1; {z}[{d} + {x}.shape[0]] = {n}",
            "{w} = {x}[{d} + {x}.shape[0] - 1]",
            "{x} += 1; {w} = {x}[np.arange(2) * {x}.shape[0]]",
            "for {w} in range({x}.shape[0]):\n    {x}[{w}] = {x}[{w} + 1]",
            "{x}[0] = {n}; {x}[:, np.array([0, 9])] = {n}",
            "np.add.at({x}, np.array([0, {x}.shape[0]]), 1)",
        ),
    ),
}

NESTING = frozenset(
    kind for kind, (_, texts) in TEMPLATES.items() if any(":\n" in text for text in texts)
)
