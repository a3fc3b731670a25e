# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles every dump of a model: resume-dumps.py MODEL FOLDER TENON-RUN-OPTION...

FOLDER gets the dumps. Each is compiled, run, and compared with the model's own artifact: exactly where its paths are chosen, and else by the tolerance
of compilations. Those of a kernel alone are refused in one line. Then the same for what `--emit mlir` and `--dump-after` write.
"""

import array
import collections
import glob
import os
import re
import subprocess
import sys

TOLERANCE = 1e-5


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result


def read_npy(path):
    with open(path, "rb") as file:
        data = file.read()
    header = 10 + int.from_bytes(data[8:10], "little")
    return data[:header], array.array("f", data[header:])


def compute(artifact, options, folder):
    """The outputs, by their names: header and elements."""
    for path in glob.glob(os.path.join(folder, "*.npy")):
        os.remove(path)
    run("tenon-run", artifact, *options, "--output-dir", folder)
    paths = sorted(glob.glob(os.path.join(folder, "*.npy")))
    assert paths, folder
    return {os.path.basename(path): read_npy(path) for path in paths}


def compare(path, found, expected, exactly):
    assert found.keys() == expected.keys(), path
    for name, (header, want) in expected.items():
        assert found[name][0] == header and len(want) > 0, (path, name)
        largest = max(map(abs, want))
        error = max(abs(a - b) for a, b in zip(found[name][1], want)) / largest
        assert error <= (0 if exactly else TOLERANCE), f"{path}: {name} is off by {error}"


def resume(path, expected, options, folder, exactly):
    artifact = os.path.join(folder, "again.tenon")
    # Results are compared here, which takes less time than to measure the error of each.
    run("tenon", "compile", path, "--no-measure-error", "--quiet", "-o", artifact)
    compare(path, compute(artifact, options, folder), expected, exactly)


def refuse(path, folder):
    result = subprocess.run(["tenon", "compile", path, "-o", os.path.join(folder, "none.tenon")], capture_output=True, text=True)
    expected = f"tenon: error: {path}: it holds kernels, but no program that launches them; "
    assert result.returncode == 3 and result.stderr.startswith(expected) and result.stderr.count("\n") == 1, (path, result)
    assert not os.path.exists(os.path.join(folder, "none.tenon"))


def main():
    model, dumps, *options = sys.argv[1:]
    folder = dumps + ".out"
    os.makedirs(folder, exist_ok=True)
    # Most dumps end in the same kernels: code is generated once for each.
    os.environ["TENON_CACHE_DIR"] = os.path.join(folder, "cache")
    direct = os.path.join(folder, "direct.tenon")
    run("tenon", "compile", model, "--target", "host", "--quiet", "--dump-ir", dumps, "-o", direct)
    expected = compute(direct, options, folder)
    counts = collections.Counter()
    isChosen = False
    refused = set()
    for path in sorted(glob.glob(os.path.join(dumps, "*.mlir"))):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        module = re.search(r"^module @(\w+)", text, re.MULTILINE)
        isAlone = bool(module and re.search(rf"func\.func .*@{module[1]}\(|llvm\.func .*@{module[1]}\(", text))
        isChosen |= path.endswith("-tenon-outline.mlir")
        if isAlone:
            # Those of all kernels are refused alike.
            name = path.split(module[1] + "-")[1]
            if name not in refused:
                refuse(path, folder)
            refused.add(name)
            counts["alone"] += 1
        else:
            resume(path, expected, options, folder, isChosen)
            counts["outlined" if isChosen else "model"] += 1
    assert min(counts["model"], counts["outlined"], counts["alone"]) >= 3, counts

    emitted = os.path.join(folder, "emitted.mlir")
    run("tenon", "compile", model, "--target", "host", "--quiet", "--emit", "mlir", "-o", emitted)
    resume(emitted, expected, options, folder, True)
    piped = os.path.join(folder, "piped.mlir")
    with open(piped, "w", encoding="utf-8") as file:
        file.write(run("tenon", "compile", model, "--target", "host", "--emit", "mlir", "-o", "-").stdout)
    resume(piped, expected, options, folder, True)
    for name in ("tenon-fuse", "tenon-outline"):
        shown = os.path.join(folder, "shown.mlir")
        with open(shown, "w", encoding="utf-8") as file:
            file.write(run("tenon", "compile", model, "--target", "host", "--dump-after", name).stderr)
        resume(shown, expected, options, folder, name == "tenon-outline")
    print(f"{counts['model']} graphs, {counts['outlined']} with launches, {counts['alone']} kernels alone")


main()
