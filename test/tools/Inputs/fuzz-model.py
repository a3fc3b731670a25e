# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Damages digits.onnx in many ways: whatever the compiler says, it says in its own words and with its own code.

    fuzz-model.py MODEL cut|flip COUNT
"""

import concurrent.futures
import os
import random
import subprocess
import sys
import tempfile


def damage(kind, data, generator):
    if kind == "cut":
        return data[: generator.randrange(len(data))]
    data = bytearray(data)
    # Most bytes are weights; what goes wrong goes wrong in the graph, at both ends of the file.
    for _ in range(generator.choice([1, 1, 2, 8])):
        place = generator.randrange(len(data)) if generator.random() < 0.2 else generator.randrange(1200)
        data[-1 - place if generator.random() < 0.5 else place] ^= 1 << generator.randrange(8)
    return bytes(data)


def attempt(kind, seed, data, folder):
    path = os.path.join(folder, f"{kind}{seed}.onnx")
    with open(path, "wb") as file:
        file.write(damage(kind, data, random.Random(f"{kind} {seed}")))
    # To run what is left of the model takes longer than to compile it.
    options = [] if seed % 4 == 0 else ["--no-measure-error"]
    result = subprocess.run(["tenon", "compile", path, *options, "-o", path + ".tenon"], capture_output=True, timeout=120)
    lines = result.stderr.splitlines()
    ours = all(line.startswith(b"tenon: error: ") or line.startswith(b"tenon: warning: ") for line in lines)
    if result.returncode not in (0, 1, 3, 5) or not ours or (result.returncode and not lines):
        return f"{kind} {seed}: exit code {result.returncode}: {result.stderr.decode('utf-8', 'replace')}"
    os.remove(path)
    if result.returncode and os.path.exists(path + ".tenon"):
        return f"{kind} {seed}: failed, and left an artifact"
    return None


def main():
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    kind, count = sys.argv[2], int(sys.argv[3])
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        # Kernels of what is left whole are compiled once.
        os.environ["TENON_CACHE_DIR"] = os.path.join(folder, "cache")
        faults = [f for f in pool.map(lambda seed: attempt(kind, seed, data, folder), range(count)) if f]
    print("\n".join(faults + [f"{kind}: {count - len(faults)} of {count} as wanted"]))
    return 1 if faults else 0


sys.exit(main())
