# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs an artifact of profiles.mlir at many sizes, by the program that is picked, by the one for all sizes and by every other that takes
them, and compares what comes out."""

import ast
import pathlib
import struct
import subprocess
import sys

PROGRAMS = 6
TOLERANCE = 1e-5


def run(artifact, folder, sizes, program):
    """The shape and the elements of the output; None where the program does not take the sizes."""
    path = folder / "z.npy"
    command = ["tenon-run", artifact, "--input", "x=random:1", "--input", "y=random:2", "--output", f"z={path}"]
    for symbol, value in sizes.items():
        command += ["--size", f"{symbol}={value}"]
    if program is not None:
        command += ["--program", str(program)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode == 1 and program is not None:
        return None
    if result.returncode != 0:
        sys.exit(f"{sizes}, program {program}: {result.stderr}")
    return readFloats(path.read_bytes())


def readFloats(file):
    """A .npy file of f32."""
    (length,) = struct.unpack_from("<H", file, 8)
    header = ast.literal_eval(file[10 : 10 + length].decode())
    return header["shape"], struct.unpack(f"<{(len(file) - 10 - length) // 4}f", file[10 + length :])


def isNear(a, b):
    largest = max((abs(value) for value in b), default=0)
    return len(a) == len(b) and all(abs(x - y) <= TOLERANCE * largest for x, y in zip(a, b))


def main(artifact, folder):
    folder.mkdir(parents=True, exist_ok=True)
    taken = set()
    for n in (0, 1, 2, 3, 4, 5, 8, 9, 10, 11, 70):
        for m in (1, 3, 9, 10):
            sizes = {"N": n, "M": m}
            shape, wanted = run(artifact, folder, sizes, "general")
            for program in (None, *range(PROGRAMS)):
                found = run(artifact, folder, sizes, program)
                if found is None:
                    continue
                taken.add(program)
                if found[0] != shape or not isNear(found[1], wanted):
                    sys.exit(f"{sizes}: program {program} gives {found}, not {shape}, {wanted}")
    if len(taken) != PROGRAMS + 1:
        sys.exit(f"only programs {taken} took any sizes")


main(sys.argv[1], pathlib.Path(sys.argv[2]))
