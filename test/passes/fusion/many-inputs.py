# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Prints a function that returns a concat of so many inputs along an axis: many-inputs.py COUNT AXIS."""

import sys

count, axis = int(sys.argv[1]), int(sys.argv[2])
part, dims = "tensor<2x3xf32>", [2, 3]
dims[axis] *= count
whole = f"tensor<{dims[0]}x{dims[1]}xf32>"
print(f"func.func @concat({', '.join(f'%x{i}: {part}' for i in range(count))}) -> {whole} {{")
print(f"  %0 = tenon.concat {', '.join(f'%x{i}' for i in range(count))} {{axis = {axis} : i64}}")
print(f"    : ({', '.join([part] * count)}) -> {whole}")
print(f"  return %0 : {whole}\n}}")
