#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads what tenon-choose-paths printed for convolutions.py --batches: each path has to be estimated for all images.

A dynamic batch is estimated as 64 images. A fixed batch has more tiles to share among cores than one image, so that its cycles may be
somewhat less than those of one image times their number."""

import re
import sys

costs = {}
for line in sys.stdin:
    if match := re.search(r"func @batch_(\w+)|func.func @batch_(\w+)", line):
        batch = match[1] or match[2]
    if match := re.search(r"tenon.paths = \{([^}]*)\}", line):
        costs[batch] = {name.strip('"'): int(cycles) for name, cycles in re.findall(r'("?[\w-]+"?) = (\d+) : i64', match[1])}

assert set(costs) == {"1", "8", "None"} and costs["1"].keys() >= {"direct", "winograd-2", "winograd-4"}, costs
for batch, images in (("8", 8), ("None", 64)):
    for path, cycles in costs[batch].items():
        ratio = cycles / (images * costs["1"][path])
        assert 0.6 < ratio < 1.01, f"{path} of {images} images takes {ratio:.3f} of {images} times the cycles of one"
print("every path is estimated for all images")
