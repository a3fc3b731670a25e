# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs the commands of README.md's tour, in order, in a folder of their own: run-tour.py README MODELS."""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import huggingface
from onnx_writer import model, node, write


def getCommands(path):
    with open(path) as file:
        tour = file.read().split("## A tour")[1].split("\n## ")[0]
    return [line.strip().split("  #")[0] for line in tour.splitlines() if line.startswith("    tenon")]


def main():
    commands = getCommands(sys.argv[1])
    assert len(commands) >= 8, commands
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(sys.argv[2]), os.path.join(folder, "models"))
        # The tour's model.onnx and llama/ stand for the reader's own.
        dims = [1, 3, "H", "W"]
        write(os.path.join(folder, "model.onnx"), model([node("Relu", ["x"], ["y"])], [("x", "f32", dims)], [("y", "f32", dims)]))
        huggingface.writeFolder(huggingface.makeModels()["llama"], os.path.join(folder, "llama"))
        for command in commands:
            result = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
            print(f"{result.returncode} {command}")
            if result.returncode:
                print(result.stderr)
                return 1
        for made in ("digits.tenon", "llama.tenon", "model.tenon", "probabilities.npy", "trace.json", "dumps"):
            assert os.path.exists(os.path.join(folder, made)), made + " is missing"
    return 0


sys.exit(main())
