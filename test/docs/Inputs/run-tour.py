# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs the commands of README.md's tour, in order, in a folder of their own: run-tour.py README MODELS."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

def getCommands(path):
    with open(path) as file:
        tour = file.read().split("## A tour")[1].split("\n## ")[0]
    return [line.strip().split("  #")[0] for line in tour.splitlines() if line.startswith("    ")]


def main():
    commands = getCommands(sys.argv[1])
    assert len(commands) >= 8, commands
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(sys.argv[2]), os.path.join(folder, "models"))
        for command in commands:
            result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
            print(f"{result.returncode} {command}")
            if result.returncode:
                print(result.stderr)
                return 1
        for made in ("digits.tenon", "upscale.tenon", "exact.tenon", "larger.npy", "digits.html", "digits.s", "trace.json", "dumps"):
            assert os.path.exists(os.path.join(folder, made)), made + " is missing"
    return 0


sys.exit(main())
