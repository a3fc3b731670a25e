# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Draws one case: what an operator gets, from a seed.

A case is drawn several times, each a take: its structure (nodes, ranks, types, attributes, constants) is the same in all of them, its
values are not, and neither are the sizes of dimensions that are open. So one compiled model is run at several sizes.
"""

import random
import zlib

import ml_dtypes
import numpy
import onnx
from onnx import helper

# Empty, one, primes, and the neighbours of vectors' lengths.
SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 7, 7, 8, 9, 11, 13, 16, 17, 19, 31, 33)
LARGE_SIZES = (64, 67, 127, 257, 1009)

NUMBERS = {
    name: numpy.dtype(name)
    for name in ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool")
} | {"bfloat16": numpy.dtype(ml_dtypes.bfloat16)}
ONNX_NAMES = {"float": "float32", "double": "float64"}


class Size(int):
    """A size of a dimension, with the name of its symbol where it is open."""

    name = None


def makeSize(value, name=None):
    size = Size(value)
    size.name = name
    return size


def isFloat(dtype):
    return dtype.kind == "f" or dtype == NUMBERS["bfloat16"]


def isInteger(dtype):
    return dtype.kind in "iu"


class Draw:
    def __init__(self, seed, family, number, opset, take, hasConstants=True):
        word = f"{seed} {family} {number}"
        self.name, self.opset, self._hasConstants = f"{family}-{number}", opset, hasConstants
        self.structure = random.Random(word)
        self._sizes = random.Random(f"{word} sizes {take}")
        self._values = numpy.random.default_rng(zlib.crc32(f"{word} values {take}".encode()))
        self._constants = numpy.random.default_rng(zlib.crc32(f"{word} constants".encode()))
        self._isOpen = self.structure.random() < 0.35
        self._openSizes = 0
        self.nodes, self.inputs, self.dims, self.constants, self.outputs, self.functions = [], {}, {}, {}, [], []
        # Results that a family computes itself, by name; the evaluator computes all others.
        self.expected = {}
        # How results may differ: `isWhole`, from the largest of a tensor rather than from each element; `slack`, how much more than
        # the precision of the type allows; `steps`, how many units a rounded integer may be away. `isWidened`: the reference
        # computes with floats of 32 bits what has fewer. `isSingle`: constants inside have 32 bits, whatever the type.
        self.isWhole, self.slack, self.steps, self.isWidened, self.isSingle = False, 1.0, 0, True, False

    # Structure

    def chance(self, probability):
        return self.structure.random() < probability

    def choose(self, *options):
        return self.structure.choice(options)

    def integer(self, low, high):
        return self.structure.randint(low, high)

    def real(self, low, high):
        """A number that a float of 32 bits holds."""
        return float(numpy.float32(self.structure.uniform(low, high)))

    def axis(self, rank):
        return self.integer(-rank, rank - 1)

    def axes(self, rank, low=1):
        """Some different axes, of either sign, in any order."""
        chosen = self.structure.sample(range(rank), self.integer(min(low, rank), rank))
        return [axis - rank if self.chance(0.3) else axis for axis in chosen]

    def dtype(self, operator, place=0, only=None):
        """One of the types that the schema allows for an input, the common ones more often. `place` -1 is the output."""
        schema = onnx.defs.get_schema(operator, self.opset)
        types = (schema.outputs[0] if place < 0 else schema.inputs[place]).types
        names = sorted(text[len("tensor(") : -1] for text in types)
        allowed = [ONNX_NAMES.get(name, name) for name in names]
        allowed = [name for name in allowed if name in NUMBERS and (only is None or only(NUMBERS[name]))]
        common = [name for name in ("float32", "int64", "int32") if name in allowed]
        return NUMBERS[self.choose(*common) if common and self.chance(0.4) else self.choose(*allowed)]

    # Sizes

    def size(self, low=0, high=33):
        """A size within the limits; an open one in some cases."""
        allowed = [value for value in SIZES if low <= value <= high] or [low]
        fixed, isOpen = self.choose(*allowed), self.chance(0.6)
        if not (self._isOpen and isOpen):
            return makeSize(fixed)
        self._openSizes += 1
        return makeSize(self._sizes.choice(allowed), f"{self.name}.n{self._openSizes}")

    def openSizes(self, *choices):
        """Sizes that are open whatever the case, of one of the choices, which are tuples of as many. Each take has its own."""
        chosen = self._sizes.choice(choices)
        self._openSizes += len(chosen)
        return [makeSize(value, f"{self.name}.n{self._openSizes - i}") for i, value in enumerate(chosen)]

    def shape(self, low_rank=0, high_rank=4, low=0, high=33):
        """A shape of some 20,000 elements at most; in rare cases one dimension is long."""
        shape = [self.size(low, high if rank < 2 else min(high, 7)) for rank in range(self.integer(low_rank, high_rank))]
        if shape and self.chance(0.05) and high >= 33:
            shape[-1] = makeSize(self.choose(*LARGE_SIZES))
        return shape

    def operandOf(self, shape):
        """A shape that broadcasts to `shape`."""
        own = [makeSize(1) if self.chance(0.25) else size for size in shape]
        return own[self.integer(0, len(own)) :] if self.chance(0.35) else own

    # Values

    def numbers(self, dtype, shape, kind="plain", low=None, high=None, isConstant=False):
        """`kind` of floats: plain, special (with NaN, infinities, zeros of both signs), positive, unit (-1..1), whole."""
        source = self._constants if isConstant else self._values
        count = int(numpy.prod(shape, dtype=numpy.int64))
        if dtype.kind == "b":
            return (source.random(count) < 0.5).reshape(shape)
        if isInteger(dtype):
            return self._integers(source, dtype, count, kind, low, high).reshape(shape)
        bounds = {"positive": (0.05, 4.0), "unit": (-1.0, 1.0)}.get(kind, (-4.0, 4.0))
        values = source.uniform(bounds[0] if low is None else low, bounds[1] if high is None else high, count)
        if kind == "whole":
            values = numpy.round(values)
        if kind == "special":
            chosen = source.random(count)
            specials = source.choice([numpy.nan, numpy.inf, -numpy.inf, -0.0, 0.0, 1.0, -1.0, 0.5, -2.5, 1e4], count)
            values = numpy.where(chosen < 0.15, specials, values)
        return values.astype(dtype).reshape(shape)

    def _integers(self, source, dtype, count, kind, low, high):
        limits = numpy.iinfo(dtype)
        if kind == "special":
            anywhere = source.integers(limits.min, limits.max, count, dtype=dtype, endpoint=True)
            extremes = source.choice(numpy.array([limits.min, limits.max, 0, 1], dtype), count)
            return numpy.where(source.random(count) < 0.15, extremes, anywhere)
        low = max(limits.min, -9 if kind != "positive" else 1) if low is None else low
        return source.integers(low, 9 if high is None else high, count, endpoint=True).astype(dtype)

    # Operands

    def input(self, dtype, shape, kind="plain", **options):
        """The name of an input of random numbers, in few cases of a constant."""
        isConstant = self.chance(0.1) and self._hasConstants and not any(getattr(size, "name", None) for size in shape)
        return self.given(self.numbers(dtype, shape, kind, isConstant=isConstant, **options), shape, isConstant)

    def weight(self, dtype, shape, kind="unit", **options):
        """The name of a constant of random numbers, as layers have them; an input where constants do not survive."""
        return self.given(self.numbers(dtype, shape, kind, isConstant=True, **options), shape, self._hasConstants)

    def constant(self, value):
        return self.given(numpy.asarray(value), isConstant=True)

    def operand(self, value, dims=None):
        """`value` as a constant or as an input: axes, sizes, indices. As a constant it must not depend on the take."""
        return self.given(numpy.asarray(value), dims, self.chance(0.5))

    def getSizes(self):
        """The dimensions of inputs that are open, by name, with their sizes here."""
        for dims in self.dims.values():
            for dim in dims:
                if getattr(dim, "name", None):
                    yield dim.name, int(dim)

    def given(self, value, dims=None, isConstant=False):
        name = f"{self.name}.{'c' if isConstant else 'x'}{len(self.inputs) + len(self.constants)}"
        if isConstant:
            self.constants[name] = value
        else:
            self.inputs[name] = value
            self.dims[name] = list(value.shape if dims is None else dims)
        return name

    # Nodes

    def node(self, operator, inputs, outputs=1, dtypes=None, isResult=True, **attributes):
        """Adds a node. `dtypes`: of its outputs, where that is not the type of its first input. Returns their names."""
        names = [f"{self.name}.y{len(self.nodes)}_{place}" for place in range(outputs)]
        attributes = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(helper.make_node(operator, inputs, names, name=self.name, **attributes))
        if isResult:
            dtypes = dtypes or [self.dtypeOf(inputs[0])] * outputs
            self.outputs += zip(names, dtypes)
        return names[0] if outputs == 1 else names

    def dtypeOf(self, name):
        return (self.inputs[name] if name in self.inputs else self.constants[name]).dtype


def toOnnx(dtype):
    return helper.np_dtype_to_tensor_dtype(dtype)
