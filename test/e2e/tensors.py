# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tensors in plain Python: a shape, a type and a flat list; and as .npy files."""

import ast
import itertools
import math
import random
import struct

# Format character of struct, NumPy's name (or what stands for it in a file), ONNX's number.
TYPES = {
    "f32": ("f", "<f4", 1),
    "u8": ("B", "|u1", 2),
    "i8": ("b", "|i1", 3),
    "i32": ("i", "<i4", 6),
    "i64": ("q", "<i8", 7),
    "bool": ("?", "|b1", 9),
    "f16": ("e", "<f2", 10),
    "f64": ("d", "<f8", 11),
    # Elements of the rest of the floats are their codes.
    "bf16": ("H", "<V2", 16),
    "f8e4m3fn": ("B", "|V1", 17),
    "f8e4m3fnuz": ("B", "|V1", 18),
    "f8e5m2": ("B", "|V1", 19),
    "f8e5m2fnuz": ("B", "|V1", 20),
    "u4": ("B", "|u1", 21),
    "i4": ("b", "|i1", 22),
    "f4e2m1": ("B", "|u1", 23),
    "f8e8m0": ("B", "|V1", 24),
    "u2": ("B", "|u1", 25),
    "i2": ("b", "|i1", 26),
}

# Types of which ONNX puts several elements into a byte.
PACKED_BITS = {"u4": 4, "i4": 4, "f4e2m1": 4, "u2": 2, "i2": 2}


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

    def toPackedBytes(self):
        """As raw_data of ONNX has them: the first element of a byte at its low end."""
        bits = PACKED_BITS.get(self.dtype, 8)
        if bits == 8:
            return self.toBytes()
        packed = bytearray(-(-len(self.data) * bits // 8))
        for place, value in enumerate(self.data):
            packed[place * bits // 8] |= (value & (1 << bits) - 1) << place * bits % 8
        return bytes(packed)


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


def readNpy(path, wanted=None):
    """`wanted` decides where a file may hold several types."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\x01\x00", path
    size = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10 : 10 + size].decode())
    names = [name for name, (_, descr, _) in TYPES.items() if descr == header["descr"]]
    dtype = wanted if wanted in names else names[0]
    values = struct.unpack(f"<{count(header['shape'])}{TYPES[dtype][0]}", data[10 + size :])
    return Tensor(header["shape"], values, dtype)
