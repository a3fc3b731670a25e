# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Softmax and its kin, and normalisations; composites among them, which are compared with their decompositions, too."""

from draw import NUMBERS, isFloat
from onnx import TensorProto

# No operation has a path of its own error: measuring one would only take time.
OPTIONS = ("--no-measure-error",)


def _addNode(d, operator, operands, **attributes):
    """A node of lines, whose result may become halves at once: then there is no memory for lines of its own type."""
    if d.dtypeOf(operands[0]) != NUMBERS["float32"] or d.chance(0.4):
        return d.node(operator, operands, **attributes)
    value = d.node(operator, operands, isResult=False, **attributes)
    return d.node("Cast", [value], dtypes=[NUMBERS["float16"]], to=TensorProto.FLOAT16)


def drawSoftmax(d, operator):
    shape = d.shape(low_rank=1, low=1)
    x = d.input(d.dtype(operator), shape)
    d.isWhole, d.isSingle, d.slack = True, True, 4
    _addNode(d, operator, [x], axis=d.axis(len(shape)) if d.chance(0.8) else None)


def drawHardmax(d, operator):
    shape = d.shape(low_rank=1, low=1)
    d.node(operator, [d.input(d.dtype(operator), shape, "whole")], axis=d.axis(len(shape)))


def _parameters(d, dtype, shape, *kinds):
    return [d.input(dtype, shape, kind) for kind in kinds]


def drawLayerNorm(d, operator):
    shape = d.shape(low_rank=1, low=1)
    axis, dtype = d.axis(len(shape)), d.dtype(operator)
    x = d.input(dtype, shape)
    operands = [x, *_parameters(d, dtype, shape[axis:], "plain", "plain")]
    d.isWhole, d.isSingle, d.slack = True, True, 10
    operands = operands[: 2 if operator == "RMSNormalization" or d.chance(0.3) else 3]
    _addNode(d, operator, operands, axis=axis, epsilon=d.choose(None, 0.01))


def drawBatchNorm(d, operator):
    shape = d.shape(low_rank=2, low=1)
    dtype = d.dtype(operator)
    operands = [d.input(dtype, shape), *_parameters(d, dtype, shape[1:2], "plain", "plain", "plain", "positive")]
    d.isWhole, d.isSingle, d.slack = True, True, 10
    d.node(operator, operands, epsilon=d.choose(None, 0.01))


def drawInstanceNorm(d, operator):
    shape = d.shape(low_rank=3, low=1)
    shape[-1] = d.size(2, 33)
    dtype = d.dtype(operator)
    operands = [d.input(dtype, shape), *_parameters(d, dtype, shape[1:2], "plain", "plain")]
    d.isWhole, d.isSingle, d.slack = True, True, 40
    d.node(operator, operands, epsilon=d.choose(None, 0.01))


def drawGroupNorm(d, operator):
    groups, each = d.integer(1, 4), d.integer(1, 4)
    shape = [d.size(1, 5), groups * each, *d.shape(1, 2, 2, 9)]
    dtype = d.dtype(operator)
    # Until opset 20 there was one scale a group.
    channels = [groups * each if d.opset >= 21 else groups]
    operands = [d.input(dtype, shape), *_parameters(d, dtype, channels, "plain", "plain")]
    d.isWhole, d.isSingle, d.slack = True, True, 40
    d.node(operator, operands, num_groups=groups, epsilon=d.choose(None, 0.01))


def drawLpNorm(d, operator):
    shape = d.shape(low_rank=1, low=1)
    d.isWhole, d.isSingle, d.slack = True, True, 4
    d.node(operator, [d.input(d.dtype(operator), shape, "positive")], axis=d.axis(len(shape)), p=d.choose(1, 2))


def drawMeanVariance(d, operator):
    shape = d.shape(low_rank=4, low=2)
    d.isWhole, d.isSingle, d.slack = True, True, 40
    d.node(operator, [d.input(d.dtype(operator, only=isFloat), shape)], axes=sorted(axis % 4 for axis in d.axes(4)))


def drawFunction(d, operator):
    d.isSingle = True
    approximate = d.choose("none", "tanh") if operator == "Gelu" else None
    d.node(operator, [d.input(d.dtype(operator), d.shape())], approximate=approximate)


# What becomes one operation of the dialect: run a second time, as the atoms that it stands for.
COMPOSITES = {
    **dict.fromkeys(("Softmax", "LogSoftmax"), drawSoftmax),
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), drawLayerNorm),
    "BatchNormalization": drawBatchNorm,
    "InstanceNormalization": drawInstanceNorm,
    "GroupNormalization": drawGroupNorm,
    **dict.fromkeys(("Sigmoid", "Relu", "Gelu"), drawFunction),
}

OPERATORS = {**COMPOSITES, "Hardmax": drawHardmax, "LpNormalization": drawLpNorm, "MeanVarianceNormalization": drawMeanVariance}
