# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions and pools, with odd strides, dilations, borders and groups."""

from draw import NUMBERS, isFloat


def _window(d, rank, high=4):
    """A kernel, strides, dilations and pads, each drawn for each dimension."""
    kernel = [d.integer(1, high) for _ in range(rank)]
    strides = [d.choose(1, 1, 2, 3) for _ in range(rank)]
    dilations = [d.choose(1, 1, 2, 3) for _ in range(rank)]
    return kernel, strides, dilations


def _spans(kernel, dilations):
    return [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]


def _pads(d, spans, areEmptyAllowed=False):
    """No window lies in the border alone, unless that is allowed."""
    if areEmptyAllowed and d.chance(0.2):
        return [d.integer(0, span + 2) for _ in range(2) for span in spans]
    return [d.integer(0, min(2, span - 1)) for _ in range(2) for span in spans]


def drawConv(d, operator):
    dtype, rank = d.dtype(operator, only=isFloat), d.choose(1, 2, 2, 2, 3)
    kernel, strides, dilations = _window(d, rank, 4 if rank < 3 else 2)
    spans = _spans(kernel, dilations)
    groups, inner, outer = d.choose(1, 1, 2, 3, 8), d.choose(1, 2, 3, 5), d.choose(1, 2, 3, 8)
    x = d.input(dtype, [d.size(0, 3), groups * inner, *(d.size(span, 19) if d.chance(0.8) else span for span in spans)], "unit")
    filter_ = d.input(dtype, [groups * outer, inner, *kernel], "unit")
    operands = [x, filter_, d.input(dtype, [groups * outer], "unit")] if d.chance(0.6) else [x, filter_]
    border = {"pads": _pads(d, spans)} if d.chance(0.7) else {"auto_pad": d.choose("SAME_UPPER", "SAME_LOWER", "VALID")}
    if "auto_pad" in border:
        dilations = [1] * rank
    d.isWhole, d.slack = True, 4
    d.node(operator, operands, strides=strides, dilations=dilations, group=groups, kernel_shape=kernel, **border)


def drawConvTranspose(d, operator):
    dtype, rank = d.dtype(operator, only=isFloat), d.choose(1, 2, 2)
    kernel, strides, dilations = _window(d, rank)
    spans = _spans(kernel, dilations)
    groups, inner, outer = d.choose(1, 1, 2, 3), d.choose(1, 2, 3), d.choose(1, 2, 5)
    x = d.input(dtype, [d.size(1, 3), groups * inner, *(d.size(2, 9) for _ in range(rank))], "unit")
    filter_ = d.input(dtype, [groups * inner, outer, *kernel], "unit")
    operands = [x, filter_, d.input(dtype, [groups * outer], "unit")] if d.chance(0.5) else [x, filter_]
    extra = [d.integer(0, stride - 1) for stride in strides]
    d.isWhole, d.slack = True, 4
    attributes = {"strides": strides, "dilations": dilations, "group": groups, "pads": _pads(d, spans), "output_padding": extra}
    d.node(operator, operands, kernel_shape=kernel, **attributes)


def _pool(d, operator, only=isFloat):
    rank = d.choose(1, 2, 2, 3)
    kernel, strides, dilations = _window(d, rank, 4 if rank < 3 else 2)
    if operator != "MaxPool" and d.opset < (19 if operator == "AveragePool" else 18):
        dilations = None
    spans = _spans(kernel, dilations or [1] * rank)
    shape = [d.size(1, 3), d.size(1, 5), *(d.size(span, 19) for span in spans)]
    x = d.input(d.dtype(operator, only=only), shape)
    # Where windows start in the padding, ONNX's text and its inference of shapes differ on how many of them ceil_mode drops.
    ceil = d.choose(0, 0, 1) if operator != "LpPool" else None
    pads = _pads(d, spans, areEmptyAllowed=not ceil)
    return x, {"kernel_shape": kernel, "strides": strides, "dilations": dilations, "pads": pads, "ceil_mode": ceil}


def drawMaxPool(d, operator):
    x, attributes = _pool(d, operator, None)
    d.node(operator, [x], **attributes)


def drawAveragePool(d, operator):
    x, attributes = _pool(d, operator)
    d.isWhole, d.slack = True, 4
    d.node(operator, [x], count_include_pad=d.choose(0, 1), **attributes)


def drawLpPool(d, operator):
    x, attributes = _pool(d, operator)
    d.isWhole, d.slack = True, 4
    d.node(operator, [x], p=d.choose(1, 2, 3), **attributes)


def drawGlobal(d, operator):
    x = d.input(d.dtype(operator), d.shape(3, 5, 1, 17))
    d.isWhole, d.slack = True, 4
    d.node(operator, [x], p=d.choose(1, 2) if operator == "GlobalLpPool" else None)


def drawConvInteger(d, operator):
    kernel, strides, dilations = _window(d, 2)
    spans = _spans(kernel, dilations)
    left, right = d.dtype(operator), d.dtype(operator, 1)
    channels = d.integer(1, 4)
    operands = [d.input(left, [1, channels, *(d.size(span, 13) for span in spans)], "special"), d.input(right, [3, channels, *kernel], "special")]
    if d.chance(0.6):
        operands.append(d.constant(d.numbers(left, (), low=0, high=9, isConstant=True)))
    attributes = {"strides": strides, "dilations": dilations, "pads": _pads(d, spans)}
    d.node(operator, operands, dtypes=[NUMBERS["int32"]], **attributes)


def drawLRN(d, operator):
    x = d.input(d.dtype(operator), [d.size(1, 3), d.size(1, 9), d.size(1, 5), d.size(1, 5)])
    d.slack, d.isSingle = 4, True
    d.node(operator, [x], size=d.choose(1, 3, 5), alpha=d.real(0.0, 0.5), beta=d.real(0.3, 1.0), bias=d.real(0.5, 2.0))


def drawChain(d, operator):
    """A convolution and what is fused into its kernel."""
    dtype = NUMBERS["float32"]
    channels = d.choose(1, 3, 8, 16)
    image = [d.size(1, 3), d.choose(1, 3, 4), d.size(3, 19), d.size(3, 19)]
    operands = [d.input(dtype, image, "unit"), d.input(dtype, [channels, image[1], 3, 3], "unit"), d.input(dtype, [channels], "unit")]
    value = d.node("Conv", operands, dtypes=[dtype], isResult=False, pads=[1, 1, 1, 1], strides=[d.choose(1, 2)] * 2)
    value = d.node(d.choose("Relu", "Sigmoid", "Tanh"), [value], dtypes=[dtype], isResult=False)
    value = d.node("Mul", [value, d.input(dtype, [channels, 1, 1])], dtypes=[dtype], isResult=False)
    d.isWhole, d.slack = True, 4
    d.node("MaxPool", [value], dtypes=[dtype], kernel_shape=[2, 2], pads=[0, 0, 1, 1])


OPERATORS = {
    "Conv": drawConv,
    "ConvTranspose": drawConvTranspose,
    "MaxPool": drawMaxPool,
    "AveragePool": drawAveragePool,
    "LpPool": drawLpPool,
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"), drawGlobal),
    "ConvInteger": drawConvInteger,
    "LRN": drawLRN,
    "Conv chain": drawChain,
}
