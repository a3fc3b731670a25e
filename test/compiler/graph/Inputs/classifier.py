# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs the example's artifact on batches of several sizes, against the same network here: classifier.py ARTIFACT."""

import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 3, "e2e")]

from tensors import randoms, readNpy, writeNpy

HIDDEN = [[1, 0.5], [-1, 0.25], [0.75, -0.5], [-0.25, 1]]
BIAS = [0, 0.125, -0.5, 1]
HEAD = [[1, 0, -1, 0.5], [0, 2, 0.5, -1], [-0.5, 0.25, 1, 1]]


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y))


def gelu(x):
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))


def classify(point):
    hidden = [gelu(dot(point, row) + bias) for row, bias in zip(HIDDEN, BIAS)]
    exponentials = [math.exp(dot(hidden, row) * 0.5) for row in HEAD]
    return [x / math.fsum(exponentials) for x in exponentials]


def main():
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "points.npy"), os.path.join(folder, "probabilities.npy")
        for count in (1, 3, 70):
            points = randoms("points", count, 2, low=-3, high=3)
            writeNpy(source, points)
            subprocess.run(["tenon-run", sys.argv[1], "--input", source, "--output", target], check=True)
            got = readNpy(target).data
            want = [p for i in range(count) for p in classify(points.data[2 * i : 2 * i + 2])]
            worst = max(abs(g - w) for g, w in zip(got, want, strict=True))
            if not worst < 1e-6:
                sys.exit(f"a batch of {count} differs by {worst}")


main()
