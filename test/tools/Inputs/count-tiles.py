# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Counts in how many ways kernels are tiled in the dumps of several compilations."""

import pathlib
import re
import sys

dumps = [next(pathlib.Path(folder).glob("*tile-kernels*")).read_text() for folder in sys.argv[1:]]
winograd = {re.search(r"kernel\.winograd.*tile = (array<[^>]*>)", dump)[1] for dump in dumps}
print(f"kernel.winograd: {len(winograd)} tilings")
softmax = {re.search(r"@\w*softmax\w*\(.*tenon\.tiles = #tenon\.shape<(\d+)>", dump)[1] for dump in dumps}
print(f"softmax: {len(softmax)} tilings")
