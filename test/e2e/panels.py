# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads matrices from panels of rows that tiles would not divide: panels.py FOLDER."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

import tensors

MODEL = """func.func @main(%x: tensor<{p}x{k}x{c}xf32> {{tenon.name = "x"}}) -> (tensor<{n}x{k}xf32> {{tenon.name = "y"}}) {{
  %0 = tenon.unpack %x {{axis = 0 : i64}} : (tensor<{p}x{k}x{c}xf32>) -> tensor<{n}x{k}xf32>
  return %0 : tensor<{n}x{k}xf32>
}}
"""


def check(folder, panels, depth, columns):
    place = lambda name: os.path.join(folder, name)
    with open(place("m.mlir"), "w", encoding="utf-8") as file:
        file.write(MODEL.format(p=panels, k=depth, c=columns, n=panels * columns))
    packed = tensors.build((panels, depth, columns), lambda i: float((i[0] * depth + i[1]) * columns + i[2]))
    tensors.writeNpy(place("x.npy"), packed)
    subprocess.run(["tenon", "compile", place("m.mlir"), "-o", place("m.tenon"), "--quiet"], check=True)
    subprocess.run(["tenon-run", place("m.tenon"), "--input", "x=" + place("x.npy"), "--output", "y=" + place("y.npy")], check=True)
    found = tensors.readNpy(place("y.npy"))
    for row in range(panels * columns):
        for k in range(depth):
            wanted = packed.at((row // columns, k, row % columns))
            assert found.at((row, k)) == wanted, (panels, depth, columns, row, k, found.at((row, k)), wanted)


def main():
    os.makedirs(sys.argv[1], exist_ok=True)
    # A tile of so many elements has 25, 31 or 25 rows, in the midst of whose panels the next one would begin.
    for panels, depth, columns in ((4, 320, 32), (4, 129, 32), (8, 320, 16)):
        check(sys.argv[1], panels, depth, columns)


main()
