# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What moves, picks, repeats and joins elements; operands that say how are constants or inputs."""

import numpy
import onnx
from draw import NUMBERS, toOnnx

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)

INT64 = NUMBERS["int64"]


def _indices(values):
    return numpy.array(values, numpy.int64)


def _count(shape):
    return int(numpy.prod(shape, dtype=numpy.int64))


def drawReshape(d, operator):
    shape, dtype = d.shape(), d.dtype(operator)
    x = d.input(dtype, shape, "special")
    wanted = [int(size) for size in shape]
    if len(wanted) > 1 and d.chance(0.5):
        wanted = [wanted[0] * wanted[1], *wanted[2:]]
    if d.chance(0.3):
        wanted.insert(d.integer(0, len(wanted)), 1)
    if wanted and 0 not in wanted and d.chance(0.5):
        wanted[d.integer(0, len(wanted) - 1)] = -1
    d.node(operator, [x, d.operand(_indices(wanted))], allowzero=1 if 0 in wanted else None)


def drawTranspose(d, operator):
    shape = d.shape(high_rank=5)
    order = list(range(len(shape)))
    d.structure.shuffle(order)
    d.node(operator, [d.input(d.dtype(operator), shape, "special")], perm=order if order and d.chance(0.9) else None)


def drawSlice(d, operator):
    shape = d.shape(low_rank=1)
    axes = d.axes(len(shape))
    bound = lambda: d.choose(d.integer(-20, 20), d.integer(-3, 3), numpy.iinfo(numpy.int64).max, -numpy.iinfo(numpy.int64).max)
    starts, ends = ([bound() for _ in axes] for _ in range(2))
    operands = [d.input(d.dtype(operator), shape, "special"), d.operand(_indices(starts)), d.operand(_indices(ends)), d.operand(_indices(axes))]
    if d.chance(0.7):
        operands.append(d.operand(_indices([d.choose(1, 1, 2, 3, 7, -1, -2, -5) for _ in axes])))
    d.node(operator, operands)


def drawSplit(d, operator):
    shape = d.shape(low_rank=1)
    axis, dtype, parts = d.axis(len(shape)), d.dtype(operator), d.integer(1, 4)
    if d.opset >= 18 and d.chance(0.4):
        # The last part may be smaller, but not by more than one part can be.
        shape[axis] = parts * d.integer(1, 5)
        d.node(operator, [d.input(dtype, shape, "special")], parts, axis=axis, num_outputs=parts)
        return
    sizes = [d.integer(0, 5) for _ in range(parts)]
    shape[axis] = sum(sizes)
    d.node(operator, [d.input(dtype, shape, "special"), d.operand(_indices(sizes))], parts, axis=axis)


def drawPad(d, operator):
    mode = d.choose("constant", "constant", "reflect", "edge", *(["wrap"] if d.opset >= 19 else []))
    shape, dtype = d.shape(low_rank=1, low=0 if mode == "constant" else 5), d.dtype(operator)
    axes = sorted(axis % len(shape) for axis in d.axes(len(shape))) if d.opset >= 18 and d.chance(0.5) else None
    low = -2 if mode == "constant" and all(size >= 4 for size in shape) else 0
    pads = [d.integer(low, 4) for _ in range(2 * len(axes or shape))]
    operands = [d.input(dtype, shape, "special"), d.operand(_indices(pads))]
    if mode == "constant" and d.chance(0.7):
        operands.append(d.operand(d.numbers(dtype, (), isConstant=True)))
    if axes is not None:
        operands += [""] * (3 - len(operands)) + [d.operand(_indices(axes))]
    d.node(operator, operands, mode=mode)


def drawConcat(d, operator):
    shape, dtype = d.shape(low_rank=1), d.dtype(operator)
    axis = d.axis(len(shape))
    shapes = [list(shape) for _ in range(d.integer(1, 4))]
    for each in shapes:
        each[axis] = d.size()
    d.node(operator, [d.input(dtype, each, "special") for each in shapes], axis=axis)


def drawGather(d, operator):
    shape = d.shape(low_rank=1, low=1)
    axis = d.axis(len(shape))
    length = int(shape[axis])
    wanted = d.numbers(d.dtype(operator, 1), d.shape(0, 2, 0, 7), low=-length, high=length - 1, isConstant=True)
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(wanted)], axis=axis)


