"""References of contractions: NumPy's einsum of the factors in the type of the output."""

from __future__ import annotations

from typing import Any

import numpy as np

from fusejit_testing.linalg.cases import Case, cast, sample

EINSUM = {
    "dot": "m,m->",
    "matvec": "mn,n->m",
    "vecmat": "m,mn->n",
    "matmul": "mk,kn->mn",
    "batch_matmul": "bmk,bkn->bmn",
    "batch_reduce_matmul": "bmk,bkn->mn",
    "batch_matvec": "bmk,bk->bm",
    "batch_vecmat": "bk,bkn->bn",
    "mmt4d": "mkxz,nkyz->mnxy",
    "batch_mmt4d": "bmkxz,bnkyz->bmnxy",
    "quantized_matmul": "mk,kn->mn",
    "quantized_batch_matmul": "bmk,bkn->bmn",
}
SIZES = dict(zip("bmnkxyz", (3, 5, 7, 4, 2, 3, 2), strict=True))
TYPES = (
    ("f8", "f8", "f8"),
    ("f4", "f4", "f4"),
    ("i1", "i1", "i4"),
    ("u1", "i2", "i4"),
    ("?", "?", "?"),
    ("c16", "c16", "c16"),
    ("f8", "f4", "f4"),
    ("?", "i1", "i4"),
)
"""Types of the factors and of the output, which a narrower one is cast to first."""
WITH_MAPS = {
    "matmul": ("mnk", ["km,kn->mn", "mk,nk->mn", "mk,kn->nm", "k,kn->mn", "km,k->nm"]),
    "batch_matmul": ("bmnk", ["bkm,bnk->bmn", "mk,bkn->bmn", "bmk,k->bmn", "bk,kn->bmn"]),
    "batch_reduce_matmul": ("bmnk", ["bkm,bnk->mn", "mk,bkn->mn", "bmk,k->mn", "bk,kn->mn"]),
    "contract": (
        "bmnkx",
        ["bmkx,bknx->bmn", "bxkm,kxbn->bnm", "xmkb,kbnx->mbn", "bmnkx,nkxmb->mn", "xbk,kbx->b"],
    ),
}
"""Domains, and what ``indexing_maps`` may say."""


def maps(domain: str, letters: str) -> list[str]:
    """An einsum as indexing maps."""
    used = [d for d in domain if d in letters] if len(domain) == 5 else list(domain)
    dims = ", ".join(used)
    parts = letters.replace("->", ",").split(",")
    return [f"({dims}) -> ({', '.join(part)})" for part in parts]


def cases(name: str, empty: str = "") -> list[Case]:
    """Cases of an op; extents of the dims in ``empty`` are 0."""
    rng = np.random.default_rng(sum(map(ord, name)))
    found = []
    if name in EINSUM:
        types = TYPES if "quantized" not in name else TYPES[:4]
        found = [_case(rng, name, EINSUM[name], t, {}, empty) for t in types]
    if name in WITH_MAPS:
        domain, several = WITH_MAPS[name]
        for number, letters in enumerate(several):
            given: dict[str, Any] = {"indexing_maps": maps(domain, letters)}
            found.append(_case(rng, name, letters, TYPES[number], given, empty))
        given = {"indexing_maps": maps(domain, several[0]), "cast": "cast_unsigned"}
        found.append(_case(rng, name, several[0], TYPES[2], given, empty))
        found.append(_case(rng, name, several[0], ("?", "i1", "i4"), given, empty))
    return found


def _case(
    rng: np.random.Generator,
    name: str,
    letters: str,
    types: tuple[str, str, str],
    given: dict[str, Any],
    empty: str,
) -> Case:
    left, right, output = letters.replace("->", ",").split(",")
    sizes = {**SIZES, **dict.fromkeys(empty, 0)}
    a, b = (
        sample(rng, [sizes[d] for d in dims], t)
        for dims, t in zip((left, right), types, strict=False)
    )
    start = np.asarray(sample(rng, [sizes[d] for d in output], types[2]))
    is_signed = given.get("cast") != "cast_unsigned"
    x, y = (cast(factor, types[2], is_signed) for factor in (a, b))
    inputs: tuple[Any, ...] = (a, b)
    if name.startswith("quantized"):
        x, y = x - np.asarray(7, x.dtype), y - np.asarray(-3, y.dtype)
        inputs = a, b, np.int32(7), np.int32(-3)
    alone = _einsum(letters, x, y, sizes)
    started = np.asarray(start | alone if alone.dtype.kind == "b" else start + alone)
    is_known = set(output) <= set(left + right)
    label = f"{name} {letters} {'*'.join(types[:2])}->{types[2]} {dict(given)}"
    return Case(
        label, inputs, {**given, "dtype": types[2]}, alone if is_known else None, start, started
    )


def _einsum(letters: str, x: np.ndarray, y: np.ndarray, sizes: dict[str, int]) -> np.ndarray:
    """The sum of products; a dim that only the output of NumPy's lacks is repeated."""
    inputs, output = letters.split("->")
    lacking = [d for d in output if d not in inputs]
    kept = "".join(d for d in output if d in inputs)
    made = np.einsum(f"{inputs}->{kept}", x, y)
    for axis, dim in enumerate(output):
        if dim in lacking:
            made = np.repeat(np.expand_dims(made, axis), sizes[dim], axis)
    return np.asarray(made, x.dtype)
