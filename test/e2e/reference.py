# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What operators compute, written for clarity: one element at a time, from the text of the ONNX specification."""

import math
from functools import reduce as fold

from tensors import Tensor, build, count, indices


def broadcastShape(*shapes):
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(next((dim for dim in dims if dim != 1), 1) for dims in zip(*padded))


def broadcastAt(tensor, index):
    own = index[len(index) - len(tensor.shape) :]
    return tensor.at([0 if dim == 1 else i for i, dim in zip(own, tensor.shape)])


def elementwise(function, *inputs, dtype="f32"):
    shape = broadcastShape(*(value.shape for value in inputs))
    return build(shape, lambda index: function(*(broadcastAt(value, index) for value in inputs)), dtype)


def reduce(function, x, axes, keepdims, dtype="f32"):
    axes = [axis % len(x.shape) for axis in axes]
    kept = tuple(1 if d in axes else dim for d, dim in enumerate(x.shape))
    groups = {index: [] for index in indices(kept)}
    for index in indices(x.shape):
        groups[tuple(0 if d in axes else i for d, i in enumerate(index))].append(x.at(index))
    shape = kept if keepdims else [dim for d, dim in enumerate(kept) if d not in axes]
    return Tensor(shape, [function(groups[index]) for index in indices(kept)], dtype)


def matmul(a, b):
    """As numpy.matmul, vectors included."""
    left, right = (1,) * (len(a.shape) == 1) + a.shape, b.shape + (1,) * (len(b.shape) == 1)
    first, second = Tensor(left, a.data), Tensor(right, b.data)

    def element(index):
        head, (i, j) = index[:-2], index[-2:]
        return math.fsum(broadcastAt(first, (*head, i, k)) * broadcastAt(second, (*head, k, j)) for k in range(left[-1]))

    full = build(broadcastShape(left[:-2], right[:-2]) + (left[-2], right[-1]), element)
    shape = list(full.shape)
    if len(b.shape) == 1:
        shape.pop()
    if len(a.shape) == 1:
        shape.pop(-1 if len(b.shape) == 1 else -2)
    return Tensor(shape, full.data)


