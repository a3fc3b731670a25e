# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Whether two lines have the same perplexity and number of tokens: same-perplexity.py WANTED PRINTED."""

import re
import sys


def read(file):
    with open(file) as lines:
        number, tokens = re.search(r"([0-9.]+) (?:\+- [0-9.]+ )?of ([0-9]+) tokens", lines.readline()).groups()
    return float(number), int(tokens)


wanted, printed = map(read, sys.argv[1:])
if wanted[1] != printed[1] or abs(wanted[0] - printed[0]) > 2e-4 * wanted[0]:
    sys.exit(f"expected {wanted}, got {printed}")
