# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Recurrent cells, branches and loops."""

import numpy
from draw import NUMBERS, toOnnx
from onnx import helper

# Results are compared with the evaluator's, and no path here needs a budget.
OPTIONS = ("--no-measure-error",)
FLOAT, BOOL, INT64 = NUMBERS["float32"], NUMBERS["bool"], NUMBERS["int64"]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


def drawCell(d, operator):
    steps, batch, inner, hidden = d.integer(2, 5), d.integer(1, 5), d.integer(1, 7), d.integer(1, 7)
    gates, directions = GATES[operator], 1
    parts = [[directions, gates * hidden, inner], [directions, gates * hidden, hidden], [directions, 2 * gates * hidden]]
    operands = [d.input(FLOAT, [steps, batch, inner], "unit"), *(d.input(FLOAT, part, "unit") for part in parts[: d.choose(2, 3)])]
    if d.chance(0.5):
        operands += [""] * (5 - len(operands)) + [d.input(FLOAT, [directions, batch, hidden], "unit")]
    after = {"linear_before_reset": d.choose(0, 1)} if operator == "GRU" else {}
    d.isWhole, d.slack = True, 10
    d.node(operator, operands, 2, [FLOAT, FLOAT], hidden_size=hidden, **after)


def _branch(d, name, operator, operands, dtype):
    """A graph of one node over values of the graph around it."""
    result = f"{d.name}.{name}"
    node = helper.make_node(operator, operands, [result], name=f"{d.name}.{name}")
    return helper.make_graph([node], name, [], [helper.make_tensor_value_info(result, toOnnx(dtype), None)])


def drawIf(d, operator):
    shape = d.shape()
    x, y = d.input(FLOAT, shape), d.input(FLOAT, shape)
    condition = d.operand(d.numbers(BOOL, (), isConstant=True))
    branches = [_branch(d, name, d.choose("Add", "Sub", "Mul", "Max"), [x, y], FLOAT) for name in ("then", "else")]
    d.node(operator, [condition], dtypes=[FLOAT], then_branch=branches[0], else_branch=branches[1])


def drawLoop(d, operator):
    """Two values that are carried. The evaluator joins what each trip gives where it should stack it, so there is none of that."""
    shape = d.shape(high_rank=3, low=1)
    x, *starts = [d.input(FLOAT, shape, "unit") for _ in range(3)]
    trips = d.operand(numpy.array(d.integer(0, 5), numpy.int64))
    name = lambda value: f"{d.name}.body.{value}"
    nodes = [
        helper.make_node("Add", [name("sum"), x], [name("next sum")], name=name("add")),
        helper.make_node("Identity", [name("condition")], [name("go")], name=name("pass")),
        helper.make_node("Mul", [name("product"), name("next sum")], [name("next product")], name=name("mul")),
    ]
    info = lambda value, dtype, dims=None: helper.make_tensor_value_info(name(value), toOnnx(dtype), dims)
    inputs = [info("trip", INT64, []), info("condition", BOOL, []), info("sum", FLOAT), info("product", FLOAT)]
    outputs = [info("go", BOOL, []), info("next sum", FLOAT), info("next product", FLOAT)]
    d.isWhole, d.slack = True, 4
    body = helper.make_graph(nodes, "body", inputs, outputs)
    d.node(operator, [trips, d.constant(numpy.array(True)), *starts], 2, [FLOAT, FLOAT], body=body)


OPERATORS = {**dict.fromkeys(GATES, drawCell), "If": drawIf, "Loop": drawLoop}
