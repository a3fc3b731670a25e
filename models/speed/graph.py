# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A graph that is written down operator by operator, with random weights, and counts its multiplications.

    g = Graph("tiny")
    x = g.input("x", [1, 3, 8, 8], symbols={0: "N"})
    g.output("y", g.relu(g.conv(x, 16, 3)), symbols={0: "N"})
    g.write("tiny.onnx")

Every value knows its shape for the sizes that are measured; dimensions with a symbol stay open in the file.
"""

import collections
import contextlib
import functools
import itertools
import json
import math
import pathlib
import random
import struct
import sys
from typing import NamedTuple

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "test" / "e2e"))

import onnx_writer
import tensors

OPSET = 21


class Value(NamedTuple):
    name: str
    shape: tuple


class Weight(NamedTuple):
    """What the writer needs of a tensor."""

    shape: tuple
    data: bytes
    dtype: str = "f32"

    def toPackedBytes(self):
        return self.data


class RandomWeights:
    """Normal numbers out of one pool, from which pieces are taken at random: a gigabyte is a matter of seconds
    in plain Python, and no two tensors are the same."""

    POOL, PIECE = 1 << 16, 1 << 12

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.pool = [self.random.gauss(0, 1) for _ in range(self.POOL)]

    @functools.lru_cache(maxsize=64)
    def _scaled(self, mean, deviation):
        return struct.pack(f"<{self.POOL}f", *(mean + deviation * x for x in self.pool))

    def make(self, shape, mean, deviation):
        source, count = self._scaled(mean, deviation), math.prod(shape)
        starts = (self.random.randrange(self.POOL - self.PIECE) for _ in range(0, count, self.PIECE))
        data = b"".join(source[4 * at : 4 * (at + self.PIECE)] for at in starts)
        return Weight(tuple(shape), data[: 4 * count])


def broadcast(shapes):
    """The shape that NumPy's rules give."""
    columns = itertools.zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1)
    return tuple(reversed([max(column) for column in columns]))


