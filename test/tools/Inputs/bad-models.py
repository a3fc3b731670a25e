# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes small models, most of them broken: bad-models.py FOLDER."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from onnx_writer import model, node, write
from tensors import Tensor

X, Y = [("x", "f32", [2, 3])], [("y", "f32", [2, 3])]
MODELS = {
    "good": model([node("Relu", ["x"], ["y"])], X, Y),
    "open": model([node("Relu", ["x"], ["y"])], [("x", "f32", ["N", 3])], [("y", "f32", ["N", 3])]),
    "cycle": model([node("Add", ["x", "b"], ["a"]), node("Add", ["a", "x"], ["b"]), node("Relu", ["b"], ["y"])], X, Y),
    "missing": model([node("Add", ["x", "nowhere"], ["y"], "sum")], X, Y),
    "twice": model([node("Relu", ["x"], ["y"]), node("Abs", ["x"], ["y"])], X, Y),
    "unsupported": model(
        [node(name, ["x"], [name[-1]], name, "my.domain") for name in ("Shout", "Whisper")] + [node("Add", ["t", "r"], ["y"])],
        X,
        Y,
        domains=[("my.domain", 1)],
    ),
    "mismatch": model([node("Add", ["x", "c"], ["y"], "sum")], X, Y, {"c": Tensor((4,), [0.0] * 4)}),
    "opset": model([node("Relu", ["x"], ["y"])], X, Y, opset=9999),
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, data in MODELS.items():
    write(os.path.join(sys.argv[1], name + ".onnx"), data)
