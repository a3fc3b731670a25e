# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Pooling: rounding up, padding that counts or not, dilations, whole images."""

import math

import reference as ref
from run import single
from tensors import randoms


def cases():
    result = []
    choices = {
        "Plain": ((1, 2, 7, 9), dict(kernel_shape=[2, 3])),
        "Strides": ((2, 1, 8, 11), dict(kernel_shape=[3, 3], strides=[2, 3])),
        "Pads": ((1, 1, 5, 6), dict(kernel_shape=[3, 3], pads=[1, 0, 1, 2], strides=[2, 2])),
        "Ceil": ((1, 3, 6, 7), dict(kernel_shape=[3, 2], strides=[2, 2], ceil_mode=1)),
        "CeilPads": ((1, 1, 5, 5), dict(kernel_shape=[2, 2], strides=[3, 2], pads=[0, 1, 1, 0], ceil_mode=1)),
        "Line": ((1, 2, 13), dict(kernel_shape=[4], strides=[3])),
        "Volume": ((1, 1, 4, 3, 5), dict(kernel_shape=[2, 2, 3])),
        "Dilated": ((1, 1, 9, 9), dict(kernel_shape=[2, 3], dilations=[3, 2])),
    }
    for name, (shape, attributes) in choices.items():
        x = randoms(name, *shape)
        own = dict(strides=attributes.get("strides"), pads=attributes.get("pads"), dilations=attributes.get("dilations"), ceil=attributes.get("ceil_mode", 0))
        kernel = attributes["kernel_shape"]
        result.append(single("Max" + name, "MaxPool", {"x": x}, ref.pool(x, kernel, **own), **attributes))
        for counted in (0, 1):
            y = ref.pool(x, kernel, average=True, includePad=counted, **own)
            result.append(single(f"Average{name}{counted}", "AveragePool", {"x": x}, y, count_include_pad=counted, **attributes))
    # All values below zero: padding must not win.
    x = randoms("negative", 1, 1, 4, 4, low=-2.0, high=-1.0)
    y = ref.pool(x, [3, 3], pads=[1, 1, 1, 1])
    result.append(single("MaxBelowZero", "MaxPool", {"x": x}, y, kernel_shape=[3, 3], pads=[1, 1, 1, 1]))
    x = randoms("global", 2, 3, 5, 7)
    mean = ref.reduce(lambda v: math.fsum(v) / len(v), x, [2, 3], 1)
    result.append(single("GlobalAverage", "GlobalAveragePool", {"x": x}, mean))
    result.append(single("GlobalMax", "GlobalMaxPool", {"x": x}, ref.reduce(max, x, [2, 3], 1)))
    return result
