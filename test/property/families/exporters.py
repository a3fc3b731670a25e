# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What PyTorch's exporters write for assignments to slices, views and scatters, against what PyTorch computes.

Each operator is drawn in the forms of the exporter that traces graphs (torch.export) and of the older one that traces scripts. The
reference is NumPy on the operands of the PyTorch operator, not the evaluator on the nodes, so that the nodes are checked, too.
"""

import numpy
from draw import NUMBERS, makeSize

# Extrema in scatters.
OLDEST = 18
FLOAT, HALF, LONG, INT, BYTE, BOOL = (NUMBERS[name] for name in ("float32", "float16", "int64", "int32", "uint8", "bool"))
LENGTHS = (1, 2, 3, 5, 7, 8, 13, 17)
MAX = numpy.iinfo(numpy.int64).max


def _longs(*values):
    return numpy.array(values, numpy.int64)


class Graph:
    """Adds the nodes of a case; values inside are no results."""

    def __init__(self, d):
        self.d = d

    def __getattr__(self, operator):
        return lambda *operands, **attributes: self.d.node(operator, list(operands), dtypes=[None], isResult=False, **attributes)

    def longs(self, *values):
        return self.d.constant(_longs(*values))

    def scalar(self, value):
        return self.d.constant(numpy.array(value, numpy.int64))

    def size(self, x, axis):
        """The size of a dimension as a scalar."""
        return self.Gather(self.Shape(x), self.scalar(axis), axis=0)

    def range(self, count):
        return self.Range(self.scalar(0), count, self.scalar(1))

    def transpose(self, x, order):
        return self.Transpose(x, perm=list(order))

    def finish(self, value, expected, dtype):
        name = self.d.node("Identity", [value], dtypes=[dtype])
        self.d.expected[name] = numpy.ascontiguousarray(expected).astype(dtype)


def _dtype(d):
    return d.choose(FLOAT, FLOAT, HALF, LONG, INT, BYTE, BOOL)


def _shape(d, low_rank=1, high_rank=4):
    """A shape, and an axis of it."""
    shape = d.shape(low_rank, high_rank, 0, 13)
    return shape, d.integer(0, len(shape) - 1)


def _at(axis, place):
    return (slice(None),) * axis + (place,)


def _front(rank, axis):
    """The order of dimensions with `axis` first, and the order that undoes it."""
    order = [axis, *(place for place in range(rank) if place != axis)]
    return order, [order.index(place) for place in range(rank)]


def _draw(d, dtype, shape, kind="special"):
    """The name of an operand and its values."""
    name = d.input(dtype, shape, kind)
    return name, d.inputs[name] if name in d.inputs else d.constants[name]


def drawSliceScatter(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d)
    rank, isOpen = len(shape), d.chance(0.3)
    length = 3 if isOpen else d.choose(*LENGTHS)
    start, step = d.integer(0, length), d.choose(1, 1, 1, 2, 3)
    end = d.integer(start, length)
    shape[axis] = d.openSizes((3,), (4,), (7,), (11,))[0] if isOpen else makeSize(length)
    x, before = _draw(d, dtype, shape)
    source = [*shape]
    source[axis] = makeSize(len(range(start, end, step)))
    y, updates = _draw(d, dtype, source)
    expected = before.copy()
    expected[_at(axis, slice(start, end, step))] = updates
    ranged = lambda: g.Slice(g.range(g.size(x, axis)), g.longs(start), g.longs(end), g.longs(0), g.longs(step))
    form = d.choose("slices", "slices", "elements", "constant", "coordinates")
    if form == "elements":
        order = [*(place for place in range(rank) if place != axis), axis]
        sizes = g.Gather(g.Shape(y), g.longs(*order), axis=0)
        indices = g.transpose(g.Expand(ranged(), sizes), [order.index(place) for place in range(rank)])
        result = g.ScatterElements(x, indices, y, axis=axis)
    elif form == "coordinates":
        # A range for each dimension, all of the shape of the updates.
        sizes, parts = g.Shape(y), []
        for place in range(rank):
            own = ranged() if place == axis else g.range(g.size(x, place))
            own = g.Reshape(own, g.longs(*(-1 if other == place else 1 for other in range(rank))))
            parts.append(g.Unsqueeze(g.Expand(own, sizes), g.longs(-1)))
        result = g.ScatterND(x, g.Concat(*parts, axis=-1), y)
    else:
        indices = d.constant(numpy.arange(start, end, step)[:, None]) if form == "constant" else g.Unsqueeze(ranged(), g.longs(-1))
        order, inverse = _front(rank, axis)
        result = g.transpose(g.ScatterND(g.transpose(x, order), indices, g.transpose(y, order)), inverse)
    g.finish(result, expected, dtype)


def drawSelectScatter(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d)
    length = d.choose(*LENGTHS)
    shape[axis], index = makeSize(length), d.integer(-length, length - 1)
    (x, before), (y, updates) = _draw(d, dtype, shape), _draw(d, dtype, shape[:axis] + shape[axis + 1 :])
    expected = before.copy()
    expected[_at(axis, index)] = updates
    source = g.Unsqueeze(y, g.longs(axis))
    if d.chance(0.5):
        result = g.ScatterElements(x, g.Expand(g.scalar(index), g.Shape(source)), source, axis=axis)
    else:
        order, inverse = _front(len(shape), axis)
        result = g.transpose(g.ScatterND(g.transpose(x, order), d.constant(_longs([index])), g.transpose(source, order)), inverse)
    g.finish(result, expected, dtype)


def drawIndexPut(d, _):
    """Indices of some neighbouring dimensions, which broadcast against each other."""
    g, isSum = Graph(d), d.chance(0.5)
    dtype = d.choose(FLOAT, LONG, INT) if isSum else _dtype(d)
    shape, axis = _shape(d)
    depth = d.integer(1, len(shape) - axis)
    for place in range(axis, axis + depth):
        shape[place] = makeSize(d.choose(*LENGTHS[:6]))
    inner = [int(size) for size in shape[axis : axis + depth]]
    generator = numpy.random.default_rng(d.integer(0, 1 << 30))
    if isSum:
        count = d.integer(0, 9)
        places = [generator.integers(-size, size, count) for size in inner]
    elif d.chance(0.4):
        # Ranges that meet all elements of a box.
        ends = [sorted((d.integer(0, size), d.integer(0, size))) for size in inner]
        places = [numpy.arange(*end).reshape([-1 if j == i else 1 for j in range(depth)]) for i, end in enumerate(ends)]
    else:
        total = int(numpy.prod(inner))
        chosen = generator.permutation(total)[: d.integer(0, min(9, total))]
        places = [each - d.choose(0, size) for each, size in zip(numpy.unravel_index(chosen, inner), inner)]
    places = [place.astype(numpy.int64) for place in places]
    rows = numpy.broadcast_shapes(*(place.shape for place in places))
    source = [*shape[:axis], *map(makeSize, rows), *shape[axis + depth :]]
    (x, before), (y, updates) = _draw(d, dtype, shape, "unit"), _draw(d, dtype, source, "unit")
    expected = before.copy()
    if isSum:
        numpy.add.at(expected, _at(axis, places[0]) + tuple(places[1:]), updates)
    else:
        expected[_at(axis, places[0]) + tuple(places[1:])] = updates
    d.slack = 4
    parts, isConstant, isWrapped = [], d.chance(0.5), d.chance(0.4)
    for size, place in zip(inner, places):
        part = d.given(place, isConstant=isConstant)
        if isWrapped:
            part = g.Where(g.Less(part, g.scalar(0)), g.Add(part, g.scalar(size)), part)
        parts.append(g.Unsqueeze(g.Expand(part, g.longs(*rows)), g.longs(-1)))
    indices = g.Concat(*parts, axis=-1) if len(parts) > 1 else parts[0]
    # The dimensions with indices come first.
    rank, width = len(shape), len(rows)
    order = [*range(axis, axis + depth), *range(axis), *range(axis + depth, rank)]
    moved = [*range(axis, axis + width), *range(axis), *range(axis + width, rank - depth + width)]
    inverse = [order.index(place) for place in range(rank)]
    result = g.ScatterND(g.transpose(x, order), indices, g.transpose(y, moved), reduction="add" if isSum else "none")
    g.finish(g.transpose(result, inverse), expected, dtype)


def drawScatterReduce(d, _):
    g, dtype = Graph(d), d.choose(FLOAT, FLOAT, LONG, INT)
    name, reduction, ufunc = d.choose(
        ("sum", "add", numpy.add), ("prod", "mul", numpy.multiply), ("amax", "max", numpy.maximum), ("amin", "min", numpy.minimum)
    )
    shape, axis = _shape(d, 1, 3)
    shape = [makeSize(d.choose(*LENGTHS)) for _ in shape]
    wanted = [makeSize(d.integer(0, size)) for size in shape]
    wanted[axis] = makeSize(d.choose(0, 1, 2, 5, 19))
    indices = d.numbers(LONG, wanted, low=0, high=int(shape[axis]) - 1, isConstant=True)
    (x, before), (y, updates) = _draw(d, dtype, shape, "unit"), _draw(d, dtype, wanted, "unit")
    places = list(numpy.indices(indices.shape))
    places[axis], expected, index = indices, before.copy(), d.operand(indices)
    if d.chance(0.5):
        # Elements that meet an update begin with what changes nothing.
        limits = (-numpy.inf, numpy.inf) if dtype == FLOAT else (numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
        neutral = numpy.array({"sum": 0, "prod": 1, "amax": limits[0], "amin": limits[1]}[name], dtype)
        expected[tuple(places)] = neutral
        x = g.ScatterElements(x, index, g.Expand(d.constant(neutral), g.Shape(index)), axis=axis)
    ufunc.at(expected, tuple(places), updates)
    d.slack = 16
    g.finish(g.ScatterElements(x, index, y, axis=axis, reduction=reduction), expected, dtype)


def drawAsStrided(d, _):
    g, dtype = Graph(d), _dtype(d)
    sizes = [d.choose(0, 1, 2, 3, 5, 7) for _ in range(d.integer(1, 3))]
    strides, offset = [d.choose(0, 1, 1, 2, 3, 7) for _ in sizes], d.integer(0, 5)
    count = offset + 1 + sum((max(size, 1) - 1) * stride for size, stride in zip(sizes, strides))
    x, values = _draw(d, dtype, [makeSize(d.integer(1, 2)), makeSize(count)])
    places = numpy.full(sizes, offset, numpy.int64)
    for axis, stride in enumerate(strides):
        places += stride * numpy.arange(sizes[axis]).reshape([-1 if place == axis else 1 for place in range(len(sizes))])
    flat = g.Reshape(x, g.longs(-1))
    if d.chance(0.6):
        # From the last dimension to the first one, each adds its own range to the indices of those behind it.
        indices = g.longs(0)
        for axis in reversed(range(len(sizes))):
            steps = g.Mul(g.range(g.scalar(sizes[axis])), g.scalar(strides[axis]))
            behind = len(sizes) - axis - 1
            steps = g.Reshape(steps, g.longs(-1, *(1,) * behind)) if behind else steps
            indices = g.Add(g.Expand(indices, g.longs(*sizes[axis:])), steps)
        result = g.Gather(flat, g.Add(indices, g.scalar(offset)), axis=0)
    else:
        result = g.Reshape(g.Gather(flat, d.constant(places.reshape(-1)), axis=0), g.longs(*sizes), allowzero=1)
    g.finish(result, values.reshape(-1)[places], dtype)


def drawUnfold(d, _):
    """Windows along a dimension, whose elements become the last dimension."""
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d, 1, 3)
    rank, size, step = len(shape), d.integer(1, 4), d.integer(1, 5)
    form = d.choose("constant", "slices", "computed", "computed")
    shape[axis] = d.openSizes((4,), (5,), (8,), (13,))[0] if form == "computed" else makeSize(size + d.integer(0, 11))
    x, values = _draw(d, dtype, shape)
    starts = range(0, int(shape[axis]) - size + 1, step)
    expected = numpy.moveaxis(values.take(numpy.array([[start + i for i in range(size)] for start in starts]), axis), axis + 1, -1)
    last = [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1]
    if form == "slices":
        parts = [g.Slice(x, g.longs(start), g.longs(start + size), g.longs(axis)) for start in starts]
        order = [*(place for place in range(rank) if place != axis), axis]
        windows = [g.Unsqueeze(g.transpose(part, order), g.longs(axis)) for part in parts]
        result = g.Concat(*windows, axis=axis)
    elif form == "constant":
        indices = d.constant(numpy.array([[start + i for i in range(size)] for start in starts], numpy.int64))
        result = g.transpose(g.Gather(x, indices, axis=axis), last)
    else:
        count = g.Add(g.Div(g.Sub(g.size(x, axis), g.scalar(size)), g.scalar(step)), g.scalar(1))
        first = g.Unsqueeze(g.Mul(g.range(count), g.scalar(step)), g.longs(-1))
        indices = g.Add(first, g.Unsqueeze(g.range(g.scalar(size)), g.longs(0)))
        result = g.transpose(g.Gather(x, indices, axis=axis), last)
    g.finish(result, expected, dtype)


def drawRoll(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d)
    shape[axis] = d.openSizes((3,), (4,), (7,))[0] if d.chance(0.4) else makeSize(d.choose(3, 5, 13))
    shift = d.integer(-3, 3)
    x, values = _draw(d, dtype, shape)
    result = x
    if shift:
        first = g.Slice(x, g.longs(-shift), g.longs(MAX), g.longs(axis))
        second = g.Slice(x, g.longs(0), g.longs(-shift), g.longs(axis))
        result = g.Concat(first, second, axis=axis)
    g.finish(result, numpy.roll(values, shift, axis), dtype)


def drawRepeatInterleave(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d)
    x, values = _draw(d, dtype, shape)
    if d.chance(0.7):
        repeats, rank = d.integer(0, 4), len(shape)
        wide = g.Unsqueeze(x, g.longs(axis + 1))
        if d.chance(0.5):
            wide = g.Tile(wide, g.longs(*(repeats if place == axis + 1 else 1 for place in range(rank + 1))))
        else:
            wide = g.Expand(wide, g.longs(*(repeats if place == axis + 1 else 1 for place in range(rank + 1))))
        size = g.Unsqueeze(g.Mul(g.size(x, axis), g.scalar(repeats)), g.longs(0))
        around = [g.Slice(g.Shape(x), g.longs(low), g.longs(high)) for low, high in ((0, axis), (axis + 1, rank))]
        result = g.Reshape(wide, g.Concat(around[0], size, around[1], axis=0), allowzero=1)
    else:
        # A number for each element: sums tell where each one's repetitions end.
        repeats = d.numbers(LONG, [int(shape[axis])], low=0, high=3)
        ends = g.CumSum(d.given(repeats, [shape[axis]]), g.scalar(0))
        place = g.Unsqueeze(g.range(g.ReduceMax(g.Concat(g.longs(0), ends, axis=0), keepdims=0)), g.longs(1))
        isBehind = g.Cast(g.GreaterOrEqual(place, g.Unsqueeze(ends, g.longs(0))), to=7)
        result = g.Gather(x, g.ReduceSum(isBehind, g.longs(1), keepdims=0), axis=axis)
    g.finish(result, numpy.repeat(values, repeats, axis), dtype)


def drawIndexSelect(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, axis = _shape(d)
    form = d.choose("range", "range", "computed", "backwards", "any")
    length = d.choose(*LENGTHS)
    shape[axis] = makeSize(length)
    x, values = _draw(d, dtype, shape)
    start, step = d.integer(0, length - 1), d.choose(1, 1, 2, 3)
    if form == "any":
        indices = d.numbers(LONG, [d.integer(0, 9)], low=-length, high=length - 1, isConstant=True)
        name = d.operand(indices)
    elif form == "computed":
        # All elements, from one on around the end.
        indices = (numpy.arange(length) + start) % length
        name = g.Mod(g.Add(g.range(g.size(x, axis)), g.scalar(start)), g.size(x, axis))
    else:
        first, last = start, start + (length - 1 - start) // step * step
        bounds = (first, last + 1, step) if form == "range" else (last, first - 1, -step)
        indices = numpy.arange(*bounds)
        name = d.constant(indices) if d.chance(0.5) else g.Range(*map(g.scalar, bounds))
    g.finish(g.Gather(x, name, axis=axis), values.take(indices, axis), dtype)


def drawMaskedFill(d, _):
    g, dtype = Graph(d), _dtype(d)
    shape, _ = _shape(d)
    x, values = _draw(d, dtype, shape)
    mask, isFilled = _draw(d, BOOL, d.operandOf(shape))
    value = d.numbers(dtype, (), "special", isConstant=True)
    filled = d.constant(value) if d.chance(0.5) else g.CastLike(d.constant(value), x)
    g.finish(g.Where(mask, filled, x), numpy.where(isFilled, value, values), dtype)


def drawMaskedSelect(d, _):
    """Coordinates of what a mask has, or given ones, as the columns of a matrix that is transposed."""
    g, dtype = Graph(d), _dtype(d)
    shape, _ = _shape(d, 1, 3)
    x, values = _draw(d, dtype, shape)
    if d.chance(0.5):
        mask, isTaken = _draw(d, BOOL, shape)
        places, columns = numpy.nonzero(isTaken), g.NonZero(mask)
    else:
        shape = [int(size) for size in values.shape]
        count = d.choose(0, 1, 2, 5, 17) if values.size else 0
        places = tuple(d.numbers(LONG, [count], low=-size, high=size - 1) if size else numpy.zeros(0, numpy.int64) for size in shape)
        columns = d.given(numpy.stack(places), isConstant=d.chance(0.3))
    rows = g.transpose(columns, [1, 0])
    if d.chance(0.5):
        g.finish(g.GatherND(x, rows), values[places], dtype)
        return
    expected = values.copy()
    value = d.numbers(dtype, (), "special", isConstant=True)
    expected[places] = value
    updates = g.Expand(d.constant(value), g.Gather(g.Shape(rows), g.longs(0), axis=0))
    g.finish(g.ScatterND(x, rows, updates), expected, dtype)


OPERATORS = {
    "slice_scatter": drawSliceScatter,
    "select_scatter": drawSelectScatter,
    "index_put": drawIndexPut,
    "scatter_reduce": drawScatterReduce,
    "as_strided": drawAsStrided,
    "unfold": drawUnfold,
    "roll": drawRoll,
    "repeat_interleave": drawRepeatInterleave,
    "index_select": drawIndexSelect,
    "masked_fill": drawMaskedFill,
    "masked_select": drawMaskedSelect,
}
# These are no operators of ONNX, whose opsets would say which ones there are.
IN_TURN = True
