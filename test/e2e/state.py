# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A model whose caches a session keeps, against the same model with caches that are passed by hand."""

import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import onnx_writer
from onnx_writer import node
from tensors import Tensor, integers, randoms, readNpy, writeNpy

HEADS, SIZE, WIDTH, CAPACITY = 3, 4, 12, 64
LENGTHS = [3, 1, 1, 2, 1, 5, 1, 1, 7, 1, 1, 1, 4, 2, 1, 1, 3, 1, 1, 13]
CACHES = [f"{layer}.{kind}" for layer in range(2) for kind in ("key", "value")]


def attention(layer, x):
    """Nodes of a layer whose keys and values are those of the past and then its own."""
    own = lambda name: f"{layer}.{name}"
    nodes = []
    for kind in ("query", "key", "value"):
        nodes += [
            node("MatMul", [x, own(f"w_{kind}")], [own(f"{kind}_rows")]),
            node("Reshape", [own(f"{kind}_rows"), "split"], [own(f"{kind}_split")]),
            node("Transpose", [own(f"{kind}_split")], [own(f"new_{kind}")], perm=[0, 2, 1, 3]),
        ]
    for kind in ("key", "value"):
        nodes.append(node("Concat", [f"past.{layer}.{kind}", own(f"new_{kind}")], [f"present.{layer}.{kind}"], axis=2))
    return nodes + [
        node("Transpose", [f"present.{layer}.key"], [own("turned")], perm=[0, 1, 3, 2]),
        node("MatMul", [own("new_query"), own("turned")], [own("products")]),
        node("Mul", [own("products"), "scale"], [own("scores")]),
        node("Softmax", [own("scores")], [own("weights")], axis=-1),
        node("MatMul", [own("weights"), f"present.{layer}.value"], [own("heads")]),
        node("Transpose", [own("heads")], [own("heads_last")], perm=[0, 2, 1, 3]),
        node("Reshape", [own("heads_last"), "join"], [own("joined")]),
        node("Add", [x, own("joined")], [own("y")]),
    ]


def makeModel():
    """Two layers, and a state of one size: a sum that is halved in each step."""
    past = [(f"past.{name}", "f32", [1, HEADS, "past", SIZE]) for name in CACHES]
    present = [(f"present.{name}", "f32", [1, HEADS, "total", SIZE]) for name in CACHES]
    nodes = attention(0, "x") + attention(1, "0.y") + [
        node("ReduceSum", ["x", "one"], ["sums"], keepdims=0),
        node("Add", ["hidden", "sums"], ["more"]),
        node("Mul", ["more", "scale"], ["hidden_next"]),
    ]
    constants = {f"{layer}.w_{kind}": randoms(f"{layer}{kind}", WIDTH, WIDTH) for layer in range(2) for kind in ("query", "key", "value")}
    constants |= {
        "split": integers([1, -1, HEADS, SIZE]),
        "join": integers([1, -1, WIDTH]),
        "scale": Tensor([], [0.5]),
        "one": integers([1]),
    }
    return onnx_writer.model(
        nodes,
        inputs=[("x", "f32", [1, "length", WIDTH]), *past, ("hidden", "f32", [1, WIDTH])],
        outputs=[("1.y", "f32", [1, "length", WIDTH]), *present, ("hidden_next", "f32", [1, WIDTH])],
        constants=constants,
    )


