# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Convolutions and pools for the evaluator. Its own ones disagree with the specification on borders, groups, ranks and sizes rounded up.

All of them gather taps: for each place in the kernel, the elements that lie under it in all windows.
"""

import math

import numpy
from onnx.reference.op_run import OpRun


def _span(size, dilation):
    return (size - 1) * dilation + 1


class Window:
    """Attributes of a window with their defaults, and the sizes of what it makes."""

    def __init__(self, x, kernel, strides, dilations, pads, auto_pad="NOTSET", isCeil=False):
        rank = len(kernel)
        self.kernel, self.strides, self.dilations = kernel, strides or [1] * rank, dilations or [1] * rank
        self.spans = [_span(*pair) for pair in zip(kernel, self.dilations)]
        sizes = x.shape[2:]
        low, high = (pads[:rank], pads[rank:]) if pads else ([0] * rank, [0] * rank)
        if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
            missing = [max((-(-n // s) - 1) * s + span - n, 0) for n, s, span in zip(sizes, self.strides, self.spans)]
            half, rest = [m // 2 for m in missing], [m - m // 2 for m in missing]
            low, high = (half, rest) if auto_pad == "SAME_UPPER" else (rest, half)
        self.low, self.high = list(low), list(high)
        self.out = [self._count(axis, n, isCeil) for axis, n in enumerate(sizes)]

    def _count(self, axis, size, isCeil):
        room, stride = size + self.low[axis] + self.high[axis] - self.spans[axis], self.strides[axis]
        if not isCeil:
            return room // stride + 1
        count = -(-room // stride) + 1
        # A window that would start in the border at the end is none.
        return count - 1 if (count - 1) * stride >= size + self.low[axis] else count

    def pad(self, x, fill):
        return numpy.pad(x, [(0, 0), (0, 0), *zip(self.low, self.high)], constant_values=fill)

    def taps(self, padded, fill):
        """[places in the kernel, batch, channels, windows...]"""
        ends = [(n - 1) * s + span for n, s, span in zip(self.out, self.strides, self.spans)]
        beyond = [(0, max(end - size, 0)) for end, size in zip(ends, padded.shape[2:])]
        padded = numpy.pad(padded, [(0, 0), (0, 0), *beyond], constant_values=fill)
        parts = []
        for place in numpy.ndindex(*self.kernel):
            starts = [at * dilation for at, dilation in zip(place, self.dilations)]
            cut = [slice(at, at + (n - 1) * s + 1, s) for at, n, s in zip(starts, self.out, self.strides)]
            parts.append(padded[(slice(None), slice(None), *cut)])
        return numpy.stack(parts)


def _convolve(x, weights, bias, auto_pad, dilations, group, pads, strides):
    window = Window(x, weights.shape[2:], strides, dilations, pads, auto_pad)
    taps = window.taps(window.pad(x, 0), 0)
    taps = taps.reshape(*taps.shape[:2], group, weights.shape[1], *taps.shape[3:])
    filters = weights.reshape(group, -1, weights.shape[1], taps.shape[0])
    result = numpy.einsum("kngc...,gmck->ngm...", taps, filters).reshape(x.shape[0], weights.shape[0], *window.out)
    return result if bias is None else result + bias.reshape(-1, *[1] * len(window.out))


class Conv(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
        return (_convolve(x, w, b, auto_pad, dilations, group or 1, pads, strides).astype(x.dtype),)


class ConvInteger(OpRun):
    op_domain = ""

    def _run(self, x, w, x_zero=None, w_zero=None, auto_pad=None, dilations=None, group=None, kernel_shape=None, pads=None, strides=None):
        centred = [value.astype(numpy.int32) - (0 if zero is None else zero.astype(numpy.int32)) for value, zero in ((x, x_zero), (w, w_zero))]
        return (_convolve(*centred, None, auto_pad, dilations, group or 1, pads, strides),)


class ConvTranspose(OpRun):
    op_domain = ""

    def _run(self, x, w, b=None, dilations=None, group=None, output_padding=None, pads=None, strides=None, **others):
        rank, kernel = x.ndim - 2, w.shape[2:]
        sizes = [(n - 1) * s + _span(k, d) for n, s, k, d in zip(x.shape[2:], strides, kernel, dilations)]
        whole = [size + extra for size, extra in zip(sizes, output_padding)]
        result = numpy.zeros((x.shape[0], group, w.shape[1], *whole), x.dtype)
        parts, filters = x.reshape(x.shape[0], group, -1, *x.shape[2:]), w.reshape(group, -1, *w.shape[1:])
        for place in numpy.ndindex(*kernel):
            cut = [slice(at * d, at * d + (n - 1) * s + 1, s) for at, d, n, s in zip(place, dilations, x.shape[2:], strides)]
            result[(..., *cut)] += numpy.einsum("ngc...,gcm->ngm...", parts, filters[(..., *place)])
        result = result.reshape(x.shape[0], -1, *whole)
        result = result[(..., *(slice(low, size - high) for low, size, high in zip(pads, whole, pads[rank:])))]
        return (result if b is None else result + b.reshape(-1, *[1] * rank),)


class MaxPool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, dilations=None, kernel_shape=None, pads=None, storage_order=None, strides=None):
        window = Window(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
        least = numpy.iinfo(x.dtype).min if x.dtype.kind in "iu" else -math.inf
        return (window.taps(window.pad(x, least), least).max(0),)


class AveragePool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, count_include_pad=None, dilations=None, kernel_shape=None, pads=None, strides=None):
        window = Window(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
        counts = window.taps(window.pad(numpy.ones_like(x), 1 if count_include_pad else 0), 0).sum(0)
        return (window.taps(window.pad(x, 0), 0).sum(0) / counts,)


class LpPool(OpRun):
    op_domain = ""

    def _run(self, x, auto_pad=None, ceil_mode=None, dilations=None, kernel_shape=None, p=None, pads=None, strides=None):
        window = Window(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
        return ((numpy.abs(window.taps(window.pad(x, 0), 0)) ** p).sum(0) ** (1 / p),)


def _spatial(x):
    return tuple(range(2, x.ndim))


class GlobalMaxPool(OpRun):
    op_domain = ""

    def _run(self, x):
        return (x.max(_spatial(x), keepdims=True),)


class GlobalLpPool(OpRun):
    op_domain = ""

    def _run(self, x, p=None):
        return ((numpy.abs(x) ** p).sum(_spatial(x), keepdims=True) ** (1 / p),)


class LRN(OpRun):
    """The evaluator walks over the batch where it should walk over channels."""

    op_domain = ""

    def _run(self, x, alpha=None, beta=None, bias=None, size=None):
        border = [(0, 0), ((size - 1) // 2, size // 2), *[(0, 0)] * (x.ndim - 2)]
        squares = numpy.pad(x * x, border)
        total = sum(squares[:, place : place + x.shape[1]] for place in range(size))
        return ((x / (bias + alpha / size * total) ** beta).astype(x.dtype),)


OPERATORS = [Conv, ConvInteger, ConvTranspose, MaxPool, AveragePool, LpPool, GlobalMaxPool, GlobalLpPool, LRN]
