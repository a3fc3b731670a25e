# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes ONNX models, so that a test can say in a few lines which one it wants.

    node("Add", ["x", "y"], ["z"])
    model([...nodes], inputs=[("x", "f32", ["N", 3])], outputs=[("z", "f32", ["N", 3])], constants={"y": Tensor})

Nothing is checked: broken models are wanted, too. Field numbers are those of onnx.proto.
"""

import struct

import tensors


def _varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def integer(number, value):
    return _varint(number << 3) + _varint(value)


def block(number, value):
    value = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def tensor(value, name=""):
    body = b"".join(integer(1, dim) for dim in value.shape) + integer(2, tensors.TYPES[value.dtype][2])
    return body + (block(8, name) if name else b"") + block(9, value.toPackedBytes())


class Graph:
    """The body of a loop or a branch, as an attribute of a node."""

    def __init__(self, nodes, inputs, outputs, name="body"):
        self.data = b"".join(block(1, body) for body in nodes) + block(2, name)
        self.data += b"".join(block(11, _valueInfo(*value)) for value in inputs)
        self.data += b"".join(block(12, _valueInfo(*value)) for value in outputs)


def _attribute(name, value):
    body = block(1, name)
    if isinstance(value, Graph):
        return body + block(6, value.data) + integer(20, 5)
    if isinstance(value, float):
        return body + _varint(2 << 3 | 5) + struct.pack("<f", value) + integer(20, 1)
    if isinstance(value, int):
        return body + integer(3, value) + integer(20, 2)
    if isinstance(value, str):
        return body + block(4, value) + integer(20, 3)
    if isinstance(value, tensors.Tensor):
        return body + block(5, tensor(value)) + integer(20, 4)
    if value and isinstance(value[0], float):
        return body + b"".join(_varint(7 << 3 | 5) + struct.pack("<f", x) for x in value) + integer(20, 6)
    if value and isinstance(value[0], str):
        return body + b"".join(block(9, x) for x in value) + integer(20, 8)
    return body + b"".join(integer(8, x) for x in value) + integer(20, 7)


def node(operator, inputs, outputs, name="", domain="", **attributes):
    body = b"".join(block(1, value) for value in inputs) + b"".join(block(2, value) for value in outputs)
    body += block(3, name or outputs[0]) + block(4, operator)
    body += b"".join(block(5, _attribute(key, value)) for key, value in attributes.items() if value is not None)
    return body + (block(7, domain) if domain else b"")


def _valueInfo(name, dtype, dims):
    shape = b"".join(block(1, block(2, dim) if isinstance(dim, str) else integer(1, dim)) for dim in dims)
    return block(1, name) + block(2, block(1, integer(1, tensors.TYPES[dtype][2]) + block(2, shape)))


def model(nodes, inputs, outputs, constants=None, opset=21, domains=()):
    graph = b"".join(block(1, body) for body in nodes) + block(2, "test")
    graph += b"".join(block(5, tensor(value, name)) for name, value in (constants or {}).items())
    graph += b"".join(block(11, _valueInfo(*value)) for value in inputs)
    graph += b"".join(block(12, _valueInfo(*value)) for value in outputs)
    imports = [("", opset), *domains]
    return integer(1, 10) + block(7, graph) + b"".join(block(8, block(1, d) + integer(2, v)) for d, v in imports)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
