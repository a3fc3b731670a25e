# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes a function that adds up many inputs: many-inputs.py COUNT."""

import sys

COUNT, TYPE = int(sys.argv[1]), "tensor<4xf32, #tenon.shape<4>>"
print("func.func @main(" + ", ".join(f'%x{i}: {TYPE} {{tenon.name = "x{i}"}}' for i in range(COUNT)) + ")")
print(f'    -> ({TYPE} {{tenon.name = "y"}}) {{')
last = "%x0"
for i in range(1, COUNT):
    print(f"  %s{i} = tenon.add {last}, %x{i} : ({TYPE}, {TYPE}) -> {TYPE}")
    last = f"%s{i}"
print(f"  return {last} : {TYPE}\n}}")
