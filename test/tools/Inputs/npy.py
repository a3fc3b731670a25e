# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes an .npy file of zeros: npy.py TYPE DIMS FILE."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from tensors import build, writeNpy

shape = [int(dim) for dim in sys.argv[2].split(",")]
writeNpy(sys.argv[3], build(shape, lambda index: 0, sys.argv[1]))
