# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Kills compilations that share a cache at any moment, and looks at what that leaves: kill-compilations.py WANTED MODEL...

WANTED has for each model, as "MODEL.tenon", what a compilation without a cache writes. TENON_KILLS says how many are killed: 6 by default.
"""

import os
import pathlib
import random
import signal
import subprocess
import sys
import time

TARGET = ["--target", "x86-64-v3", "--quiet"]


def start(model, output):
    return subprocess.Popen(["tenon", "compile", model, "-o", output, *TARGET], start_new_session=True, stderr=subprocess.PIPE)


def main(wanted, *models):
    chance = random.Random(20261126)
    duration = 1.0
    for number in range(int(os.environ.get("TENON_KILLS", "6"))):
        model = chance.choice(models)
        output = pathlib.Path(f"killed-{number}.tenon")
        begin = time.monotonic()
        process = start(model, output)
        time.sleep(chance.uniform(0, duration))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        _, said = process.communicate()
        duration = max(duration, time.monotonic() - begin) if process.returncode == 0 else duration
        if said:
            sys.exit(f"compilation {number} of {model} said: {said.decode()}")
        if output.exists() and output.read_bytes() != pathlib.Path(wanted, f"{model}.tenon").read_bytes():
            sys.exit(f"compilation {number} of {model} left another artifact")
        # Half of the time something is evicted, and killed as well.
        if chance.random() < 0.5:
            pruning = subprocess.Popen(["tenon", "cache", "prune", "--limit", "10K"], start_new_session=True, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.1))
            if pruning.poll() is None:
                os.killpg(pruning.pid, signal.SIGKILL)
            pruning.wait()
    faults = subprocess.run(["tenon", "cache", "verify"], capture_output=True, text=True).stderr.splitlines()
    # An eviction removes a content before its row is gone: such an entry counts as none.
    if any(not fault.endswith("its content is gone") for fault in faults):
        sys.exit("\n".join(faults))
    for model in models:
        for output in (f"{model}.first", f"{model}.second"):
            process = start(model, output)
            _, said = process.communicate()
            if process.returncode or said or pathlib.Path(output).read_bytes() != pathlib.Path(wanted, f"{model}.tenon").read_bytes():
                sys.exit(f"{model} is compiled to something else: {said.decode()}")


main(*sys.argv[1:])
