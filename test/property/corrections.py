# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Operators as the specification has them, where the evaluator of onnx 1.22.0 computes something else or stops."""

import math

import numpy
import windows
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_loop, op_scan


class BatchNormalization(OpRun):
    """Of opset 9, with one output: inference. The evaluator mixes in the statistics of the batch."""

    op_domain = ""

    def _run(self, x, scale, bias, mean, variance, epsilon=None, **others):
        wide = lambda value: value.reshape(-1, *(1,) * (x.ndim - 2))
        return ((wide(scale) * (x - wide(mean)) / numpy.sqrt(wide(variance) + epsilon) + wide(bias)).astype(x.dtype),)


class Erf(OpRun):
    """The evaluator rounds to 32 bits."""

    op_domain = ""

    def _run(self, x):
        return (numpy.asarray(numpy.vectorize(math.erf, otypes=["d"])(x)).astype(x.dtype),)


class Mean(OpRun):
    """The evaluator broadcasts to its first operand alone."""

    op_domain = ""

    def _run(self, *operands):
        return ((sum(operands[1:], operands[0]) / len(operands)).astype(operands[0].dtype),)


class Softsign(OpRun):
    """The evaluator stops at scalars."""

    op_domain = ""

    def _run(self, x):
        return (numpy.asarray(x / (1 + numpy.abs(x))),)


class Gather(OpRun):
    """The evaluator loses the shape of nothing."""

    op_domain = ""

    def _run(self, x, indices, axis=None):
        return (numpy.take(x, indices.astype(numpy.int64), axis or 0),)


class GatherElements(OpRun):
    """The evaluator loses the shape of nothing, and wants as many indices as elements."""

    op_domain = ""

    def _run(self, x, indices, axis=None):
        places = list(numpy.indices(indices.shape))
        places[axis or 0] = indices.astype(numpy.int64)
        return (x[tuple(places)],)


class Flatten(OpRun):
    """The evaluator stops at nothing."""

    op_domain = ""

    def _run(self, x, axis=None):
        rows, columns = (numpy.prod(each, dtype=numpy.int64) for each in (x.shape[:axis], x.shape[axis:]))
        return (x.reshape(rows, columns),)


class ScatterND(OpRun):
    """The evaluator takes extremes of single elements alone."""

    op_domain = ""

    def _run(self, x, indices, updates, reduction=None):
        result, places = x.copy(), tuple(numpy.moveaxis(indices, -1, 0))
        reductions = {"add": numpy.add, "mul": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum}
        if reduction in reductions:
            reductions[reduction].at(result, places, updates)
        else:
            result[places] = updates
        return (result,)


class Pad(OpRun):
    """The evaluator stops where elements are taken away."""

    op_domain = ""

    def _run(self, x, pads, value=None, axes=None, mode=None):
        chosen = range(x.ndim) if axes is None else [int(axis) % x.ndim for axis in axes]
        for axis, low, high in zip(chosen, pads, pads[len(chosen) :]):
            x = x.take(range(max(0, -low), x.shape[axis] - max(0, -high)), axis)
            border = [(max(0, low), max(0, high)) if place == axis else (0, 0) for place in range(x.ndim)]
            options = {"constant_values": 0 if value is None else value.item()} if mode == "constant" else {}
            x = numpy.pad(x, border, mode, **options)
        return (x,)


class OneHot(OpRun):
    """The evaluator takes the remainder of indices that are out of range, which the specification gives the value for "off"."""

    op_domain = ""

    def _run(self, indices, depth, values, axis=None):
        depth, rank = int(numpy.asarray(depth).reshape(())), indices.ndim + 1
        places = numpy.arange(depth).reshape([-1 if i == axis % rank else 1 for i in range(rank)])
        wanted = numpy.expand_dims(numpy.where(indices < 0, indices + depth, indices), axis)
        return (numpy.where(places == wanted, values[1], values[0]).astype(values.dtype),)


class Range(OpRun):
    """The evaluator has no elements where the distance overflows."""

    op_domain = ""

    def _run(self, start, limit, delta):
        if start.dtype.kind == "f":
            return (numpy.arange(start, limit, delta, start.dtype),)
        return (numpy.array(range(int(start), int(limit), int(delta)), start.dtype),)


class Shape(OpRun):
    """The evaluator counts an end before the first dimension from the last one again."""

    op_domain = ""

    def _run(self, x, start=None, end=None):
        return (numpy.array(x.shape[slice(start, end)], numpy.int64),)


class Trilu(OpRun):
    """The evaluator stops at diagonals beyond any matrix."""

    op_domain = ""

    def _run(self, x, k=0, upper=None):
        diagonal = int(numpy.clip(int(k or 0), -x.shape[-2] - 1, x.shape[-1] + 1))
        return ((numpy.triu if upper else numpy.tril)(x, diagonal).astype(x.dtype),)


class RNN(OpRun):
    """One direction with tanh. The evaluator loses dimensions of 1, and stops where there is a first state."""

    op_domain = ""

    def _run(self, x, w, r, b=None, lengths=None, state=None, hidden_size=None, **others):
        bias = 0 if b is None else b[0, :hidden_size] + b[0, hidden_size:]
        hidden = numpy.zeros((x.shape[1], hidden_size), x.dtype) if state is None else state[0]
        steps = []
        for step in x:
            hidden = numpy.tanh(step @ w[0].T + hidden @ r[0].T + bias)
            steps.append(hidden)
        return numpy.stack(steps)[:, None], hidden[None]


# These two are put in place of the evaluator's own, for it hands no operators on to model-local functions.


def _patchLoop(run=op_loop.Loop._run):
    """A condition that is left out is true. The evaluator takes it for false."""
    op_loop.Loop._run = lambda self, trips, condition, *others, **options: run(
        self, trips, numpy.array(True) if condition is None else condition, *others, **options
    )


def _patchScan(run=op_scan.Scan._run):
    """The evaluator does not tell the body what attributes the function around has."""

    def runScan(self, *operands, attributes=None, **options):
        if not self.has_linked_attribute:
            return run(self, *operands, **options)
        self._run_body = lambda inputs: self._evaluate_subgraph(inputs, self.body, attributes)
        return run(self, *operands, **options)

    op_scan.Scan._run = runScan


_patchLoop()
_patchScan()

CORRECTIONS = [Erf, Flatten, Gather, GatherElements, Mean, OneHot, Pad, RNN, Range, ScatterND, Shape, Softsign, Trilu, *windows.OPERATORS]


def correctionsFor(opset):
    return [*CORRECTIONS, BatchNormalization] if opset < 14 else CORRECTIONS
