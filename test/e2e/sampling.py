# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""tenon.sample against plain Python: lines of odd lengths, all filters, elements that are equal, negative or NaN.

Elements are small integers, and filters and places multiples of powers of two, so that all sums are exact.
"""

import math
import random
import subprocess
import sys

sys.dont_write_bytecode = True

from tensors import Tensor, readNpy, writeNpy

MODEL = """func.func @main(%w: tensor<{lines}x{size}xf32> {{tenon.name = "w"}}, %f: tensor<{lines}x3xf32> {{tenon.name = "f"}},
                %u: tensor<{lines}xf32> {{tenon.name = "u"}}) -> (tensor<{lines}xi64> {{tenon.name = "y"}}) {{
  %y = tenon.sample %w, %f, %u : (tensor<{lines}x{size}xf32>, tensor<{lines}x3xf32>, tensor<{lines}xf32>) -> tensor<{lines}xi64>
  return %y : tensor<{lines}xi64>
}}
"""


def draw(weights, k, p, m, u):
    weights = [x if x > 0 else 0 for x in weights]
    largest = max(weights)
    if largest == 0:
        return 0
    least = min(x for x in weights if x > 0)
    if 1 <= k < len(weights):
        least = max(least, sorted(weights, reverse=True)[math.floor(k) - 1])
    if 0 < p < 1:
        wanted = p * sum(x for x in weights if x >= least)
        least = max(y for y in set(weights) if y >= least and sum(x for x in weights if x >= y) >= wanted)
    if m > 0:
        least = min(max(least, m * largest), largest)
    place, passed = u * sum(x for x in weights if x >= least), 0
    for i, x in enumerate(weights):
        passed += x if x >= least else 0
        if x >= least and passed > place:
            return i
    raise AssertionError("a place is within the sum")


def drawCase(rng, lines, size):
    ends = rng.choice([(0, 1), (0, 15), (-8, 15), (3, 3), (-3, 0)])
    weights = [float(rng.randint(*ends)) for _ in range(lines * size)]
    for _ in range(rng.randint(0, 2)):
        weights[rng.randrange(len(weights))] = rng.choice([math.nan, -0.0, 63.0])
    filters = []
    for _ in range(lines):
        k = rng.choice([0, 1, 2, 2.5, 7, size - 1, size, size + 5, rng.randint(1, size), -1, math.nan, 1e30])
        filters += [k, rng.choice([0, 1, 0.125, 0.5, 0.875, -1, math.nan, 2]), rng.choice([0, 0.25, 0.5, 1, 2, -1, math.nan])]
    places = [rng.choice([0, 1 - 2**-10, rng.randrange(1024) / 1024]) for _ in range(lines)]
    return weights, filters, places


def main():
    rng = random.Random(7)
    faults = 0
    for lines, size in [(1, 1), (3, 2), (2, 3), (2, 64), (3, 65), (1, 1023), (2, 1024), (1, 1025), (3, 2049), (1, 5000)]:
        with open("sample.mlir", "w") as file:
            file.write(MODEL.format(lines=lines, size=size))
        subprocess.run(["tenon", "compile", "-q", "sample.mlir", "-o", "sample.tenon", "--no-measure-error"], check=True)
        for number in range(40):
            weights, filters, places = drawCase(rng, lines, size)
            for name, shape, data in (("w", (lines, size), weights), ("f", (lines, 3), filters), ("u", (lines,), places)):
                writeNpy(name + ".npy", Tensor(shape, data))
            inputs = [word for name in "wfu" for word in ("--input", f"{name}={name}.npy")]
            subprocess.run(["tenon-run", "sample.tenon", *inputs, "--output", "y=y.npy", "--threads", str(1 + number % 2)], check=True)
            wanted = [draw(weights[i * size : (i + 1) * size], *filters[3 * i : 3 * i + 3], places[i]) for i in range(lines)]
            got = list(readNpy("y.npy").data)
            if got != wanted:
                faults += 1
                print(f"{lines} lines of {size}, case {number}: drew {got}, wanted {wanted}; filters {filters}, places {places}")
    sys.exit(1 if faults else 0)


main()
