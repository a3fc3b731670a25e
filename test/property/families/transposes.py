# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Transposes of every rank up to 5, whose dimensions are shorter and longer than vectors, fixed and open."""

import math

from draw import NUMBERS, makeSize

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

TYPES = ("float32", "float32", "float16", "uint8", "int64", "bool", "bfloat16", "float64")
SIZES = (1, 1, 2, 3, 4, 5, 7, 8, 9, 13, 16, 17, 31, 33)
LONG = (16, 31, 64, 65, 67, 127, 129, 150, 257)
MOST = 60_000  # elements


def _sizes(random, rank):
    """At most two long dimensions, which any may be, and in rare cases none at all."""
    sizes = [random.choice(SIZES) for _ in range(rank)]
    for _ in range(random.randint(0, 2)):
        sizes[random.randrange(rank)] = random.choice(LONG)
    while math.prod(sizes) > MOST:
        largest = sizes.index(max(sizes))
        sizes[largest] = sizes[largest] // 2
    if random.random() < 0.03:
        sizes[random.randrange(rank)] = 0
    return sizes


def drawTranspose(d, operator):
    rank = d.integer(2, 5)
    order = list(range(rank))
    d.structure.shuffle(order)
    fixed = _sizes(d.structure, rank)
    isOpen = [d.chance(0.5) for _ in fixed] if d.chance(0.6) else [False] * rank
    # Each take has other open sizes, of which any may be 1.
    shape = [d.openSizes((size,), (size,), (max(1, size // 2),), (1,), (2,), (7,))[0] if flag and size else makeSize(size)
             for size, flag in zip(fixed, isOpen)]
    d.node(operator, [d.input(NUMBERS[d.choose(*TYPES)], shape, "special")], perm=order)


OPERATORS = {"Transpose": drawTranspose}
