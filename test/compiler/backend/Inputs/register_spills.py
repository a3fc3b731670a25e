# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""register_spills.py TARGET ROWS...: compiles products of ROWS x 64 x 128 to assembly and counts the vector registers that the loop with
the most multiply-adds keeps on the stack."""

import os
import random
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "..", "e2e"))
import onnx_writer as onnx
import tensors

DEPTH, COLUMNS = 64, 128


def compileProduct(rows, target, folder):
    draw = random.Random(rows)
    weight = tensors.Tensor([DEPTH, COLUMNS], [draw.gauss(0, 1) for _ in range(DEPTH * COLUMNS)])
    path = os.path.join(folder, "product.onnx")
    onnx.write(path, onnx.model([onnx.node("MatMul", ["x", "w"], ["y"])], [("x", "f32", [rows, DEPTH])],
                                [("y", "f32", [rows, COLUMNS])], {"w": weight}))
    return subprocess.run(["tenon", "compile", path, "--target", target, "--emit", "asm"], capture_output=True, text=True, check=True).stdout


def findHottestLoop(assembly):
    """The lines of the basic block that jumps to itself and has the most multiply-adds."""
    blocks, label = {}, None
    for line in assembly.splitlines():
        if match := re.match(r"(\.?\w+):", line):
            label = match[1]
            blocks[label] = []
        elif label:
            blocks[label].append(line.strip())
    loops = [lines for label, lines in blocks.items() if any(re.search(rf"\bj\w+\s+{re.escape(label)}$", line) for line in lines)]
    return max(loops, key=lambda lines: sum("vfmadd" in line for line in lines))


target, bad = sys.argv[1], 0
for rows in map(int, sys.argv[2:]):
    with tempfile.TemporaryDirectory() as folder:
        loop = findHottestLoop(compileProduct(rows, target, folder))
    products = sum("vfmadd" in line for line in loop)
    spills = sum(bool(re.search(r"[xyz]mm\d", line)) and "(%rsp)" in line for line in loop)
    assert products >= 16, f"{rows} rows: no loop with multiply-adds was found"
    print(f"{rows} rows: {products} multiply-adds, {spills} spills")
    bad += spills > 0
sys.exit(bad > 0)
