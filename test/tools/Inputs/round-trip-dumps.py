# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Feeds a folder of dumps back: round-trip-dumps.py MODEL FOLDER TOLERANCE.

Every file is parsed, printed and parsed again by tenon-opt. Those that are whole programs on tensors are compiled, too, and compute what the model
computes.
"""

import glob
import os
import re
import subprocess
import sys

import array


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result.stdout


def compute(model, path):
    # Results are compared here, which takes less time than to measure the error of each.
    run("tenon", "compile", model, "--target", "host", "--no-measure-error", "--quiet", "-o", path + ".tenon")
    run("tenon-run", path + ".tenon", "--input", "random:3", "--output", path + ".npy")
    with open(path + ".npy", "rb") as file:
        data = file.read()
    header = 10 + int.from_bytes(data[8:10], "little")
    return array.array("f", data[header:])


def is_program(text):
    """Functions on tensors without kernels: what a model is imported to, and what graph passes make of that."""
    operations = set(re.findall(r"^\s*(?:%\S+ = )?([a-z_]+\.[a-z_.]+)", text, re.MULTILINE))
    return "tenon.launch" not in operations and all(name.startswith(("tenon.", "func.")) for name in operations)


def main():
    model, folder, tolerance = sys.argv[1:]
    # Programs end in the same kernels: code is generated once for each.
    os.environ["TENON_CACHE_DIR"] = os.path.join(folder, "..", "cache")
    expected = compute(model, os.path.join(folder, "..", "direct"))
    paths = sorted(glob.glob(os.path.join(folder, "*.mlir")))
    programs = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.startswith("// IR after "), path
        assert "__elided__" not in text and "loc(unknown)" not in text, path
        run("tenon-opt", path, "-o", os.devnull)
        if is_program(text):
            programs.append(path)
    assert len(programs) >= 8 and programs[0] == paths[0], programs
    for path in programs:
        found = compute(path, os.path.join(folder, "..", "again"))
        scale = max(map(abs, expected))
        error = max(abs(a - b) for a, b in zip(found, expected)) / scale
        assert len(found) == len(expected) and error <= float(tolerance), f"{path}: off by {error}"
    print(f"{len(paths)} files, {len(programs)} programs")


main()
