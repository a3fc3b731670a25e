# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compares two .npy files: near.py A B LIMIT, the largest difference relative to the largest element of B."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from tensors import readNpy

a, b = readNpy(sys.argv[1]), readNpy(sys.argv[2])
assert a.shape == b.shape, (a.shape, b.shape)
error = max(abs(x - y) for x, y in zip(a.data, b.data)) / max(map(abs, b.data))
assert error <= float(sys.argv[3]), error