def _windows(size, kernel, stride, dilation, begin, end, ceil):
    """The number of windows along one dimension."""
    span = size + begin + end - dilation * (kernel - 1) - 1
    number = (-(-span // stride) if ceil else span // stride) + 1
    # A window must not start in the padding behind.
    return number - 1 if ceil and (number - 1) * stride >= size + begin else number


def conv(x, w, bias=None, strides=None, pads=None, dilations=None, group=1):
    spatial = len(x.shape) - 2
    strides, dilations, pads = strides or [1] * spatial, dilations or [1] * spatial, pads or [0] * 2 * spatial
    size = [
        _windows(x.shape[2 + d], w.shape[2 + d], strides[d], dilations[d], pads[d], pads[spatial + d], False)
        for d in range(spatial)
    ]
    perGroup = w.shape[0] // group

    def element(index):
        n, m, place = index[0], index[1], index[2:]
        total = bias.at((m,)) if bias else 0.0
        for c in range(w.shape[1]):
            for tap in indices(w.shape[2:]):
                at = [place[d] * strides[d] - pads[d] + tap[d] * dilations[d] for d in range(spatial)]
                if all(0 <= i < x.shape[2 + d] for d, i in enumerate(at)):
                    total += x.at([n, m // perGroup * w.shape[1] + c, *at]) * w.at([m, c, *tap])
        return total

    return build((x.shape[0], w.shape[0], *size), element)


def convTranspose(x, w, strides, pads, group=1, outputPadding=None):
    spatial = len(x.shape) - 2
    extra = outputPadding or [0] * spatial
    size = [
        (x.shape[2 + d] - 1) * strides[d] + w.shape[2 + d] - pads[d] - pads[spatial + d] + extra[d]
        for d in range(spatial)
    ]
    perGroup = x.shape[1] // group
    out = {index: 0.0 for index in indices((x.shape[0], w.shape[1] * group, *size))}
    for index in indices(x.shape):
        n, c, place = index[0], index[1], index[2:]
        for m in range(w.shape[1]):
            for tap in indices(w.shape[2:]):
                at = tuple(place[d] * strides[d] + tap[d] - pads[d] for d in range(spatial))
                key = (n, c // perGroup * w.shape[1] + m, *at)
                if key in out:
                    out[key] += x.at(index) * w.at([c, m, *tap])
    return Tensor((x.shape[0], w.shape[1] * group, *size), out.values())


def pool(x, kernel, strides=None, pads=None, dilations=None, ceil=False, average=False, includePad=False):
    spatial = len(kernel)
    strides, dilations, pads = strides or [1] * spatial, dilations or [1] * spatial, pads or [0] * 2 * spatial
    sizes = x.shape[2:]
    out = [
        _windows(sizes[d], kernel[d], strides[d], dilations[d], pads[d], pads[spatial + d], ceil)
        for d in range(spatial)
    ]

    def element(index):
        values, inPadding = [], 0
        for tap in indices(kernel):
            at = [index[2 + d] * strides[d] - pads[d] + tap[d] * dilations[d] for d in range(spatial)]
            if all(0 <= i < sizes[d] for d, i in enumerate(at)):
                values.append(x.at([*index[:2], *at]))
            elif all(-pads[d] <= i < sizes[d] + pads[spatial + d] for d, i in enumerate(at)):
                inPadding += 1
        if not average:
            return max(values)
        return sum(values) / (len(values) + (inPadding if includePad else 0))

    return build((*x.shape[:2], *out), element)


def softmax(x, axis):
    axis %= len(x.shape)
    row = lambda index: [x.at([*index[:axis], i, *index[axis + 1 :]]) for i in range(x.shape[axis])]

    def element(index):
        values = row(index)
        top = max(values)
        return math.exp(x.at(index) - top) / math.fsum(math.exp(value - top) for value in values)

    return build(x.shape, element)


def layerNorm(x, scale, bias, axis=-1, epsilon=1e-5):
    axis %= len(x.shape)
    width = count(x.shape[axis:])
    out = []
    for start in range(0, len(x.data), width or 1):
        row = x.data[start : start + width]
        mean = math.fsum(row) / width
        variance = math.fsum((value - mean) ** 2 for value in row) / width
        out += [(v - mean) / math.sqrt(variance + epsilon) * s + b for v, s, b in zip(row, scale.data, bias.data)]
    return Tensor(x.shape, out)


def transpose(x, perm):
    return build([x.shape[p] for p in perm], lambda index: x.at([index[perm.index(d)] for d in range(len(perm))]), x.dtype)


def concat(parts, axis):
    bounds = [0]
    for part in parts:
        bounds.append(bounds[-1] + part.shape[axis])

    def element(index):
        k = max(i for i in range(len(parts)) if bounds[i] <= index[axis] < bounds[i + 1])
        return parts[k].at([*index[:axis], index[axis] - bounds[k], *index[axis + 1 :]])

    shape = list(parts[0].shape)
    shape[axis] = bounds[-1]
    return build(shape, element)


def slices(x, starts, ends, axes, steps):
    picked = [range(dim) for dim in x.shape]
    for start, end, axis, step in zip(starts, ends, axes, steps):
        # Python's own slices clamp as ONNX's do; an end before the first element has no number there.
        end = None if step < 0 and end < -x.shape[axis] else end
        picked[axis] = range(x.shape[axis])[start:end:step]
    return build([len(p) for p in picked], lambda index: x.at([p[i] for p, i in zip(picked, index)]))


def gather(x, at, axis):
    def element(index):
        place = at.at(index[axis : axis + len(at.shape)])
        return x.at([*index[:axis], place % x.shape[axis], *index[axis + len(at.shape) :]])

    return build([*x.shape[:axis], *at.shape, *x.shape[axis + 1 :]], element)


def pad(x, begin, end, mode, value=0.0):
    def source(i, dim):
        if 0 <= i < dim:
            return i
        if mode == "edge":
            return min(max(i, 0), dim - 1)
        if mode == "wrap":
            return i % dim
        if mode == "reflect":
            return -i if i < 0 else 2 * dim - 2 - i
        return None

    def element(index):
        at = [source(i - b, dim) for i, b, dim in zip(index, begin, x.shape)]
        return value if None in at else x.at(at)

    return build([dim + b + e for dim, b, e in zip(x.shape, begin, end)], element)


def resize(x, sizes, mode, transform):
    """Nearest (round_prefer_floor) or linear, over all dimensions."""

    def position(i, size, dim):
        scale = size / dim
        if transform == "asymmetric":
            return i / scale
        if transform == "align_corners":
            return i * (dim - 1) / (size - 1) if size > 1 else 0.0
        return (i + 0.5) / scale - 0.5

    def taps(i, size, dim):
        place = position(i, size, dim)
        if mode == "nearest":
            return [(min(max(math.ceil(place - 0.5), 0), dim - 1), 1.0)]
        low = math.floor(place)
        clamp = lambda k: min(max(k, 0), dim - 1)
        return [(clamp(low), 1 - (place - low)), (clamp(low + 1), place - low)]

    def element(index):
        terms = [((), 1.0)]
        for i, size, dim in zip(index, sizes, x.shape):
            terms = [(at + (k,), weight * own) for at, weight in terms for k, own in taps(i, size, dim)]
        return sum(weight * x.at(at) for at, weight in terms)

    return build(sizes, element)


def product(values):
    return fold(lambda a, b: a * b, values, 1.0)
