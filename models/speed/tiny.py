# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Small networks: one that is compiled in no time, and some that run for microseconds."""

from graph import Graph
from transformer import feedForward, selfAttention


def tiny():
    g = Graph("tiny")
    x = g.input("x", [1, 3, 16, 16], symbols={0: "N"})
    x = g.maxPool(g.relu(g.batchNorm(g.conv(x, 16, 3))), 3, 2)
    g.output("y", g.softmax(g.linear(g.reshape(g.meanOfImage(x), 0, -1), 10)), symbols={0: "N"})
    return g


def mlp():
    """Three layers of a control policy: some microseconds."""
    g = Graph("tiny_mlp")
    x = g.input("x", [1, 32])
    for width in (64, 64):
        x = g.relu(g.linear(x, width))
    g.output("y", g.linear(x, 8))
    return g


def transformer():
    """Two layers of an encoder for a short sequence: some tens of microseconds."""
    g = Graph("tiny_transformer")
    x = g.input("x", [1, 16, 64])
    for layer in range(2):
        with g.scope(f"layer{layer}"):
            x = g.layerNorm(g.add(x, selfAttention(g, x, 4)))
            x = g.layerNorm(g.add(x, feedForward(g, x, 128, g.gelu)))
    g.output("y", x)
    return g


def cnn():
    """A few convolutions on a small image: about a millisecond."""
    g = Graph("tiny_cnn")
    x = g.input("x", [1, 3, 64, 64])
    for channels in (16, 32, 64):
        x = g.maxPool(g.relu(g.conv(g.relu(g.conv(x, channels, 3)), channels, 3)), 3, 2)
    g.output("y", g.softmax(g.linear(g.reshape(g.meanOfImage(x), 0, -1), 10)))
    return g
