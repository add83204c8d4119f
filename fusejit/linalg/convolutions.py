"""Convolutions: the image I moves under the window of K, by strides and dilations.

The letters of a name are the axes of image and kernel: n batch, c channels, f filters, g groups,
m multiplier. Nothing is padded (see `fusejit.linalg.pad`) and the kernel is not flipped. Factors
are cast to the type of the output before they are multiplied. A name that ends in ``_q`` has zero
points, which are subtracted from the factors.
"""

from __future__ import annotations

from fusejit.linalg.registry import product, register
from fusejit.structured.op import StructuredOp

_LAST = "channels last"
_FIRST = "channels first"
_ROWS = (
    ("conv_1d", "ow+kw, kw -> ow", "1-D convolution without channels"),
    ("conv_2d", "oh+kh ow+kw, kh kw -> oh ow", "2-D convolution without channels"),
    (
        "conv_3d",
        "od+kd oh+kh ow+kw, kd kh kw -> od oh ow",
        "3-D convolution without channels",
    ),
    ("conv_1d_ncw_fcw", "n c ow+kw, f c kw -> n f ow", f"1-D convolution, {_FIRST}"),
    ("conv_1d_nwc_wcf", "n ow+kw c, kw c f -> n ow f", f"1-D convolution, {_LAST}"),
    (
        "conv_2d_nchw_fchw _q",
        "n c oh+kh ow+kw, f c kh kw -> n f oh ow",
        f"2-D convolution, {_FIRST}",
    ),
    (
        "conv_2d_ngchw_fgchw",
        "n g c oh+kh ow+kw, fg g c kh kw -> n g fg oh ow",
        f"2-D grouped convolution, {_FIRST}, the filters outermost in the kernel",
    ),
    (
        "conv_2d_ngchw_gfchw _q",
        "n g c oh+kh ow+kw, g fg c kh kw -> n g fg oh ow",
        f"2-D grouped convolution, {_FIRST}",
    ),
    (
        "conv_2d_nhwc_fhwc _q",
        "n oh+kh ow+kw c, f kh kw c -> n oh ow f",
        f"2-D convolution, {_LAST}, the filters outermost in the kernel",
    ),
    (
        "conv_2d_nhwc_hwcf _q",
        "n oh+kh ow+kw c, kh kw c f -> n oh ow f",
        f"2-D convolution, {_LAST}",
    ),
    (
        "conv_2d_nhwgc_gfhwc _q",
        "n oh+kh ow+kw g c, g fg kh kw c -> n oh ow g fg",
        f"2-D grouped convolution, {_LAST}",
    ),
    (
        "conv_3d_ncdhw_fcdhw",
        "n c od+kd oh+kh ow+kw, f c kd kh kw -> n f od oh ow",
        f"3-D convolution, {_FIRST}",
    ),
    (
        "conv_3d_ndhwc_dhwcf _q",
        "n od+kd oh+kh ow+kw c, kd kh kw c f -> n od oh ow f",
        f"3-D convolution, {_LAST}",
    ),
    (
        "depthwise_conv_1d_ncw_cw",
        "n ic ow+kw, ic kw -> n ic ow | n ow ic kw",
        f"1-D depthwise convolution, {_FIRST}",
    ),
    (
        "depthwise_conv_1d_nwc_wc",
        "n ow+kw ic, kw ic -> n ow ic",
        f"1-D depthwise convolution, {_LAST}",
    ),
    (
        "depthwise_conv_1d_nwc_wcm",
        "n ow+kw ic, kw ic cm -> n ow ic cm",
        f"1-D depthwise convolution with a multiplier, {_LAST}",
    ),
    (
        "depthwise_conv_2d_nchw_chw",
        "n ic oh+kh ow+kw, ic kh kw -> n ic oh ow | n oh ow ic kh kw",
        f"2-D depthwise convolution, {_FIRST}",
    ),
    (
        "depthwise_conv_2d_nhwc_hwc _q",
        "n oh+kh ow+kw ic, kh kw ic -> n oh ow ic",
        f"2-D depthwise convolution, {_LAST}",
    ),
    (
        "depthwise_conv_2d_nhwc_hwcm _q",
        "n oh+kh ow+kw ic, kh kw ic cm -> n oh ow ic cm",
        f"2-D depthwise convolution with a multiplier, {_LAST}",
    ),
    (
        "depthwise_conv_3d_ncdhw_cdhw",
        "n ic od+kd oh+kh ow+kw, ic kd kh kw -> n ic od oh ow | n od oh ow kd kh kw ic",
        f"3-D depthwise convolution, {_FIRST}",
    ),
    (
        "depthwise_conv_3d_ndhwc_dhwc",
        "n od+kd oh+kh ow+kw ic, kd kh kw ic -> n od oh ow ic | n od oh ow kd kh kw ic",
        f"3-D depthwise convolution, {_LAST}",
    ),
    (
        "depthwise_conv_3d_ndhwc_dhwcm",
        "n od+kd oh+kh ow+kw ic, kd kh kw ic cm -> n od oh ow ic cm | n od oh ow cm kd kh kw ic",
        f"3-D depthwise convolution with a multiplier, {_LAST}",
    ),
)
"""Name, operands of the formula (and the domain, where it is another order), and what it is."""


def _define() -> None:
    for names, row, doc in _ROWS:
        name, *suffix = names.split()
        formula, _bar, domain = row.partition("|")
        rank = formula.partition(",")[0].count("+")
        has_strides = "_" in name.removeprefix("conv_")
        attributes = {"strides": (1,) * rank, "dilations": (1,) * rank} if has_strides else {}
        for ending in ("", *suffix):
            zero_points = ("IZp", "KZp") if ending else ()
            text = f"{doc}, of quantized factors." if ending else f"{doc}."
            made = product(
                name + ending,
                formula,
                text,
                names=("I", "K", "O"),
                attributes=attributes,
                domain=domain,
                zero_points=zero_points,
            )
            register(StructuredOp(made))


_define()
