# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes models to debug: models.py FOLDER.

    net.onnx        three products with a ReLU after each of the first two
    changed.onnx    the same, with another number in the second matrix
    rows.onnx       four products of one row, which may be computed of weights of few bits
    shout.onnx      net.onnx with an operator that nobody knows in its middle
    overflow.onnx   a convolution that is infinite for inputs of ones, unless it gets the scale after it into its filter
    infinite.onnx   the same with an infinite scale
    quantized.onnx  a product between two integers, of which f32 and f64 choose different ones
    lookup.onnx     a table of 16 rows, read at 100 times the input
    reshape.onnx    a product after a reshape to computed sizes; reshaped.onnx: of another matrix
    misfit.onnx     the same with a matrix that does not fit
    loop.onnx       a loop with another one inside of it, and two branches; looped.onnx: wrong in the third iteration
"""

import os
import random
import struct
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "e2e")]

from onnx_writer import Graph, model, node, write
from tensors import Tensor, integers

random.seed(1)


def matrix(rows, columns):
    # Sums of as many products as there are rows stay about as large as what is multiplied.
    return Tensor((rows, columns), [random.uniform(-1, 1) * (3 / rows) ** 0.5 for _ in range(rows * columns)])


def makeNet(middle=()):
    nodes = [
        node("MatMul", ["x", "w1"], ["h1"], "fc1"),
        node("Relu", ["h1"], ["a1"], "act1"),
        node("MatMul", ["a1", "w2"], ["h2"], "fc2"),
        *middle,
        node("Relu", ["s2" if middle else "h2"], ["a2"], "act2"),
        node("MatMul", ["a2", "w3"], ["h3"], "fc3"),
        node("Sigmoid", ["h3"], ["y"], "gate"),
    ]
    return nodes, [("x", "f32", [2, 8])], [("y", "f32", [2, 4])]


def makeRows():
    nodes, constants, value = [], {}, "x"
    for i in range(4):
        constants[f"w{i}"] = matrix(64, 64)
        nodes.append(node("MatMul", [value, f"w{i}"], [f"h{i}"], f"fc{i}"))
        nodes.append(node("Tanh", [f"h{i}"], [f"t{i}"], f"tanh{i}"))
        value = f"t{i}"
    return model(nodes, [("x", "f32", [1, 64])], [(value, "f32", [1, 64])], constants)


def makeOverflow(scale):
    nodes = [
        node("Neg", ["x"], ["n"], "negate"),
        node("Conv", ["n", "w"], ["c"], "conv"),
        node("Mul", ["c", "scale"], ["y"], "rescale"),
    ]
    constants = {"w": Tensor((8, 4, 3, 3), [3e38] * 288), "scale": Tensor((1, 8, 1, 1), [scale] * 8)}
    return model(nodes, [("x", "f32", [1, 4, 5, 5])], [("y", "f32", [1, 8, 3, 3])], constants)


def makeLookup():
    nodes = [
        node("Mul", ["x", "hundred"], ["m"], "scale"),
        node("Cast", ["m"], ["ids"], "cast", to=7),
        node("Gather", ["table", "ids"], ["rows"], "lookup"),
        node("Relu", ["rows"], ["y"], "act"),
    ]
    constants = {"hundred": Tensor((), [100.0]), "table": matrix(16, 4)}
    return model(nodes, [("x", "f32", ["N"])], [("y", "f32", ["N", 4])], constants)


def makeReshape(rows):
    """A shape that is computed of the size of the input, and a product that does not fit where `rows` is not 16."""
    nodes = [
        node("Relu", ["x"], ["r"], "act"),
        node("Shape", ["x"], ["s"], "shape"),
        node("Slice", ["s", "zero", "one"], ["first"], "first"),
        node("Concat", ["first", "minus"], ["sizes"], "sizes", axis=0),
        node("Reshape", ["r", "sizes"], ["flat"], "flatten"),
        node("MatMul", ["flat", "w"], ["h"], "fc"),
        node("Tanh", ["h"], ["y"], "squash"),
    ]
    constants = {name: integers([value]) for name, value in (("zero", 0), ("one", 1), ("minus", -1))}
    return model(nodes, [("x", "f32", ["N", 4, 4])], [("y", "f32", ["N", 8])], {**constants, "w": matrix(rows, 8)})


def makeLoop(table):
    inner = Graph(
        [
            node("Identity", ["more"], ["go"], "keep"),
            node("Mul", ["u", "rate"], ["scaled"], "scale"),
            node("Sin", ["scaled"], ["next"], "turn"),
        ],
        [("j", "i64", []), ("more", "bool", []), ("u", "f32", [2, 8])],
        [("go", "bool", []), ("next", "f32", [2, 8])],
    )
    outer = Graph(
        [
            node("Identity", ["c"], ["again"], "keep"),
            node("Gather", ["table", "i"], ["row"], "pick", axis=0),
            node("Add", ["v", "row"], ["h"], "add"),
            node("Loop", ["two", "", "h"], ["turned"], "search", body=inner),
            node("Tanh", ["turned"], ["w"], "squash"),
        ],
        [("i", "i64", []), ("c", "bool", []), ("v", "f32", [2, 8])],
        [("again", "bool", []), ("w", "f32", [2, 8])],
    )
    taken = Graph([node("Exp", ["last"], ["e"], "grow"), node("Neg", ["e"], ["t"], "flip")], [], [("t", "f32", [2, 8])], "then")
    other = Graph([node("Abs", ["last"], ["o"], "drop")], [], [("o", "f32", [2, 8])], "else")
    nodes = [
        node("Loop", ["five", "", "x"], ["last"], "decode", body=outer),
        node("If", ["flag"], ["y"], "choose", then_branch=taken, else_branch=other),
    ]
    constants = {"five": Tensor((), [5], "i64"), "two": Tensor((), [2], "i64"), "rate": Tensor((), [1.5]), "table": table}
    return model(nodes, [("x", "f32", [2, 8]), ("flag", "bool", [])], [("y", "f32", [2, 8])], constants)


def round32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def makeQuantized():
    """A product that is quantized to another integer where it is rounded to f32 before."""
    while True:
        a, b = round32(random.uniform(1, 2)), round32(random.uniform(1, 2))
        exact, rounded = a * b, round32(a * b)
        # Halves are rounded to even numbers, so that one of exactly 7.5 becomes 8.
        scale = round32(exact / 7.5)
        if exact / scale < 7.5 <= round32(rounded / scale):
            break
    nodes = [
        node("Mul", ["x", "a"], ["first"], "first"),
        node("Mul", ["first", "b"], ["product"], "second"),
        node("QuantizeLinear", ["product", "scale", "zero"], ["q"], "quantize"),
        node("DequantizeLinear", ["q", "scale", "zero"], ["d"], "dequantize"),
        node("Neg", ["d"], ["y"], "negate"),
    ]
    constants = {"a": Tensor((), [a]), "b": Tensor((), [b]), "scale": Tensor((), [scale]), "zero": Tensor((), [0], "i8")}
    return model(nodes, [("x", "f32", [4])], [("y", "f32", [4])], constants)


WEIGHTS = {"w1": matrix(8, 16), "w2": matrix(16, 16), "w3": matrix(16, 4)}
CHANGED = {**WEIGHTS, "w2": Tensor((16, 16), [x + 0.5 * (i == 100) for i, x in enumerate(WEIGHTS["w2"].data)])}
TABLE = matrix(5, 8)
LOOPED = Tensor((5, 8), [x + 0.5 * (i == 19) for i, x in enumerate(TABLE.data)])
SHOUT = [node("Shout", ["h2"], ["s2"], "shout", "my.domain")]

os.makedirs(sys.argv[1], exist_ok=True)
for name, data in {
    "net": model(*makeNet(), WEIGHTS),
    "changed": model(*makeNet(), CHANGED),
    "rows": makeRows(),
    "shout": model(*makeNet(SHOUT), WEIGHTS, domains=[("my.domain", 1)]),
    "overflow": makeOverflow(1e-30),
    "infinite": makeOverflow(float("inf")),
    "lookup": makeLookup(),
    "quantized": makeQuantized(),
    "reshape": makeReshape(16),
    "reshaped": makeReshape(16),
    "misfit": makeReshape(15),
    "loop": makeLoop(TABLE),
    "looped": makeLoop(LOOPED),
}.items():
    write(os.path.join(sys.argv[1], name + ".onnx"), data)
