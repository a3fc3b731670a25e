#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs what was compiled of blocked-scales.mlir: blocked-scales.py ARTIFACT. Fails unless each row has the scales of its block."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import tensors

ROWS, COLUMNS, BLOCK = 384, 48, 128
integers = [(7 * i) % 255 - 127 for i in range(ROWS * COLUMNS)]
scales = [0.25 * (1 + i // COLUMNS) for i in range(ROWS // BLOCK * COLUMNS)]
values = {"x": tensors.Tensor([16, ROWS], [1.0] * (16 * ROWS)), "q": tensors.Tensor([ROWS, COLUMNS], integers, "i8"), "s": tensors.Tensor([ROWS // BLOCK, COLUMNS], scales)}
command = ["tenon-run", sys.argv[1], "--output-dir", "out"]
for name, value in values.items():
    tensors.writeNpy(f"{name}.npy", value)
    command += ["--input", f"{name}={name}.npy"]
subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
wanted = [integer * scales[i // COLUMNS // BLOCK * COLUMNS] for i, integer in enumerate(integers)]
found = tensors.readNpy("out/y.npy").data
wrong = [i // COLUMNS for i in range(ROWS * COLUMNS) if found[i] != wanted[i]]
assert not wrong, f"rows {sorted(set(wrong))}"
sums = [sum(wanted[column::COLUMNS]) for column in range(COLUMNS)]
products = tensors.readNpy("out/p.npy").data
assert all(abs(products[i] - sums[i % COLUMNS]) <= 1e-5 * max(map(abs, sums)) for i in range(16 * COLUMNS)), "products"
