# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tensors in plain Python: a shape, a type and a flat list; and as .npy files."""

import ast
import itertools
import math
import random
import struct

# Format character of struct, NumPy's name, ONNX's number.
TYPES = {
    "f32": ("f", "<f4", 1),
    "i32": ("i", "<i4", 6),
    "i64": ("q", "<i8", 7),
    "bool": ("?", "|b1", 9),
    "f64": ("d", "<f8", 11),
    "u8": ("B", "|u1", 2),
}


def count(shape):
    return math.prod(shape)


def strides(shape):
    result, step = [], 1
    for dim in reversed(shape):
        result.insert(0, step)
        step *= dim
    return result


def indices(shape):
    return itertools.product(*(range(dim) for dim in shape))


class Tensor:
    def __init__(self, shape, data, dtype="f32"):
        self.shape, self.dtype = tuple(shape), dtype
        # What the file holds is what the reference computes with.
        self.data = [struct.unpack("<f", struct.pack("<f", x))[0] for x in data] if dtype == "f32" else list(data)
        assert len(self.data) == count(self.shape), (self.shape, len(self.data))
        self._strides = strides(self.shape)

    def at(self, index):
        return self.data[sum(i * s for i, s in zip(index, self._strides))]

    def toBytes(self):
        return struct.pack(f"<{len(self.data)}{TYPES[self.dtype][0]}", *self.data)


def build(shape, function, dtype="f32"):
    """The tensor whose element at `index` is function(index)."""
    return Tensor(shape, [function(index) for index in indices(shape)], dtype)


def randoms(seed, *shape, low=-1.0, high=1.0):
    generator = random.Random(f"{seed} {shape}")
    return Tensor(shape, [generator.uniform(low, high) for _ in range(count(shape))])


def integers(values, shape=None, dtype="i64"):
    return Tensor((len(values),) if shape is None else shape, values, dtype)


def writeNpy(path, tensor):
    shape = "(" + "".join(f"{dim}, " for dim in tensor.shape) + ")"
    header = f"{{'descr': '{TYPES[tensor.dtype][1]}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + tensor.toBytes())


def readNpy(path):
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", path
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + size].decode())
    dtype = next(name for name, (_, descr, _) in TYPES.items() if descr == header["descr"])
    values = struct.unpack(f"<{count(header['shape'])}{TYPES[dtype][0]}", data[10 + size :])
    return Tensor(header["shape"], values, dtype)
