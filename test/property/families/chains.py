# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions of which the second one alone reads what the first one gives: a kernel of both computes that tile by tile."""

from draw import NUMBERS

FLOAT = NUMBERS["float32"]
# As small a cache as makes images large that the evaluator is done with in a moment.
OPTIONS = ("--l2-cache", "80K", "--llc", "128K")
# Neighbours of panels, of which a tile has some, and numbers of channels that are none of them.
CHANNELS = (8, 16, 16, 24, 31, 32, 48, 64, 65)


def _change(d, value, channels, spatial, batch):
    """What is between two convolutions, or follows the last one: element by element, perhaps of another image."""
    for step in [step for step in ("bias", "act", "residual") if d.chance(0.5)]:
        if step == "bias":
            value = d.node("Add", [value, d.weight(FLOAT, [channels, 1, 1])], dtypes=[FLOAT], isResult=False)
        elif step == "residual":
            value = d.node("Add", [value, d.input(FLOAT, [batch, channels, *spatial], "unit")], dtypes=[FLOAT], isResult=False)
        else:
            value = d.node(d.choose("Relu", "Relu", "Tanh", "HardSigmoid"), [value], dtypes=[FLOAT], isResult=False)
    return value


def _convolve(d, value, channels, filters, spatial, batch, form):
    """The result and its spatial sizes."""
    size = 1 if form == "pointwise" else 2
    kernel = [1, 1] if form == "pointwise" else [d.integer(1, 5) for _ in range(size)]
    strides = [1, 1] if form == "pointwise" else [d.choose(1, 1, 2, 3) for _ in range(size)]
    dilations = [1, 1] if form == "pointwise" else [d.choose(1, 1, 1, 2) for _ in range(size)]
    spans = [(k - 1) * step + 1 for k, step in zip(kernel, dilations)]
    pads = [d.integer(0, span // 2 + 1) if form != "pointwise" else 0 for _ in range(2) for span in spans]
    # At least one window fits.
    for i, span in enumerate(spans):
        pads[i] += max(0, span - spatial[i] - pads[i] - pads[i + 2])
    spatial = [(spatial[i] + pads[i] + pads[i + 2] - spans[i]) // strides[i] + 1 for i in range(2)]
    groups = channels if form == "depthwise" else 1
    filter_ = d.weight(FLOAT, [filters, channels // groups, *kernel])
    value = d.node("Conv", [value, filter_], dtypes=[FLOAT], kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads,
                   group=groups, isResult=False)
    return value, spatial


def drawChain(d, operator):
    forms = d.choose(("pointwise", "depthwise"), ("pointwise", "depthwise"), ("depthwise", "pointwise"), ("plain", "pointwise"),
                     ("pointwise", "depthwise", "pointwise"), ("depthwise", "pointwise", "depthwise", "pointwise"))
    # Sizes of images are known, their number may be open.
    spatial, batch = [d.integer(1, d.choose(23, 57, 57, 90)) for _ in range(2)], d.size(0, 3)
    channels = d.choose(*CHANNELS)
    value = d.input(FLOAT, [batch, channels, *spatial], "unit")
    for form in forms:
        filters = channels if form == "depthwise" else d.choose(*CHANNELS)
        value, spatial = _convolve(d, value, channels, filters, spatial, batch, form)
        channels = filters
        value = _change(d, value, channels, spatial, batch)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, 16


OPERATORS = {"Conv": drawChain}
