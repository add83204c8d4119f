"""Programs as users write them; their printed stages are the golden files of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np


def softmax(x: Any) -> Any:
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + 1e-5) * gain + bias


def blend(a: Any, b: Any, t: Any) -> Any:
    low = np.sqrt(a * a + b * b)
    high = np.log1p(low)
    return np.where(t > 0.5, high, low) * t


def jacobi(u: Any) -> Any:
    new = u.copy()
    new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return new


def normalise_columns(x: Any) -> Any:
    return (x - x.mean(axis=0)) / x.std(axis=0)


def update(x: Any, y: Any) -> Any:
    t = x * 2 + y
    x[:] = t
    u = np.sin(t) + x
    y += u
    return u.sum()


def dense(x: Any, w: Any, b: Any) -> Any:
    h = x @ w + b
    return np.maximum(h, 0)


def edges(image: Any) -> Any:
    grey = 0.3 * image[..., 0] + 0.6 * image[..., 1] + 0.1 * image[..., 2]
    dx = grey[1:-1, 2:] - grey[1:-1, :-2]
    dy = grey[2:, 1:-1] - grey[:-2, 1:-1]
    return np.clip(4 * np.sqrt(dx * dx + dy * dy), 0, 1)


def outer(x: Any, y: Any) -> Any:
    return np.exp(x)[:, None] * np.exp(-y)[None, :]


def bell(v: Any) -> Any:
    return np.exp(-v * v)


def weighted(x: Any, w: Any) -> Any:
    g = bell(x)
    return g.sum(axis=1) * w, g


def diffuse(u: Any, steps: int = 2) -> Any:
    for _ in range(steps):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def periodic(x: Any, p: Any) -> Any:
    around = np.roll(x, 1) + np.roll(x, -1)
    return np.concatenate((p * 2, around - 2 * x))


def distribution(x: Any) -> Any:
    w = np.abs(x)
    return np.cumsum(w, axis=1) / w.sum(axis=1, keepdims=True)


_ONES = np.ones((300, 200))
CALLS: dict[Any, tuple[Any, ...]] = {
    softmax: (_ONES,),
    layer_norm: (_ONES, _ONES[0], _ONES[1]),
    blend: (_ONES, _ONES, _ONES),
    jacobi: (_ONES,),
    normalise_columns: (_ONES,),
    update: (_ONES.copy(), _ONES.copy()),
    dense: (_ONES, np.ones((200, 64)), np.ones(64)),
    edges: (np.ones((100, 120, 3)),),
    outer: (np.ones(300), np.ones(200)),
    weighted: (_ONES, np.ones(300)),
    diffuse: (np.ones(1000),),
    periodic: (np.ones(1000), np.ones(10)),
    distribution: (_ONES,),
}
