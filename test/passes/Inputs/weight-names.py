# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs each pass that computes weights ten times on a module of many functions, and once with the functions in reverse order.

Passes on functions run concurrently. What they print of a function must depend neither on which thread comes first nor on the
functions around it."""

import random
import re
import struct
import subprocess
import sys

RUNS, FUNCTIONS = 10, 24


def emitWeight(name, shape):
    count = 1
    for extent in shape:
        count *= extent
    bits = struct.pack(f"<{count}f", *(random.uniform(-1, 1) for _ in range(count))).hex().upper()
    weight = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return f'  {name} = tenon.weight dense<"0x{bits}"> : {weight} {{name = "w"}}\n', weight


def emitContract(name, rows, depth, columns):
    """A product with a matrix."""
    line, weight = emitWeight("%w", (depth, columns))
    x, y = f"tensor<{rows}x{depth}xf32>", f"tensor<{rows}x{columns}xf32>"
    return (
        f"func.func @{name}(%x: {x}) -> {y} {{\n{line}"
        "  %0 = tenon.contract %x, %w {lhs_dims = array<i64: 0, 1>, rhs_dims = array<i64: 1, 2>,"
        f" result_dims = array<i64: 0, 2>}} : ({x}, {weight}) -> {y}\n  return %0 : {y}\n}}\n"
    )


def emitCastMatrix(name):
    """A product of f64 with a matrix that is stored as f32."""
    line, weight = emitWeight("%w", (5, 2))
    return (
        f"func.func @{name}(%x: tensor<3x2xf64>) -> tensor<3x5xf64> {{\n{line}"
        f"  %0 = tenon.cast %w : ({weight}) -> tensor<5x2xf64>\n"
        "  %1 = tenon.contract %x, %0 {lhs_dims = array<i64: 0, 2>, rhs_dims = array<i64: 1, 2>,"
        " result_dims = array<i64: 0, 1>} : (tensor<3x2xf64>, tensor<5x2xf64>) -> tensor<3x5xf64>\n"
        "  return %1 : tensor<3x5xf64>\n}\n"
    )


def emitAttention(name):
    """Attention whose scores have a constant bias."""
    line, weight = emitWeight("%w", (2, 9, 2))
    q, k, scores = "tensor<1x2x9x4xf32>", "tensor<1x2x2x4xf32>", "tensor<1x2x9x2xf32>"
    return (
        f"func.func @{name}(%q: {q}, %k: {k}) -> {q} {{\n{line}  %0 = tenon.attention %q, %k, %k {{\n  ^bb0(%s: {scores}):\n"
        f"    %1 = tenon.add %s, %w : ({scores}, {weight}) -> {scores}\n    tenon.yield %1 : {scores}\n"
        "  } {query_dims = array<i64: 0, 1, 2, 4>, key_dims = array<i64: 0, 1, 3, 4>, score_dims = array<i64: 0, 1, 2, 3>,"
        " value_dims = array<i64: 0, 1, 3, 5>, result_dims = array<i64: 0, 1, 2, 5>}"
        f" : ({q}, {k}, {k}) -> {q}\n  return %0 : {q}\n}}\n"
    )


def emitConvolve(name):
    """A convolution of 3 x 3."""
    line, weight = emitWeight("%w", (3, 3, 32, 40))
    x, y = "tensor<1x56x56x32xf32>", "tensor<1x56x56x40xf32>"
    return (
        f"func.func @{name}(%x: {x}) -> {y} {{\n{line}"
        "  %0 = tenon.convolve %x, %w {channels_last, dilations = array<i64: 1, 1>, groups = 1 : i64,"
        " high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>}"
        f" : ({x}, {weight}) -> {y}\n  return %0 : {y}\n}}\n"
    )


# Pass, attributes of the module, functions, what names begin with.
CASES = {
    "prepack-weights": ("tenon-prepack-weights", "", lambda name: emitContract(name, 3, 2, 34), "packed"),
    "split-large-weights": ("tenon-split-large-weights{max-bytes=64}", "", emitCastMatrix, "part"),
    "transpose-masks": ("tenon-transpose-masks", "", emitAttention, "mask"),
    "bf16-terms": (
        "tenon-choose-paths{budget=1}",
        "attributes {tenon.machine = #tenon.machine<amx_bf16 = 1>}",
        lambda name: emitContract(name, 128, 128, 128),
        "terms",
    ),
    "winograd": ("tenon-choose-paths", "", emitConvolve, "winograd"),
}


def run(passes, module):
    command = ["tenon-opt", f"--pass-pipeline=builtin.module(func.func({passes}))"]
    return subprocess.run(command, input=module, capture_output=True, text=True, check=True).stdout


def split(text):
    """The functions of a module, and its resources: without an order."""
    functions = re.findall(r"func\.func .*?\n  }\n", text, re.DOTALL)
    return sorted(functions), sorted(line.rstrip(",") for line in text.partition("{-#")[2].splitlines())


def check(case):
    passes, attributes, emit, prefix = CASES[case]
    random.seed(1)
    functions = [emit(f"f{i}") for i in range(FUNCTIONS)]
    # The first function once more: the same bytes have one name.
    functions.append(functions[0].replace("@f0", "@again"))
    module, reverse = (f"module {attributes} {{\n{''.join(order)}}}\n" for order in (functions, functions[::-1]))
    first = run(passes, module)
    names = set(re.findall(r"dense_resource<(\w+)>", first))
    if len(names) < FUNCTIONS or not all(re.fullmatch(prefix + "_[0-9a-f]{16}", name) for name in names):
        sys.exit(f"{case}: the weights of {FUNCTIONS} functions are called {sorted(names)}")
    for i in range(1, RUNS):
        if run(passes, module) != first:
            sys.exit(f"{case}: run {i} prints something else than the one before")
    if split(run(passes, reverse)) != split(first):
        sys.exit(f"{case}: what is printed of a function depends on those around it")


for case in CASES:
    check(case)
