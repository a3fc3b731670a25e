# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""What the conformance runner thinks of Bernoulli's outputs: random-judge.py zeros|ones|fair|swapped FOLDER."""

import os
import pathlib
import random
import sys
import types

sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(here, "..", "..", "conformance"), os.path.join(here, "..", "..", "e2e")]

import random_outputs
import wire
from tensors import build, writeNpy

way, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
source = random.Random(5)
probabilities = [0.0, 1.0, *(source.random() for _ in range(8))]
draw = {
    "zeros": lambda p: float(p == 1),
    "ones": lambda p: float(p != 0),
    "fair": lambda p: float(source.random() < p),
    "swapped": lambda p: float(source.random() < 1 - p),
}[way]
wire.writeFloatTensor(folder / "input_0.pb", [10], probabilities)
wire.writeFloatTensor(folder / "output_0.pb", [10], [0.0] * 10)
case = types.SimpleNamespace(name="node/test_bernoulli", operator="Bernoulli", model=types.SimpleNamespace(operators=["Bernoulli"], outputs=[types.SimpleNamespace(name="y")]))
judge = random_outputs.Judge(case, folder)
complaint = ""
for _ in judge.seeds:
    values = [draw(p) for p in probabilities]
    writeNpy(folder / "y.npy", build([10], lambda index: values[index[0]], "f32"))
    complaint = complaint or judge.look(folder)
print(f"{way}: {complaint or judge.conclude() or 'possible'}")
