# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Layers as models have them: products and convolutions with weights, which are packed, and what is fused with them."""

from draw import NUMBERS

FLOAT, DOUBLE = NUMBERS["float32"], NUMBERS["float64"]
# Neighbours of panels and register blocks, a depth whose rows lie a multiple of 4096 bytes apart, and such as are
# summed in parts.
WIDTHS = (31, 32, 33, 47, 64, 65, 70, 96, 129)
DEPTHS = (1, 3, 16, 33, 64, 100, 1024, 2051, 3074)


def _finish(d, dtype, value, bias, shape):
    """A bias, an activation and a residual, or some of them."""
    steps = [step for step in ("bias", "relu", "residual", "tanh") if d.chance(0.4)]
    for place, step in enumerate(steps):
        operands = {"bias": [value, bias], "residual": [value, d.input(dtype, shape, "unit")]}.get(step, [value])
        operator = {"relu": "Relu", "tanh": "Tanh"}.get(step, "Add")
        value = d.node(operator, operands, dtypes=[dtype], isResult=place + 1 == len(steps))
    return value


def _product(d, operator, operands, dtype, bias, shape, **attributes):
    """The node of the layer itself is a result, too, in some cases: then it is read twice."""
    value = d.node(operator, operands, dtypes=[dtype], isResult=True, **attributes)
    _finish(d, dtype, value, bias, shape)
    d.isWhole, d.slack = True, 16


def drawMatMul(d, operator):
    dtype = d.choose(FLOAT, FLOAT, FLOAT, DOUBLE)
    k, n = d.choose(*DEPTHS), d.choose(*WIDTHS)
    rows = [d.size(0, 33) for _ in range(d.integer(0, 3))]
    if rows and d.chance(0.3):
        rows[-1] = d.integer(40, 300)
    x, bias = d.input(dtype, [*rows, k], "unit"), d.weight(dtype, [n])
    _product(d, operator, [x, d.weight(dtype, [k, n])], dtype, bias, [*rows, n])


def drawGemm(d, operator):
    dtype, transposed = d.choose(FLOAT, DOUBLE), d.choose(0, 1)
    m, k, n = d.size(), d.choose(*DEPTHS), d.choose(*WIDTHS)
    operands = [d.input(dtype, [m, k], "unit"), d.weight(dtype, [n, k] if transposed else [k, n]), d.weight(dtype, [n])]
    _product(d, operator, operands, dtype, d.weight(dtype, [n]), [m, n], transB=transposed)


def drawConv(d, operator):
    rank = d.choose(1, 2, 2, 2, 3)
    # "square": large enough for paths with few multiplications.
    form = d.choose("plain", "plain", "pointwise", "depthwise", "grouped", "square", "square")
    rank = 2 if form == "square" else rank
    filters = d.choose(*WIDTHS)
    groups = filters if form == "depthwise" else 1
    if form == "grouped":
        groups = d.choose(2, 3, 5, 13)
        filters = groups * d.choose(3, 4, 6, 8, 16, 24, 32, 48, 64)
    kernel = [{"pointwise": 1, "square": 3}.get(form) or d.integer(1, 3) for _ in range(rank)]
    perGroup = 1 if form == "depthwise" else d.choose(16, 33, 64) if form == "square" else d.choose(1, 3, 16, 33)
    channels = groups * perGroup
    strides = [1 if form == "square" or form == "pointwise" and d.chance(0.7) else d.choose(1, 1, 2) for _ in range(rank)]
    spatial = [d.size(kernel[0] if rank == 1 else 3, 40 if form == "square" else 17 if rank < 3 else 7) for _ in range(rank)]
    batch = d.size(1, 3)
    pads = [d.integer(0, size - 1) for _ in range(2) for size in kernel]
    out = [
        (int(size) + pads[i] + pads[i + rank] - kernel[i]) // strides[i] + 1 for i, size in enumerate(spatial)
    ]
    isOpen = any(getattr(size, "name", None) for size in spatial)
    x = d.input(FLOAT, [batch, channels, *spatial], "unit")
    filter_ = d.weight(FLOAT, [filters, perGroup, *kernel])
    bias = d.weight(FLOAT, [filters, *[1] * rank])
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads, "group": groups}
    if isOpen or d.chance(0.3):
        d.node(operator, [x, filter_], dtypes=[FLOAT], **attributes)
        d.isWhole, d.slack = True, 16
    else:
        _product(d, operator, [x, filter_], FLOAT, bias, [batch, filters, *out], **attributes)