def drawGatherElements(d, operator):
    shape = d.shape(low_rank=1, low=1)
    axis = d.axis(len(shape))
    length, wanted = int(shape[axis]), [d.integer(0, int(size)) for size in shape]
    wanted[axis] = d.integer(0, 9)
    indices = d.numbers(d.dtype(operator, 1), wanted, low=-length, high=length - 1, isConstant=True)
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(indices)], axis=axis)


def _tuples(d, shape, batch, isUnique):
    """Indices of GatherND and ScatterND into the dimensions of `shape` after the batch."""
    depth = d.integer(1, len(shape) - batch)
    inner = [int(size) for size in shape[batch : batch + depth]]
    if isUnique:
        flat = list(range(_count(inner)))
        d.structure.shuffle(flat)
        return numpy.stack(numpy.unravel_index(flat[: d.integer(1, min(9, len(flat)))], inner), -1).astype(numpy.int64)
    rows = [*map(int, shape[:batch]), *map(int, d.shape(0, 2, 1, 5))]
    parts = [d.numbers(INT64, rows, low=-size, high=size - 1, isConstant=True) for size in inner]
    return numpy.stack(parts, -1)


def drawGatherND(d, operator):
    shape = d.shape(low_rank=1, low=1)
    batch = d.integer(0, min(1, len(shape) - 1))
    indices = _tuples(d, shape, batch, False)
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(indices)], batch_dims=batch)


def _reductions(d, dtype):
    names = ["none"] if dtype.kind == "b" or d.opset < 16 else ["none", "add", "mul"] + (["max", "min"] if d.opset >= 18 else [])
    return d.choose(*names)


def drawScatterND(d, operator):
    shape, dtype = d.shape(low_rank=1, low=1), d.dtype(operator)
    reduction = _reductions(d, dtype)
    # Where the same element is written twice, only reductions say what it holds.
    indices = _tuples(d, shape, 0, reduction == "none")
    updates = d.input(dtype, [*indices.shape[:-1], *shape[indices.shape[-1] :]], "unit")
    d.slack = 4
    d.node(operator, [d.input(dtype, shape, "unit"), d.operand(indices), updates], reduction=reduction if d.opset >= 16 else None)


def drawScatterElements(d, operator):
    shape, dtype = d.shape(low_rank=1, low=1), d.dtype(operator)
    axis, reduction = d.axis(len(shape)), _reductions(d, dtype)
    wanted = [d.integer(1, int(size)) for size in shape]
    along = numpy.random.default_rng(d.integer(0, 1 << 30)).permutation(int(shape[axis]))[: wanted[axis]]
    turned = along.reshape([-1 if place == axis % len(shape) else 1 for place in range(len(shape))])
    indices = numpy.broadcast_to(turned, wanted).astype(d.dtype(operator, 1))
    d.slack = 4
    operands = [d.input(dtype, shape, "unit"), d.operand(indices), d.input(dtype, wanted, "unit")]
    d.node(operator, operands, axis=axis, reduction=reduction if d.opset >= 16 else None)


def drawTile(d, operator):
    shape = d.shape()
    repeats = d.operand(_indices([d.choose(0, 1, 1, 2, 3) for _ in shape]))
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), repeats])


def drawExpand(d, operator):
    shape, wanted = d.shape(low=2), []
    for axis, size in enumerate(shape):
        isOne = d.chance(0.4)
        wanted.append(d.integer(1, 5) if isOne else d.choose(1, int(size)))
        shape[axis] = 1 if isOne else size
    wanted = [d.integer(1, 3) for _ in range(d.integer(0, 1))] + wanted
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(_indices(wanted))])


def drawSqueeze(d, operator):
    shape, axes = d.shape(low_rank=1, low=2), []
    for axis in d.axes(len(shape)):
        shape[axis] = 1
        axes.append(axis)
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(_indices(axes))])


def drawUnsqueeze(d, operator):
    shape = d.shape()
    rank = len(shape) + d.integer(1, 2)
    axes = d.structure.sample(range(rank), rank - len(shape))
    axes = [axis - rank if d.chance(0.3) else axis for axis in axes]
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(_indices(axes))])


