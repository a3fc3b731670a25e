# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compares the first element of an .npy file with a number as %g prints it: check-first.py FILE.npy NUMBER-FILE."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from tensors import readNpy

with open(sys.argv[2]) as file:
    printed = file.read().strip()
assert printed == f"{readNpy(sys.argv[1]).data[0]:g}", printed
