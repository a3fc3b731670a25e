# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What several transformers have in common. Values are [batch, position, features]."""

import tensors


def integer(value):
    return tensors.integers([value], ())


def splitHeads(g, x, heads):
    """[batch, head, position, features of a head]"""
    return g.transpose(g.reshape(x, 0, 0, heads, x.shape[-1] // heads), 0, 2, 1, 3)


def mergeHeads(g, x):
    _, heads, _, features = x.shape
    return g.reshape(g.transpose(x, 0, 2, 1, 3), 0, 0, heads * features)


def attend(g, q, k, v, mask=None):
    """`mask` is added to the scores."""
    scores = g.mul(g.matmul(q, g.transpose(k, 0, 1, 3, 2)), g.scalar(q.shape[-1] ** -0.5))
    return g.matmul(g.softmax(g.add(scores, mask) if mask else scores), v)


def selfAttention(g, x, heads, mask=None):
    q, k, v = (splitHeads(g, g.linear(x, x.shape[-1]), heads) for _ in range(3))
    return g.linear(mergeHeads(g, attend(g, q, k, v, mask)), x.shape[-1])


def feedForward(g, x, inner, activation):
    return g.linear(activation(g.linear(x, inner)), x.shape[-1])


def toMask(g, visible):
    """0 where a key may be seen, far below every score elsewhere."""
    return g.call("Where", visible, g.scalar(0.0), g.scalar(-1e9))


def visibleKeys(g, attentionMask):
    """[batch, 1, 1, key]"""
    return g.unsqueeze(g.cast(attentionMask, "bool"), 1, 2)


def causal(g, ids):
    """[position, key]: no position sees a later one."""
    length = g.call("Squeeze", g.call("Shape", ids, shape=(1,), start=1, end=2), shape=())
    zero, one = (g._constant(g._named("integers"), integer(value)) for value in (0, 1))
    positions = g.call("Range", zero, length, one, shape=(ids.shape[1],))
    return positions, g.call("LessOrEqual", positions, g.unsqueeze(positions, 1))
