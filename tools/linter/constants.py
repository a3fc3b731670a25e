# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The rule about tuning constants: choices are made by fields of `Machine` and of the policies in passes/cost."""

import re

from linter.tree import Finding

NUMBERS = r"(?:u?int(?:8|16|32|64)_t|size_t|unsigned|int|float|double)"
CONSTANT = re.compile(rf"\bconstexpr {NUMBERS} (k[A-Z]\w*)\s*=")
# What a number is that no measurement would change: a bound on effort or input, a layout that two sides share, or mathematics.
REASON = re.compile(r"// (limit|format|math): \w")
CHECKED, SKIPPED = ("dialects/", "passes/"), ("passes/cost/",)


def check_constants(tree):
    """Tuning constants are in passes/cost; other numbers of passes and dialects say what they are."""
    for path in tree.with_suffix(".cpp", ".h"):
        if not path.startswith(CHECKED) or path.startswith(SKIPPED):
            continue
        for number, line in tree.lines(path):
            constant = CONSTANT.search(line)
            if constant and not REASON.search(line):
                yield Finding(
                    path,
                    number,
                    f"{constant.group(1)} is a tuning constant: make it a field of a policy in passes/cost, "
                    "or end the line with '// limit: REASON', '// format: REASON' or '// math: REASON'",
                )
