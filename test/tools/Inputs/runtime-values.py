# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes operands of runtime-values.onnxtxt, one a file: runtime-values.py FOLDER."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from tensors import Tensor, writeNpy

FILES = {
    "axes": [0, -1],
    "axes-outside": [2, 0],
    "axes-twice": [1, -1],
    "shape": [3, 2],
    "shape-negative": [-5, 2],
    "shape-open": [-1, -1],
    "shape-size": [4, 2],
    "one": [2],
    "zero": [0],
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, values in FILES.items():
    writeNpy(os.path.join(sys.argv[1], name + ".npy"), Tensor([len(values)], values, "i64"))