def call(*command, code=0):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != code:
        sys.exit(f"{' '.join(command)}\nexit code {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout + result.stderr


def compare(step, got, wanted):
    if got.shape != wanted.shape:
        sys.exit(f"step {step}: shape {got.shape}, wanted {wanted.shape}")
    most = max(abs(b) for b in wanted.data)
    for a, b in zip(got.data, wanted.data):
        if not math.isfinite(a) or abs(a - b) > 1e-5 * most:
            sys.exit(f"step {step}: {a}, wanted {b}")


class ByHand:
    def __init__(self, folder):
        self.folder, self.artifact = folder, f"{folder}/plain.tenon"
        call("tenon", "compile", f"{folder}/model.onnx", "-o", self.artifact)
        for name in CACHES:
            writeNpy(f"{folder}/past.{name}.npy", Tensor([1, HEADS, 0, SIZE], []))
        writeNpy(f"{folder}/hidden.npy", Tensor([1, WIDTH], [0] * WIDTH))

    def step(self, x):
        pasts = [f"past.{name}" for name in CACHES] + ["hidden"]
        nexts = [f"present.{name}" for name in CACHES] + ["hidden_next"]
        inputs = [f"--input={name}={self.folder}/{name}.npy" for name in pasts]
        outputs = [f"--output={name}={self.folder}/{name}.npy" for name in nexts]
        call("tenon-run", self.artifact, f"--input=x={x}", *inputs, *outputs, f"--output=1.y={self.folder}/plain.npy")
        for past, following in zip(pasts, nexts):
            os.replace(f"{self.folder}/{following}.npy", f"{self.folder}/{past}.npy")
        return readNpy(f"{self.folder}/plain.npy")


class Kept:
    def __init__(self, folder):
        self.folder, self.artifact, self.steps = folder, f"{folder}/state.tenon", 0
        call("tenon", "compile", f"{folder}/model.onnx", "--state", "past.*=present.*", "--state", "hidden=hidden_next",
             "--state-capacity", str(CAPACITY), "-o", self.artifact)

    def run(self, x, *options, code=0):
        states = [f"--save-state={self.folder}/after", *([f"--restore-state={self.folder}/before"] if self.steps else [])]
        return call("tenon-run", self.artifact, f"--input=x={x}", *states, *options, code=code)

    def step(self, x):
        self.run(x, f"--output=1.y={self.folder}/state.npy")
        os.replace(f"{self.folder}/after", f"{self.folder}/before")
        self.steps += 1
        return readNpy(f"{self.folder}/state.npy")


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"no {part!r} in:\n{text}")


def refuse(model, code, *options, wanted):
    expect(call("tenon", "compile", model, *options, "-o", os.devnull, code=code), wanted)


def main():
    with tempfile.TemporaryDirectory() as folder:
        onnx_writer.write(f"{folder}/model.onnx", makeModel())
        plain, kept, x = ByHand(folder), Kept(folder), f"{folder}/x.npy"
        for step, length in enumerate(LENGTHS):
            writeNpy(x, randoms(step, 1, length, WIDTH))
            compare(step, kept.step(x), plain.step(x))

        # The caches are full up to 14 rows.
        writeNpy(x, randoms("many", 1, CAPACITY - sum(LENGTHS) + 1, WIDTH))
        expect(kept.run(x, code=1), f"to be at most {CAPACITY}; ", f"past is {sum(LENGTHS)} in 'past.")
        expect(call("tenon", "inspect", "--wide", kept.artifact),
               f"past.0.key: f32[{CAPACITY}, 1, {HEADS}, {SIZE}], growing, past rows are live, length + past after a run",
               f"hidden: f32[1, {WIDTH}], whole")
        # What is computed for a cache is computed there, and read there.
        instructions = call("tenon", "inspect", "--instructions", "--wide", kept.artifact)
        expect(instructions, "weight 0.w_key, state past.0.key", "state past.0.value, state past.0.key, arena")
        if any(" copy " in line and "past." in line for line in instructions.splitlines()):
            sys.exit(f"caches are copied:\n{instructions}")
        expect(call("tenon-run", kept.artifact, "--benchmark", "--runs=9", f"--restore-state={folder}/before", "--size=length=1"), "median")
        model = f"{folder}/model.onnx"
        refuse(model, 1, "--state", "cache.*=present.*", wanted="matches no input, and the inputs are 'x', 'past.0.key'")
        refuse(model, 1, "--state", "past.*=future.*", wanted="goes with output 'future.0.key', and the outputs are")
        refuse(model, 1, "--state", "past.*=present.*", wanted="grows along dimension 2 and needs a capacity: pass --state-capacity")
        refuse(model, 1, "--state", "hidden=1.y", wanted="cannot pair 'hidden', 1x12, with '1.y', 1xlengthx12")
        refuse(model, 2, "--state", "past.*=present", wanted="expected INPUT=OUTPUT, with one star in both or in neither")
        refuse(model, 2, "--state-capacity", "0", wanted="--state-capacity")
        expect(call("tenon-run", plain.artifact, "--save-state=/tmp/none", code=2), "keeps nothing from run to run")


main()
