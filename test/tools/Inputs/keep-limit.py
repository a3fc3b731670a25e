#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles a model as it is, and with a memory limit some bytes below what that needs.

    keep-limit.py MODEL.onnx BYTES

Prints how the limit is kept. Fails where it is not, or where outputs differ.
"""

import json
import pathlib
import re
import subprocess
import sys


def call(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def getTotal(artifact):
    memory = json.loads(call("tenon", "inspect", "--memory", "--json", artifact))
    return re.search(r'"total_bytes": (\d+)', json.dumps(memory)).group(1)


model, less = sys.argv[1], int(sys.argv[2])
plain, limited = pathlib.Path(model + ".plain"), pathlib.Path(model + ".limited")
# What is recomputed only because that is faster leaves a limit less to do, and so do operands that AMX has split in memory.
FORMS = ["--exclude", "recomputed_per_consumer", "--tolerance", "1e-6"]
call("tenon", "compile", model, "-o", plain, *FORMS)
limit = int(getTotal(plain)) - less
call("tenon", "compile", model, "-o", limited, "--memory-limit", limit, *FORMS)
assert int(getTotal(limited)) <= limit, (getTotal(limited), limit)
outputs = []
for artifact in (plain, limited):
    folder = pathlib.Path(f"{artifact}.outputs")
    folder.mkdir(exist_ok=True)
    names = [tensor["name"] for tensor in json.loads(call("tenon", "inspect", "--json", artifact))["inputs"]]
    inputs = [part for name in names for part in ("--input", f"{name}=random:1")]
    options = ["--memory-limit", limit] if artifact == limited else []
    call("tenon-run", artifact, *inputs, *options, "--threads", 1, "--output-dir", folder)
    outputs.append([path.read_bytes() for path in sorted(folder.iterdir())])
assert outputs[0] == outputs[1], "outputs differ"
found = re.findall(rb'"(recomputed|weight_budget)":', limited.read_bytes())
print("kept by", " and ".join(word.decode() for word in found) or "order")
