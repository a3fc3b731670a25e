# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A network that is compiled in no time."""

from graph import Graph


def tiny():
    g = Graph("tiny")
    x = g.input("x", [1, 3, 16, 16], symbols={0: "N"})
    x = g.maxPool(g.relu(g.batchNorm(g.conv(x, 16, 3))), 3, 2)
    g.output("y", g.softmax(g.linear(g.reshape(g.meanOfImage(x), 0, -1), 10)), symbols={0: "N"})
    return g
