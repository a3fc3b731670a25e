# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Damages the files of a Hugging Face folder: whatever the compiler says, it says in its own words: damage.py FOLDER COUNT."""

import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import tempfile

# What turns one valid text into another, and one number into a bad one.
SNIPPETS = [b"", b"-", b"0", b"9" * 19, b"1e999", b"null", b"[]", b"{}", b'"', b"\x00", b"\xff", b",", b"[" * 40]


def damage(data, generator):
    """Most of a file of weights is weights; what goes wrong goes wrong in its first bytes."""
    data = bytearray(data)
    for _ in range(generator.choice([1, 1, 2, 4])):
        place = generator.randrange(min(len(data), 1200))
        if generator.random() < 0.5:
            data[place] ^= 1 << generator.randrange(8)
        else:
            data[place : place + generator.randrange(4)] = generator.choice(SNIPPETS)
    return bytes(data)


def attempt(seed, source, root):
    generator = random.Random(f"damage {seed}")
    folder = os.path.join(root, str(seed))
    shutil.copytree(source, folder)
    path = os.path.join(folder, generator.choice(["config.json", "model.safetensors"]))
    with open(path, "rb") as file:
        data = damage(file.read(), generator)
    with open(path, "wb") as file:
        file.write(data)
    result = subprocess.run(["tenon", "compile", folder, "-o", folder + ".tenon"], capture_output=True, timeout=120)
    lines = result.stderr.splitlines()
    ours = all(line.startswith(b"tenon: error: ") for line in lines)
    if result.returncode not in (0, 1, 3, 5) or not ours or (result.returncode and not lines):
        return f"{seed}: exit code {result.returncode}: {result.stderr.decode('utf-8', 'replace')}"
    return None


def main():
    source, count = sys.argv[1], int(sys.argv[2])
    with tempfile.TemporaryDirectory() as root, concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = [f for f in pool.map(lambda seed: attempt(seed, source, root), range(count)) if f]
    print("\n".join(faults + [f"{count - len(faults)} of {count} as wanted"]))
    return 1 if faults else 0


sys.exit(main())
