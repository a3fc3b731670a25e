# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions of few filters with channels first, whose vectors are the pixels of a line, and whatever is around them: an epilogue, another such
convolution, somebody who reads the image in either order."""

from draw import NUMBERS

OPTIONS = ("--force", "*=channels_first")
FLOAT = NUMBERS["float32"]
FILTERS = (1, 1, 2, 3, 4, 5, 8, 16)
# Less than a vector, whole ones, and neighbours of these.
WIDTHS = (1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 47, 64, 97)


def _window(d, rank):
    """Kernel, strides, dilations and pads. Lines are read pixel after pixel."""
    most = {1: 9, 2: 5, 3: 3}[rank]
    # A single tap is a product of pixels, which has no layouts.
    kernel = [d.integer(2, most), *(d.integer(1, most) for _ in range(rank - 1))]
    strides = [*(d.choose(1, 1, 2, 3) for _ in range(rank - 1)), 1]
    dilations = [d.choose(1, 1, 1, 2, 3) for _ in range(rank)]
    spans = [(size - 1) * step + 1 for size, step in zip(kernel, dilations)]
    return kernel, strides, dilations, spans, [d.choose(0, span // 2, span - 1) for _ in range(2) for span in spans]


def _convolve(d, value, channels, window):
    """A convolution, and its number of filters."""
    kernel, strides, dilations, _, pads = window
    isDepthwise = 1 < channels <= 16 and d.chance(0.25)
    filters, groups = (channels, channels) if isDepthwise else (d.choose(*FILTERS), 1)
    filter_ = d.weight(FLOAT, [filters, channels // groups, *kernel])
    operands = [value, filter_, d.weight(FLOAT, [filters])] if d.chance(0.5) else [value, filter_]
    attributes = {"strides": strides, "dilations": dilations, "pads": pads, "group": groups}
    return d.node("Conv", operands, dtypes=[FLOAT], isResult=False, kernel_shape=kernel, **attributes), filters


def _change(d, value, filters, rank, spatial, batch):
    """What follows, element by element. `spatial` is None where sizes are open."""
    for step in [step for step in ("scale", "act", "map", "residual") if d.chance(0.35)]:
        if step == "scale":
            value = d.node("Mul", [value, d.weight(FLOAT, [filters, *[1] * rank])], dtypes=[FLOAT], isResult=False)
        elif step == "act":
            value = d.node(d.choose("Relu", "Tanh", "Sigmoid"), [value], dtypes=[FLOAT], isResult=False)
        elif step == "map" and spatial:
            # The same for all filters.
            value = d.node("Add", [value, d.weight(FLOAT, [1, *spatial])], dtypes=[FLOAT], isResult=False)
        elif spatial:
            value = d.node("Add", [value, d.input(FLOAT, [batch, filters, *spatial], "unit")], dtypes=[FLOAT], isResult=False)
    return value


def _read(d, value, rank):
    """Somebody who reads the result: as it is, with channels last, or its largest pixels."""
    reader = d.choose("Identity", "Neg", "Transpose", "GlobalMaxPool")
    if reader == "Transpose":
        d.node("Transpose", [value], dtypes=[FLOAT], perm=[0, *range(2, rank + 2), 1])
    else:
        d.node(reader, [value], dtypes=[FLOAT])


def _begin(d, batch, channels, spatial):
    """An image that is an input, that was transposed before, or that something else reads, too."""
    isLast = d.chance(0.3)
    value = d.input(FLOAT, [batch, *spatial, channels] if isLast else [batch, channels, *spatial], "unit")
    if isLast:
        value = d.node("Transpose", [value], dtypes=[FLOAT], isResult=False, perm=[0, len(spatial) + 1, *range(1, len(spatial) + 1)])
    return d.node("Relu", [value], dtypes=[FLOAT], isResult=d.chance(0.3)) if d.chance(0.3) else value


def drawConv(d, operator):
    rank = d.choose(1, 2, 2, 2, 2, 3)
    batch, channels = d.size(0, 3), d.choose(1, 1, 2, 3, 5, 16, 33)
    d.isWhole, d.slack = True, 8
    if d.chance(0.3):
        # Sizes may be open.
        window = _window(d, rank)
        spatial = [d.size(span, 33 if rank < 3 else 9) for span in window[3]]
        value = _begin(d, batch, channels, spatial)
        value, channels = _convolve(d, value, channels, window)
        return _read(d, _change(d, value, channels, rank, None, batch), rank)
    spatial = [*(d.choose(1, 2, 5, 9) for _ in range(rank - 1)), d.choose(*WIDTHS)]
    value = _begin(d, batch, channels, spatial)
    for _ in range(d.choose(1, 1, 2, 3)):
        window = _window(d, rank)
        _, strides, _, spans, pads = window
        # At least one window fits.
        for i, span in enumerate(spans):
            pads[i] += max(0, span - spatial[i] - pads[i] - pads[i + rank])
        spatial = [(size + pads[i] + pads[i + rank] - spans[i]) // strides[i] + 1 for i, size in enumerate(spatial)]
        value, channels = _convolve(d, value, channels, window)
        value = _change(d, value, channels, rank, spatial, batch)
        if d.chance(0.2):
            d.node("Identity", [value], dtypes=[FLOAT])
    _read(d, value, rank)


OPERATORS = {"Conv": drawConv}