class Graph:
    def __init__(self, name):
        self.name = name
        self.weights = RandomWeights(name)
        self.nodes, self.inputs, self.outputs, self.constants = [], [], [], {}
        self.measured = []
        self.flop = 0
        self.read = set()  # names of what a run reads as a whole: of a table in which it looks up, it reads little
        self._scope, self._uses = [], collections.Counter()

    # --- Names, values and the file ---------------------------------------------------------------------

    @contextlib.contextmanager
    def scope(self, name):
        self._scope.append(str(name))
        yield
        self._scope.pop()

    def _named(self, word):
        name = "/".join(self._scope + [word])
        self._uses[name] += 1
        return name if self._uses[name] == 1 else f"{name}_{self._uses[name]}"

    def input(self, name, shape, dtype="f32", symbols={}):
        self.inputs.append((name, dtype, [symbols.get(i, dim) for i, dim in enumerate(shape)]))
        self.measured.append({"name": name, "dtype": dtype, "shape": list(shape)})
        return Value(name, tuple(shape))

    def output(self, name, value, dtype="f32", symbols={}):
        self.nodes.append(onnx_writer.node("Identity", [value.name], [name]))
        self.outputs.append((name, dtype, [symbols.get(i, dim) for i, dim in enumerate(value.shape)]))

    def _constant(self, name, tensor):
        self.constants[name] = tensor
        return Value(name, tuple(tensor.shape))

    def weight(self, *shape, mean=0.0, deviation=None, name="weight"):
        """Scaled by the inputs of each result, all dimensions but the first, where nothing else is said."""
        deviation = 1 / math.sqrt(math.prod(shape[1:])) if deviation is None else deviation
        return self._constant(self._named(name), self.weights.make(shape, mean, deviation))

    def floats(self, values, shape=None):
        return self._constant(self._named("floats"), tensors.Tensor((len(values),) if shape is None else shape, values))

    def scalar(self, value):
        return self.floats([value], ())

    def integers(self, *values):
        return self._constant(self._named("integers"), tensors.integers(values))

    def call(self, operator, *inputs, shape=None, **attributes):
        """One node with one result, whose shape is that of all inputs broadcast where none is said."""
        name = self._named(operator)
        self.read |= {x.name for x in inputs if x and operator != "Gather"}
        self.nodes.append(onnx_writer.node(operator, [x.name if x else "" for x in inputs], [name], **attributes))
        return Value(name, tuple(shape) if shape is not None else broadcast([x.shape for x in inputs]))

    def write(self, path):
        path = pathlib.Path(path)
        onnx_writer.write(path, onnx_writer.model(self.nodes, self.inputs, self.outputs, self.constants, OPSET))
        weights = {name: len(w.data) for name, w in self.constants.items() if isinstance(w, Weight)}
        read = sum(size for name, size in weights.items() if name in self.read)
        about = {"name": self.name, "gflop": self.flop / 1e9, "weight_bytes": sum(weights.values()), "read_bytes": read,
                 "inputs": self.measured}
        path.with_suffix(".json").write_text(json.dumps(about, indent=1) + "\n")

    # --- Layers -----------------------------------------------------------------------------------------

    def matmul(self, a, b):
        shape = broadcast([a.shape[:-2], b.shape[:-2]]) + (a.shape[-2], b.shape[-1])
        self.flop += 2 * math.prod(shape) * a.shape[-1]
        return self.call("MatMul", a, b, shape=shape)

    def linear(self, x, features, bias=True):
        w = self.weight(x.shape[-1], features, deviation=1 / math.sqrt(x.shape[-1]))
        y = self.matmul(x, w)
        return self.add(y, self.weight(features, deviation=0.02, name="bias")) if bias else y

    def conv(self, x, channels, kernel=1, stride=1, groups=1, bias=True):
        n, c, h, w = x.shape
        pad = (kernel - 1) // 2
        weight = self.weight(channels, c // groups, kernel, kernel)
        inputs = [x, weight] + ([self.weight(channels, deviation=0.02, name="bias")] if bias else [])
        shape = (n, channels, *((d + 2 * pad - kernel) // stride + 1 for d in (h, w)))
        self.flop += 2 * math.prod(shape) * math.prod(weight.shape[1:])
        return self.call("Conv", *inputs, shape=shape, group=groups, kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2)

    def batchNorm(self, x):
        channels = x.shape[1]
        scale = self.weight(channels, mean=1.0, deviation=0.05, name="scale")
        shift, mean = (self.weight(channels, deviation=0.05, name=name) for name in ("shift", "mean"))
        variance = self.weight(channels, mean=1.0, deviation=0.05, name="variance")
        return self.call("BatchNormalization", x, scale, shift, mean, variance, shape=x.shape)

    def groupNorm(self, x, groups):
        scale, shift = self._affine(x.shape[1])
        return self.call("GroupNormalization", x, scale, shift, shape=x.shape, num_groups=groups)

    def layerNorm(self, x):
        scale, shift = self._affine(x.shape[-1])
        return self.call("LayerNormalization", x, scale, shift, shape=x.shape, axis=-1, epsilon=1e-5)

    def _affine(self, count):
        return self.weight(count, mean=1.0, deviation=0.05, name="scale"), self.weight(count, deviation=0.05, name="shift")

    def rmsNorm(self, x):
        square = self.mul(x, x)
        mean = self.call("ReduceMean", square, self.integers(-1), shape=x.shape[:-1] + (1,), keepdims=1)
        root = self.call("Sqrt", self.add(mean, self.scalar(1e-6)))
        return self.mul(self.call("Div", x, root), self.weight(x.shape[-1], mean=1.0, deviation=0.05, name="scale"))

    def maxPool(self, x, kernel, stride):
        pad = (kernel - 1) // 2
        shape = x.shape[:2] + tuple((d + 2 * pad - kernel) // stride + 1 for d in x.shape[2:])
        return self.call("MaxPool", x, shape=shape, kernel_shape=[kernel] * 2, pads=[pad] * 4, strides=[stride] * 2)

    def meanOfImage(self, x):
        return self.call("GlobalAveragePool", x, shape=x.shape[:2] + (1, 1))

    def upsample(self, x):
        scales = self.floats([1.0, 1.0, 2.0, 2.0])
        n, c, h, w = x.shape
        return self.call("Resize", x, None, scales, shape=(n, c, 2 * h, 2 * w), mode="nearest",
                         coordinate_transformation_mode="asymmetric", nearest_mode="floor")

    # --- Operators --------------------------------------------------------------------------------------

    def add(self, a, b):
        return self.call("Add", a, b)

    def mul(self, a, b):
        return self.call("Mul", a, b)

    def relu(self, x):
        return self.call("Relu", x)

    def silu(self, x):
        return self.mul(x, self.call("Sigmoid", x))

    def hardSwish(self, x):
        return self.call("HardSwish", x)

    def gelu(self, x, approximate="none"):
        return self.call("Gelu", x, approximate=approximate)

    def softmax(self, x, axis=-1):
        return self.call("Softmax", x, axis=axis)

    def transpose(self, x, *order):
        return self.call("Transpose", x, shape=[x.shape[i] for i in order], perm=list(order))

    def reshape(self, x, *shape):
        """As ONNX has it: 0 keeps a dimension, -1 stands for the rest."""
        dims = [x.shape[i] if dim == 0 else dim for i, dim in enumerate(shape)]
        rest = math.prod(x.shape) // -math.prod(dims) if -1 in dims else 0
        return self.call("Reshape", x, self.integers(*shape), shape=[rest if dim == -1 else dim for dim in dims])

    def unsqueeze(self, x, *axes):
        shape = list(x.shape)
        for axis in sorted(axes):
            shape.insert(axis, 1)
        return self.call("Unsqueeze", x, self.integers(*axes), shape=shape)

    def concat(self, values, axis):
        shape = list(values[0].shape)
        shape[axis] = sum(value.shape[axis] for value in values)
        return self.call("Concat", *values, shape=shape, axis=axis)

    def slice(self, x, axis, start, end):
        shape = list(x.shape)
        shape[axis] = end - start
        bounds = (self.integers(number) for number in (start, end, axis))
        return self.call("Slice", x, *bounds, shape=shape)

    def split(self, x, axis, count):
        size = x.shape[axis] // count
        return [self.slice(x, axis, i * size, (i + 1) * size) for i in range(count)]

    def gather(self, table, indices, axis=0):
        shape = table.shape[:axis] + indices.shape + table.shape[axis + 1 :]
        return self.call("Gather", table, indices, shape=shape, axis=axis)

    def cast(self, x, dtype):
        return self.call("Cast", x, to=tensors.TYPES[dtype][2])
