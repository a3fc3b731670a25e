# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles a model with each limit of optional steps, and compares its outputs with f64: all-limits.py MODEL."""

import subprocess
import sys

model = sys.argv[1]


steps = subprocess.run(
    ["tenon", "compile", "--quiet", model, "-o", "all-limits.tenon", "--opt-bisect-limit", "1000000"],
    check=True,
    capture_output=True,
    text=True,
).stderr.splitlines()
assert len(steps) > 20, steps
for limit in range(len(steps) + 1):
    command = ["tenon", "debug", "compare", model, "--outputs-only", "--opt-bisect-limit", str(limit)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {steps[limit - 1] if limit else ''}\n{result.stdout}{result.stderr}")
