"""A convolution of an image with channels last, alone or with bias and relu, by other libraries."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

Form = Callable[[], object]


def numpy_form(image: np.ndarray, kernel: np.ndarray, bias: np.ndarray | None) -> Form:
    """NumPy's windows, and BLAS or einsum; a kernel without filters has one for each channel."""
    windows = sliding_window_view(image, kernel.shape[:2], axis=(1, 2))

    def run() -> object:
        if kernel.ndim == 3:
            result = np.einsum("nhwcij,ijc->nhwc", windows, kernel, optimize=True)
        else:
            result = np.tensordot(windows, kernel, axes=((4, 5, 3), (0, 1, 2)))
        return result if bias is None else np.maximum(result + bias, 0)

    return run


def torch_form(image: np.ndarray, kernel: np.ndarray, bias: np.ndarray | None) -> Form:
    """torch's conv2d in its channels-last format."""
    import torch

    last = torch.channels_last
    x = torch.from_numpy(image).permute(0, 3, 1, 2).contiguous(memory_format=last)
    if kernel.ndim == 3:
        k, groups = torch.from_numpy(kernel).permute(2, 0, 1)[:, None], kernel.shape[2]
    else:
        k, groups = torch.from_numpy(kernel).permute(3, 2, 0, 1), 1
    k = k.contiguous(memory_format=last)
    b = None if bias is None else torch.from_numpy(bias)

    def run() -> object:
        with torch.no_grad():
            result = torch.nn.functional.conv2d(x, k, b, groups=groups)
            return result if b is None else torch.relu_(result)

    return run


def jax_form(image: np.ndarray, kernel: np.ndarray, bias: np.ndarray | None) -> Form:
    """``jax.lax.conv_general_dilated``, compiled with what follows."""
    jax: Any = importlib.import_module("jax")

    groups = image.shape[3] if kernel.ndim == 3 else 1
    filters = kernel.shape[-1]
    x = jax.numpy.asarray(image)
    k = jax.numpy.asarray(kernel.reshape(*kernel.shape[:2], -1, filters))

    def convolved(x: Any, k: Any) -> Any:
        result = jax.lax.conv_general_dilated(
            x,
            k,
            (1, 1),
            "VALID",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )
        return result if bias is None else jax.numpy.maximum(result + bias, 0)

    compiled = jax.jit(convolved)
    return lambda: compiled(x, k).block_until_ready()


def other_forms(
    image: np.ndarray, kernel: np.ndarray, bias: np.ndarray | None = None
) -> dict[str, Form]:
    """The forms by name; those of libraries that are not installed are left out."""
    forms = {"NumPy": numpy_form(image, kernel, bias)}
    for name, make in (("torch", torch_form), ("JAX", jax_form)):
        try:
            forms[name] = make(image, kernel, bias)
        except ImportError:
            continue
    return forms
