# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions by the Winograd algorithm, whose squares and panels do not divide the image and the filters."""

from draw import NUMBERS

FLOAT = NUMBERS["float32"]
OPTIONS = ("--force", "*=winograd-4", "--tolerance", "1e-4")


def drawWinograd(d, operator, slack=64, activations=("Relu", "Tanh", "HardSigmoid")):
    # Sizes of the image and their number may be open.
    spatial, batch = [d.size(1, d.choose(5, 14, 23, 57)) for _ in range(2)], d.size(0, 3)
    channels, filters = [d.choose(1, 3, 8, 16, 17, 31, 48, 64, 65) for _ in range(2)]
    # The window fits, whichever size of the image is drawn.
    pads = [d.integer(1, 2) for _ in range(4)]
    value = d.input(FLOAT, [batch, channels, *spatial], "unit")
    value = d.node("Conv", [value, d.weight(FLOAT, [filters, channels, 3, 3])], dtypes=[FLOAT], kernel_shape=[3, 3], pads=pads, isResult=False)
    if d.chance(0.5):
        value = d.node("Add", [value, d.weight(FLOAT, [filters, 1, 1])], dtypes=[FLOAT], isResult=False)
    if d.chance(0.5):
        value = d.node(d.choose(*activations), [value], dtypes=[FLOAT], isResult=False)
    d.node("Identity", [value], dtypes=[FLOAT])
    d.isWhole, d.slack = True, slack


OPERATORS = {"Conv": drawWinograd}
