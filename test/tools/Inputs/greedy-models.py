#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes small models, and a folder of weights, that ask for more than they are: greedy-models.py FOLDER"""

import json
import os
import pathlib
import struct
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import onnx_writer
import tensors
from onnx_writer import node

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)


def ints(*values):
    return tensors.Tensor([len(values)], list(values), "i64")


def write(name, nodes, inputs, outputs, constants=None):
    onnx_writer.write(folder / f"{name}.onnx", onnx_writer.model(nodes, inputs, outputs, constants))


vector = [("x", "f32", [2])]
write("rank", [node("Reshape", ["x", "shape"], ["y"])], vector, [("y", "f32", [])], {"shape": ints(2, *[1] * 64)})
write("rank-input", [node("Neg", ["x"], ["y"])], [("x", "f32", [1] * 65)], [("y", "f32", [])])
write("name", [node("Neg", ["x"], ["y"], name="n" * 5000)], vector, [("y", "f32", [2])])
write("many", [node("Neg", [f"x{i}" if i else "x"], [f"x{i + 1}"]) for i in range(20000)], vector, [("x20000", "f32", [2])])

# Constants that double 28 times, of 2^28 equal elements, and products of such that nobody wants to wait for.
chain = [node("Concat", [f"c{i}"] * 2, [f"c{i + 1}"], axis=0) for i in range(28)]
write("doubled", [*chain, node("Gather", ["c28", "x"], ["y"])], [("x", "i64", [1])], [("y", "f32", [1])], {"c0": tensors.Tensor([2], [1, 2])})
filled = [node("ConstantOfShape", ["count"], ["all"]), node("Add", ["all", "x"], ["y"])]
write("filled", filled, [("x", "f32", [1])], [("all", "f32", [1 << 28]), ("y", "f32", [1 << 28])], {"count": ints(1 << 28)})
square = ints(3000, 3000)
products = [node("ConstantOfShape", ["shape"], ["m"]), node("Add", ["m", "row"], ["p0"])]
products += [node("MatMul", [f"p{i}", f"p{i}"], [f"p{i + 1}"]) for i in range(10)]
products += [node("ReduceMax", ["p10"], ["most"]), node("Add", ["most", "x"], ["y"])]
row = tensors.Tensor([3000], [i / 3000 for i in range(3000)])
write("products", products, [("x", "f32", [1])], [("y", "f32", [1, 1])], {"shape": square, "row": row})

# Sums of sizes that no integer holds.
far = (1 << 63) - 1
pads = lambda *values: {"pads": ints(*values)}
write("pads", [node("Pad", ["x", "pads"], ["y"])], [("x", "f32", [6, 2])], [("y", "f32", [4, 2])], pads(far, 0, far, 0))
write("pads-run", [node("Pad", ["x", "pads"], ["y"])], [("x", "f32", [6, 2]), ("pads", "i64", [4])], [("y", "f32", ["a", "b"])])
write("tile", [node("Tile", ["x", "times"], ["y"])], [("x", "f32", [4])], [("y", "f32", [0])], {"times": ints(1 << 62)})

# Functions and branches inside of each other, and functions that call the next one twice.
def function(name, nodes, attributes=()):
    body = onnx_writer.block(1, name) + onnx_writer.block(4, "x") + onnx_writer.block(5, "y") + b"".join(onnx_writer.block(7, n) for n in nodes)
    body += b"".join(onnx_writer.block(6, attribute) for attribute in attributes)
    return onnx_writer.block(25, body + onnx_writer.block(9, onnx_writer.block(1, "") + onnx_writer.integer(2, 21)) + onnx_writer.block(10, "own"))


def writeFunctions(name, count, calls):
    """`count` functions, each of which calls the next one as often as `calls` says, and the last one Neg."""
    call = lambda i, x, y: node("f%d" % i, [x], [y], domain="own") if i < count else node("Neg", [x], [y])
    values = ["x", *(f"t{i}" for i in range(1, calls)), "y"]
    functions = b"".join(function(f"f{i}", [call(i + 1, values[k], values[k + 1]) for k in range(calls)]) for i in range(count))
    data = onnx_writer.model([call(0, "x", "y")], vector, [("y", "f32", [2])], domains=[("own", 1)])
    onnx_writer.write(folder / f"{name}.onnx", data + functions)


writeFunctions("functions", 64, 1)
writeFunctions("functions-deeper", 65, 1)
writeFunctions("functions-doubled", 40, 2)

# Bodies that name attributes of the call are copied for each: 16 MB, 70 times.
attribute = onnx_writer.block(1, "to") + onnx_writer.block(21, "to") + onnx_writer.integer(20, 2)
cast = onnx_writer.block(1, "x") + onnx_writer.block(2, "y") + onnx_writer.block(4, "Cast") + onnx_writer.block(5, attribute)
body = function("cast", [cast + onnx_writer.block(6, "d" * (16 << 20))], ["to"])
calls = [node("cast", [f"x{i}" if i else "x"], [f"x{i + 1}"], domain="own", to=1) for i in range(70)]
copied = onnx_writer.model(calls, vector, [("x70", "f32", [2])], domains=[("own", 1)])
onnx_writer.write(folder / "copied.onnx", copied + body)


def branches(depth):
    """An If of which one branch holds the next level."""
    inner = [node("Neg", ["x"], ["y"])]
    short = onnx_writer.block(1, inner[0]) + onnx_writer.block(2, "g") + onnx_writer.block(12, onnx_writer.block(1, "y"))
    attribute = lambda name, graph: onnx_writer.block(5, onnx_writer.block(1, name) + onnx_writer.block(6, graph) + onnx_writer.integer(20, 5))
    for _ in range(depth):
        graph = onnx_writer.block(1, inner[0]) + onnx_writer.block(2, "g") + onnx_writer.block(12, onnx_writer.block(1, "y"))
        inner = [node("If", ["c"], ["y"]) + attribute("then_branch", graph) + attribute("else_branch", short)]
    return inner


for name, depth in (("branches", 64), ("branches-deeper", 65), ("branches-far-deeper", 500)):
    data = onnx_writer.model(branches(depth), [*vector, ("c", "bool", [])], [("y", "f32", [2])])
    onnx_writer.write(folder / f"{name}.onnx", data)

# Headers of many tensors.
for name, count in (("few", 1000), ("more", 40000)):
    header = {f"t{i}": {"dtype": "F32", "shape": [0], "data_offsets": [0, 0]} for i in range(count)}
    text = json.dumps(header).encode()
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)
    (folder / name / "config.json").write_text(json.dumps({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2"}))

# A file of 64 GB that holds none of them.
(folder / "holes").mkdir(exist_ok=True)
(folder / "holes" / "config.json").write_text((folder / "few" / "config.json").read_text())
with open(folder / "holes" / "model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", 2) + b"{}")
    file.truncate(64 << 30)

for name, metadata in (("metadata-number", {"a": 1}), ("metadata-nested", {"a": {}}), ("metadata-list", [])):
    text = json.dumps({"__metadata__": metadata}).encode()
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "config.json").write_text((folder / "few" / "config.json").read_text())
    (folder / name / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text)

(folder / "nested.mlir").write_text("module {" * 20000 + "}" * 20000)
(folder / "tuples.mlir").write_text("func.func @main(%a: " + "tuple<" * 20000 + ">" * 20000 + ") { return }")
foreign = "func.func @main(%a: f32) -> f32 {\n  %b = arith.addf %a, %a : f32\n  return %b : f32\n}\n"
(folder / "foreign.mlir").write_text(foreign)