def drawFlatten(d, operator):
    shape = d.shape()
    d.node(operator, [d.input(d.dtype(operator), shape, "special")], axis=d.integer(-len(shape), len(shape)))


def drawDepthToSpace(d, operator):
    block, dtype = d.integer(1, 3), d.dtype(operator)
    shape = [d.size(1, 3), block * block * d.integer(1, 3), d.size(1, 7), d.size(1, 7)]
    d.node(operator, [d.input(dtype, shape)], blocksize=block, mode=d.choose("DCR", "CRD"))


def drawSpaceToDepth(d, operator):
    block, dtype = d.integer(1, 3), d.dtype(operator)
    d.node(operator, [d.input(dtype, [d.size(1, 3), d.size(1, 3), block * d.integer(1, 4), block * d.integer(1, 4)])], blocksize=block)


def drawTrilu(d, operator):
    operands = [d.input(d.dtype(operator), d.shape(low_rank=2), "special")]
    if d.chance(0.7):
        operands.append(d.operand(numpy.array(d.integer(-9, 9), numpy.int64)))
    d.node(operator, operands, upper=d.choose(0, 1))


def drawOneHot(d, operator):
    depth, dtype = d.integer(1, 9), d.dtype(operator, 2)
    shape = d.shape(high_rank=3, high=9)
    indices = d.input(d.dtype(operator, 0, lambda dtype: dtype.kind == "i"), shape, low=-depth, high=depth - 1)
    values = d.operand(d.numbers(dtype, (2,), isConstant=True))
    d.node(operator, [indices, d.operand(numpy.array(depth, numpy.int64)), values], dtypes=[dtype], axis=d.integer(-len(shape) - 1, len(shape)))


def drawRange(d, operator):
    dtype = d.dtype(operator)
    start, count, step = d.integer(-9, 9), d.integer(0, 19), d.choose(1, 2, 3, -1, -2)
    d.node(operator, [d.operand(numpy.array(value, dtype)) for value in (start, start + count * step, step)])


def drawEyeLike(d, operator):
    dtype = d.dtype(operator, -1)
    x = d.input(d.dtype(operator), d.shape(2, 2))
    d.node(operator, [x], dtypes=[dtype], k=d.integer(-3, 3), dtype=toOnnx(dtype))


def drawConstantOfShape(d, operator):
    dtype = d.dtype(operator, -1)
    value = onnx.numpy_helper.from_array(d.numbers(dtype, (1,), isConstant=True))
    d.node(operator, [d.operand(_indices(list(d.shape())))], dtypes=[dtype], value=value)


def drawShape(d, operator):
    shape = d.shape()
    limits = {"start": d.integer(-5, 5), "end": d.integer(-5, 5)} if operator == "Shape" and d.opset >= 15 and d.chance(0.6) else {}
    d.node(operator, [d.input(d.dtype(operator), shape)], dtypes=[INT64], **limits)


def drawReverseSequence(d, operator):
    shape = d.shape(low_rank=2, low=1)
    batch = d.choose(0, 1)
    lengths = d.numbers(INT64, (int(shape[batch]),), low=1, high=int(shape[1 - batch]), isConstant=True)
    d.node(operator, [d.input(d.dtype(operator), shape, "special"), d.operand(lengths)], batch_axis=batch, time_axis=1 - batch)


OPERATORS = {
    "Reshape": drawReshape,
    "Transpose": drawTranspose,
    "Slice": drawSlice,
    "Split": drawSplit,
    "Pad": drawPad,
    "Concat": drawConcat,
    "Gather": drawGather,
    "GatherElements": drawGatherElements,
    "GatherND": drawGatherND,
    "ScatterND": drawScatterND,
    "ScatterElements": drawScatterElements,
    "Tile": drawTile,
    "Expand": drawExpand,
    "Squeeze": drawSqueeze,
    "Unsqueeze": drawUnsqueeze,
    "Flatten": drawFlatten,
    "DepthToSpace": drawDepthToSpace,
    "SpaceToDepth": drawSpaceToDepth,
    "Trilu": drawTrilu,
    "OneHot": drawOneHot,
    "Range": drawRange,
    "EyeLike": drawEyeLike,
    "ConstantOfShape": drawConstantOfShape,
    **dict.fromkeys(("Shape", "Size"), drawShape),
    "ReverseSequence": drawReverseSequence,
}
