"""Convolutions: the image I moves under the window of K, by strides and dilations.

The letters of a name are the axes of image and kernel: n batch, c channels, f filters, g groups,
m multiplier. Nothing is padded (see `fusejit.linalg.pad`) and the kernel is not flipped. Factors
are cast to the type of the output before they are multiplied. A name that ends in ``_q`` has zero
points, which are subtracted from the factors.
"""

from __future__ import annotations

from fusejit.linalg.registry import product, register
from fusejit.structured.op import StructuredOp

_WITHOUT_STRIDES = """
conv_1d | ow+kw, kw -> ow | without channels
conv_2d | oh+kh ow+kw, kh kw -> oh ow | without channels
conv_3d | od+kd oh+kh ow+kw, kd kh kw -> od oh ow | without channels
"""
_ROWS = """
conv_1d_ncw_fcw        | n c ow+kw, f c kw -> n f ow                       | channels first
conv_1d_nwc_wcf        | n ow+kw c, kw c f -> n ow f                       | channels last
conv_2d_nchw_fchw _q   | n c oh+kh ow+kw, f c kh kw -> n f oh ow           | channels first
conv_2d_ngchw_fgchw    | n g c oh+kh ow+kw, fg g c kh kw -> n g fg oh ow   | filters before groups
conv_2d_ngchw_gfchw _q | n g c oh+kh ow+kw, g fg c kh kw -> n g fg oh ow   | grouped, channels first
conv_2d_nhwc_fhwc _q   | n oh+kh ow+kw c, f kh kw c -> n oh ow f           | filters outermost
conv_2d_nhwc_hwcf _q   | n oh+kh ow+kw c, kh kw c f -> n oh ow f           | channels last
conv_2d_nhwgc_gfhwc _q | n oh+kh ow+kw g c, g fg kh kw c -> n oh ow g fg   | grouped, channels last
conv_3d_ncdhw_fcdhw    | n c od+kd oh+kh ow+kw, f c kd kh kw -> n f od oh ow | channels first
conv_3d_ndhwc_dhwcf _q | n od+kd oh+kh ow+kw c, kd kh kw c f -> n od oh ow f | channels last
"""
_DEPTHWISE = """
depthwise_conv_1d_ncw_cw | n ic ow+kw, ic kw -> n ic ow | channels first | n ow ic kw
depthwise_conv_1d_nwc_wc | n ow+kw ic, kw ic -> n ow ic | channels last
depthwise_conv_1d_nwc_wcm | n ow+kw ic, kw ic cm -> n ow ic cm | with a multiplier, channels last
depthwise_conv_2d_nchw_chw | n ic oh+kh ow+kw, ic kh kw -> n ic oh ow | channels first \
| n oh ow ic kh kw
depthwise_conv_2d_nhwc_hwc _q | n oh+kh ow+kw ic, kh kw ic -> n oh ow ic | channels last
depthwise_conv_2d_nhwc_hwcm _q | n oh+kh ow+kw ic, kh kw ic cm -> n oh ow ic cm | with a multiplier
depthwise_conv_3d_ncdhw_cdhw | n ic od+kd oh+kh ow+kw, ic kd kh kw -> n ic od oh ow \
| channels first | n od oh ow kd kh kw ic
depthwise_conv_3d_ndhwc_dhwc | n od+kd oh+kh ow+kw ic, kd kh kw ic -> n od oh ow ic \
| channels last | n od oh ow kd kh kw ic
depthwise_conv_3d_ndhwc_dhwcm | n od+kd oh+kh ow+kw ic, kd kh kw ic cm -> n od oh ow ic cm \
| with a multiplier, channels last | n od oh ow cm kd kh kw ic
"""
"""Names, operands of the formula, what it is, and the domain where it has another order."""


def _define(rows: str, what: str, has_strides: bool = True) -> None:
    for line in rows.strip().splitlines():
        names, formula, doc, *domain = line.split("|")
        name, *suffix = names.split()
        rank = formula.partition(",")[0].count("+")
        attributes = {"strides": (1,) * rank, "dilations": (1,) * rank} if has_strides else {}
        for ending in ("", *suffix):
            made = product(
                name + ending,
                formula,
                f"{rank}-D {what}, {doc.strip()}{', of quantized factors' * bool(ending)}.",
                names=("I", "K", "O"),
                attributes=attributes,
                domain=" ".join(domain),
                zero_points=("IZp", "KZp") if ending else (),
                library_call=None if ending else "convolution",
            )
            register(StructuredOp(made))


_define(_WITHOUT_STRIDES, "convolution", has_strides=False)
_define(_ROWS, "convolution")
_define(_DEPTHWISE, "depthwise convolution")
