# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes a model as exporters of today do, with numbered nodes, metadata and external data: exported-model.py FOLDER SCOPES.

With "scopes" the metadata of nodes names modules, else the names of weights alone do.
"""

import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../e2e"))
sys.dont_write_bytecode = True

import onnx_writer as onnx


def external(name, shape, offset, size):
    entries = {"location": "model.onnx.data", "offset": str(offset), "length": str(size)}
    body = b"".join(onnx.integer(1, dim) for dim in shape) + onnx.integer(2, 1) + onnx.block(8, name)
    return body + b"".join(onnx.block(13, onnx.block(1, key) + onnx.block(2, value)) for key, value in entries.items()) + onnx.integer(14, 1)


def node(operator, inputs, output, name, scopes):
    body = onnx.node(operator, inputs, [output], name=name)
    for key, value in scopes.items():
        body += onnx.block(9, onnx.block(1, key) + onnx.block(2, value))
    return body


def main():
    folder, scopes = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    places = {
        "pkg.torch.onnx.class_hierarchy": "['Model', 'Linear', 'aten.linear.default']",
        "pkg.torch.onnx.name_scopes": "['', 'blocks.0', 'blocks.0.up', 'linear_1']",
    }
    nodes = [
        node("MatMul", ["x", "encoder.up.weight"], "m", "node_MatMul_7", places if scopes == "scopes" else {}),
        node("Add", ["m", "encoder.up.bias"], "a", "node_linear_8", {}),
        node("Relu", ["a"], "y", "node_relu", {}),
    ]
    weight = struct.pack("<1024f", *[(i * 37 % 101 - 50) / 400 for i in range(1024)])
    bias = struct.pack("<32f", *[i / 32 for i in range(32)])
    with open(os.path.join(folder, "model.onnx.data"), "wb") as file:
        file.write(weight + bias)
    graph = b"".join(onnx.block(1, body) for body in nodes) + onnx.block(2, "exported")
    graph += onnx.block(5, external("encoder.up.weight", (32, 32), 0, len(weight)))
    graph += onnx.block(5, external("encoder.up.bias", (32,), len(weight), len(bias)))
    value = lambda name: onnx.block(1, name) + onnx.block(2, onnx.block(1, onnx.integer(1, 1) + onnx.block(2, b"".join(onnx.block(1, onnx.integer(1, dim)) for dim in (64, 32)))))
    graph += onnx.block(11, value("x")) + onnx.block(12, value("y"))
    model = onnx.integer(1, 10) + onnx.block(7, graph) + onnx.block(8, onnx.block(1, "") + onnx.integer(2, 21))
    onnx.write(os.path.join(folder, "model.onnx"), model)


main()