def drawBorder(d, operator):
    """Wide borders: windows that lie in them alone, rows of one block and of several tiles, zeros that a Pad adds."""
    rank, isDepthwise = d.choose(1, 2, 2, 3), d.chance(0.5)
    kernel, strides = [d.integer(1, 7 if rank < 3 else 3) for _ in range(rank)], [d.choose(1, 1, 2, 3) for _ in range(rank)]
    dilations = [d.choose(1, 1, 1, 2, 9 if rank == 1 else 3) for _ in range(rank)]
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    pads = [d.integer(0, min(span + 1, 9)) for _ in range(2) for span in spans]
    spatial = [d.size(1, (5, 9, 19, 33)[d.integer(0, 3)]) for _ in range(rank)]
    if rank < 3 and d.chance(0.2):
        spatial[-1] = d.integer(500, 1100)
    # At least one window fits, however small the input is.
    for i, span in enumerate(spans):
        pads[i] += max(0, span - 1 - pads[i] - pads[i + rank])
    filters = d.choose(*WIDTHS)
    channels = filters if isDepthwise else d.choose(1, 3, 16)
    x = d.input(FLOAT, [d.size(1, 3), channels, *spatial], "unit")
    filter_ = d.weight(FLOAT, [filters, 1 if isDepthwise else channels, *kernel])
    d.isWhole, d.slack = True, 16
    if d.chance(0.2):
        around = d.constant([0, 0, *pads[:rank], 0, 0, *pads[rank:]])
        x, pads = d.node("Pad", [x, around], dtypes=[FLOAT], isResult=False), [0] * (2 * rank)
    groups = filters if isDepthwise else 1
    d.node(operator, [x, filter_], dtypes=[FLOAT], kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
           group=groups)


def drawColumns(d, operator):
    """Depthwise, of so many channels that pixels lie a power of two apart, or nearly so: columns that are copied, and others."""
    channels = d.choose(64, 128, 192, 256, 320, 384, 512, 576, 1024)
    kernel, strides = [d.integer(1, 7) for _ in range(2)], [d.choose(1, 1, 2, 3) for _ in range(2)]
    dilations = [d.choose(1, 1, 1, 2) for _ in range(2)]
    spans = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations)]
    pads = [d.integer(0, span) for _ in range(2) for span in spans]
    spatial = [d.size(1, 14) for _ in range(2)]
    # At least one window fits, however small the input is.
    for i, span in enumerate(spans):
        pads[i] += max(0, span - 1 - pads[i] - pads[i + 2])
    value = d.input(FLOAT, [d.size(1, 3), channels, *spatial], "unit")
    if d.chance(0.3):
        value = d.node("Relu", [value], dtypes=[FLOAT], isResult=False)
    value = d.node(operator, [value, d.weight(FLOAT, [channels, 1, *kernel])], dtypes=[FLOAT], kernel_shape=kernel, strides=strides,
                   dilations=dilations, pads=pads, group=channels, isResult=True)
    if d.chance(0.5):
        d.node("Tanh" if d.chance(0.3) else "Relu", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 16


def drawConvTranspose(d, operator):
    """Several results a pixel, by filters shorter than the stride, as long, and longer; cut off on both sides, or not."""
    rank, groups = d.choose(1, 2, 2, 3), d.choose(1, 1, 1, 3)
    kernel = [d.integer(1, 9 if rank == 1 else 5 if rank == 2 else 3) for _ in range(rank)]
    strides = [d.integer(1, 4 if rank < 3 else 2) for _ in range(rank)]
    # At least one result is left of what a single pixel gives.
    pads = [d.integer(0, max(0, (kernel[i % rank] - 1) // 2)) for i in range(2 * rank)]
    extra = [d.integer(0, stride - 1) for stride in strides]
    channels, filters = groups * d.choose(1, 3, 16), d.choose(1, 2, 8, 33)
    x = d.input(FLOAT, [d.size(1, 3), channels, *(d.size(1, 9) for _ in range(rank))], "unit")
    operands = [x, d.weight(FLOAT, [channels, filters, *kernel])]
    if d.chance(0.5):
        operands.append(d.weight(FLOAT, [groups * filters]))
    value = d.node(operator, operands, dtypes=[FLOAT], kernel_shape=kernel, strides=strides, dilations=[1] * rank, pads=pads,
                   output_padding=extra, group=groups, isResult=True)
    if d.chance(0.5):
        d.node("Relu", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 16


OPERATORS = {
    "MatMul": drawMatMul, "Gemm": drawGemm, "Conv": drawConv, "Conv border": drawBorder, "Conv columns": drawColumns,
    "ConvTranspose": drawConvTranspose,
}
