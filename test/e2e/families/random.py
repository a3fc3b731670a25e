# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Random numbers of given seeds, exactly: Philox4x32-10 of the seed's bits and the element's number."""

import math
import struct

from run import single
from tensors import Tensor, build, count

MASK = 0xFFFFFFFF


def philox(key, counter):
    keys = [key & MASK, key >> 32 & MASK]
    c = list(counter)
    for _ in range(10):
        p, q = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(q >> 32) ^ c[1] ^ keys[0], q & MASK, (p >> 32) ^ c[3] ^ keys[1], p & MASK]
        keys = [(keys[0] + 0x9E3779B9) & MASK, (keys[1] + 0xBB67AE85) & MASK]
    return c


# The published vectors of Random123.
assert philox(0, [0, 0, 0, 0]) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert philox(-1, [MASK] * 4) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def bits(seed, stream, elements):
    (key,) = struct.unpack("<i", struct.pack("<f", seed))
    return [philox(key & 0xFFFFFFFFFFFFFFFF, [i & MASK, i >> 32, stream, 0])[0] for i in range(elements)]


def uniform(seed, elements, stream=0):
    return [(word >> 8) / (1 << 24) for word in bits(seed, stream, elements)]


def normal(seed, elements):
    pairs = zip(uniform(seed, elements), uniform(seed, elements, 1))
    return [math.sqrt(-2 * math.log(1 - u)) * math.cos(2 * math.pi * v) for u, v in pairs]


def cases():
    shape = (3, 5, 7)
    u, z = uniform(2.5, count(shape)), normal(2.5, count(shape))
    like = build((2, 9), lambda index: 0.0)
    chances = build((4, 5), lambda index: index[1] / 4)
    drawn = uniform(1.0, 20)
    logits = Tensor((2, 3), [0.0, math.log(2), math.log(3), 5.0, -50.0, -50.0])
    parts = uniform(4.0, 16)
    chosen = [0 if part < 1 / 6 else 1 if part < 1 / 2 else 2 for part in parts[:8]] + [0] * 8
    return [
        single("Uniform", "RandomUniform", {}, Tensor(shape, [3 * x - 1 for x in u]), shape=list(shape), seed=2.5, low=-1.0, high=2.0),
        single("UniformLike", "RandomUniformLike", {"x": like}, Tensor((2, 9), u[:18]), seed=2.5),
        single("Normal", "RandomNormal", {}, Tensor(shape, [0.5 * x + 4 for x in z]), shape=list(shape), seed=2.5, mean=4.0, scale=0.5),
        single("NormalLike", "RandomNormalLike", {"x": like}, Tensor((2, 9), z[:18]), seed=2.5),
        single("Bernoulli", "Bernoulli", {"x": chances}, Tensor((4, 5), [float(a < b) for a, b in zip(drawn, chances.data)]), seed=1.0),
        single("Multinomial", "Multinomial", {"x": logits}, Tensor((2, 8), chosen, "i32"), seed=4.0, sample_size=8),
    ]
