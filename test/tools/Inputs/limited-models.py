#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes models of which only some plans keep a memory limit, into a folder.

    limited-models.py FOLDER

wide.onnx      what is wide and cheap is read early and late: computed again, it need not lie around
weights.onnx   layers one after the other, whose weights need not be in memory all the time
order.onnx     many branches, of which a short search does not find the best order
"""

import os
import random
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import onnx_writer
import tensors
from onnx_writer import node


def numbers(shape, seed):
    source = random.Random(seed)
    count = 1
    for dim in shape:
        count *= dim
    return tensors.Tensor(shape, [source.randrange(-8, 9) / 8 for _ in range(count)])


def wide():
    """The sum of a column and a row is 256 x 256, and so is what softmax makes of it."""
    nodes = [
        node("Add", ["column", "row"], ["sum"]),
        node("Softmax", ["sum"], ["a"], axis=0),
        node("Softmax", ["a"], ["b"], axis=0),
        node("ReduceMax", ["b", "axes"], ["c"], keepdims=0),
        node("Softmax", ["sum"], ["d"], axis=1),
        node("ReduceMax", ["d", "axes"], ["e"], keepdims=0),
        node("Add", ["c", "e"], ["y"]),
    ]
    inputs = [("column", "f32", [256, 1]), ("row", "f32", [1, 256])]
    constants = {"axes": tensors.Tensor([1], [0], "i64")}
    return onnx_writer.model(nodes, inputs, [("y", "f32", [256])], constants)


def weights():
    nodes, constants, last = [], {}, "x"
    for i in range(6):
        constants[f"w{i}"] = numbers([256, 256], i)
        nodes += [node("MatMul", [last, f"w{i}"], [f"p{i}"]), node("Softmax", [f"p{i}"], [f"s{i}"])]
        last = f"s{i}"
    return onnx_writer.model(nodes, [("x", "f32", [4, 256])], [(last, "f32", [4, 256])], constants)


def order(layers=40, width=12):
    """Products of random sizes of what came before, in an order that nobody has thought about."""
    source = random.Random(3)
    nodes, constants, values = [], {}, [("x", 16)]
    for i in range(layers):
        size = source.choice([2, 4, 8, 32, 128])
        for k, (name, length) in enumerate(source.sample(values[-width:], min(len(values), 2))):
            constants[f"w{i}.{k}"] = numbers([length, size], i)
            nodes.append(node("MatMul", [name, f"w{i}.{k}"], [f"p{i}.{k}"]))
        nodes.append(node("Add", [f"p{i}.0", f"p{i}.{k}"], [f"v{i}"]))
        nodes.append(node("Softmax", [f"v{i}"], [f"s{i}"]))
        values.append((f"s{i}", size))
    ends = [name for name, _ in values[-width:]]
    nodes += [node("ReduceMax", [name, "axes"], [f"{name}.max"], keepdims=0) for name in ends]
    nodes.append(node("Sum", [f"{name}.max" for name in ends], ["y"]))
    constants["axes"] = tensors.Tensor([1], [1], "i64")
    return onnx_writer.model(nodes, [("x", "f32", [256, 16])], [("y", "f32", [256])], constants)


if __name__ == "__main__":
    os.makedirs(sys.argv[1], exist_ok=True)
    for name, make in (("wide", wide), ("weights", weights), ("order", order)):
        onnx_writer.write(os.path.join(sys.argv[1], name + ".onnx"), make())
