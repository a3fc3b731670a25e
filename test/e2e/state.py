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


class Recurrent:
    """A model with pairs of an input and an output, and what the inputs are at first."""

    def __init__(self, path, pairs, first, output, *options):
        self.path, self.pairs, self.first, self.output, self.options = path, pairs, first, output, options


class ByHand:
    """Passes outputs of a step as inputs of the next one."""

    def __init__(self, folder, model):
        self.folder, self.model, self.artifact = folder, model, f"{folder}/plain.tenon"
        call("tenon", "compile", model.path, *model.options, "-o", self.artifact)
        for name, value in model.first.items():
            writeNpy(f"{folder}/{name}.npy", value)

    def step(self, inputs):
        inputs = {**inputs, **{name: f"{self.folder}/{name}.npy" for name in self.model.pairs}}
        outputs = [f"--output={name}={self.folder}/{name}.npy" for name in (*self.model.pairs.values(), self.model.output)]
        call("tenon-run", self.artifact, *(f"--input={name}={path}" for name, path in inputs.items()), *outputs)
        for past, following in self.model.pairs.items():
            os.replace(f"{self.folder}/{following}.npy", f"{self.folder}/{past}.npy")
        return readNpy(f"{self.folder}/{self.model.output}.npy")


class Kept:
    """Goes on from a file each time."""

    def __init__(self, folder, model, *states, options=()):
        self.folder, self.model, self.artifact, self.steps = folder, model, f"{folder}/state.tenon", 0
        patterns = [word for pattern in states for word in ("--state", pattern)]
        call("tenon", "compile", model.path, *model.options, *options, *patterns, "--state-capacity", str(CAPACITY), "-o", self.artifact)

    def run(self, inputs, *options, code=0):
        states = [f"--save-state={self.folder}/after", *([f"--restore-state={self.folder}/before"] if self.steps else [])]
        inputs = [f"--input={name}={path}" for name, path in inputs.items()]
        return call("tenon-run", self.artifact, *inputs, *states, *options, code=code)

    def step(self, inputs):
        self.run(inputs, f"--output={self.model.output}={self.folder}/kept.npy")
        os.replace(f"{self.folder}/after", f"{self.folder}/before")
        self.steps += 1
        return readNpy(f"{self.folder}/kept.npy")


def expect(text, *parts):
    for part in parts:
        if part not in text:
            sys.exit(f"no {part!r} in:\n{text}")


def refuse(model, code, *options, wanted):
    expect(call("tenon", "compile", model, *options, "-o", os.devnull, code=code), wanted)


def tryOwnModel(folder):
    path, x = f"{folder}/model.onnx", f"{folder}/x.npy"
    onnx_writer.write(path, makeModel())
    pairs = {**{f"past.{name}": f"present.{name}" for name in CACHES}, "hidden": "hidden_next"}
    first = {f"past.{name}": Tensor([1, HEADS, 0, SIZE], []) for name in CACHES} | {"hidden": Tensor([1, WIDTH], [0] * WIDTH)}
    model = Recurrent(path, pairs, first, "1.y")
    # A step of one row has a program of its own, which goes on with the states of the other one.
    states, programs = ("past.*=present.*", "hidden=hidden_next"), ["--specialize=length=1"]
    plain, kept = ByHand(folder, model), Kept(folder, model, *states, options=programs)
    for step, length in enumerate(LENGTHS):
        writeNpy(x, randoms(step, 1, length, WIDTH))
        compare(step, kept.step({"x": x}), plain.step({"x": x}))

    # The caches are full up to a few rows.
    writeNpy(x, randoms("many", 1, CAPACITY - sum(LENGTHS) + 1, WIDTH))
    expect(kept.run({"x": x}, code=1), f"to be at most {CAPACITY}; ", f"past is {sum(LENGTHS)} in 'past.")
    expect(call("tenon", "inspect", "--wide", kept.artifact),
           f"past.0.key: f32[{CAPACITY}, 1, {HEADS}, {SIZE}], growing, past rows are live, length + past after a run",
           f"hidden: f32[1, {WIDTH}], whole")
    # What is computed for a cache is computed there, and read there.
    instructions = call("tenon", "inspect", "--instructions", "--wide", kept.artifact)
    expect(instructions, "weight 0.w_key, state past.0.key", "state past.0.value, state past.0.key, arena")
    if any(" copy " in line and "past." in line for line in instructions.splitlines()):
        sys.exit(f"caches are copied:\n{instructions}")
    # Each run of a benchmark begins with the same states, or the last ones would find no room.
    expect(call("tenon-run", kept.artifact, "--benchmark", "--runs=99", f"--restore-state={folder}/before", "--size=length=4"), "median")

    refuse(path, 1, "--state", "cache.*=present.*", wanted="matches no input, and the inputs are 'x', 'past.0.key'")
    refuse(path, 1, "--state", "past.*=future.*", wanted="goes with output 'future.0.key', and the outputs are")
    refuse(path, 1, "--state", "past.*=present.*", wanted="grows along dimension 2 and needs a capacity: pass --state-capacity")
    refuse(path, 1, "--state", "hidden=1.y", wanted="cannot pair 'hidden', 1x12, with '1.y'")
    refuse(path, 2, "--state", "past.*=present", wanted="expected INPUT=OUTPUT, with one star in both or in neither")
    refuse(path, 2, "--state-capacity", "0", wanted="--state-capacity")
    expect(call("tenon-run", plain.artifact, "--save-state=/tmp/none", code=2), "has no states")


def tryGpt2(folder):
    """Keys and values stacked in one tensor, and a mask of the length that past and new have together."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    path = os.path.join(os.environ.get("TENON_SHARED", os.path.join(source, "..", "shared")), "models/gpt2-contrib/model.onnx")
    if not os.path.exists(path):
        return
    pairs = {f"past_{layer}": f"present_{layer}" for layer in range(5)}
    first = {name: Tensor([2, 1, 4, 0, 8], []) for name in pairs}
    model = Recurrent(path, pairs, first, "logits", "--shape=batch_size=1", "--no-measure-error")
    plain, kept = ByHand(folder, model), Kept(folder, model, "past_*=present_*")
    past, files = 0, {name: f"{folder}/{name}.npy" for name in ("input_ids", "position_ids", "attention_mask")}
    for step, length in enumerate(LENGTHS):
        writeNpy(files["input_ids"], integers([(step * 37 + i * 11) % 1000 for i in range(length)], [1, length], "i32"))
        writeNpy(files["position_ids"], integers(range(past, past + length), [1, length], "i32"))
        writeNpy(files["attention_mask"], integers([1] * (past + length), [1, past + length], "i32"))
        past += length
        compare(step, kept.step(files), plain.step(files))
    # Keys and values are read where they lie.
    instructions = call("tenon", "inspect", "--instructions", "--wide", kept.artifact)
    expect(instructions, "state past_0, state past_0, arena", "state past_4, state past_4, arena")


def checkSequences(artifact, count, *inputs):
    """Texts of different lengths in one run, beside each by itself."""
    expect(call("tenon-sequences-test", artifact, str(count), "6", *inputs), "differs by")


def trySequences(folder):
    path, artifact = f"{folder}/model.onnx", f"{folder}/several.tenon"
    with open(path, "wb") as f:
        f.write(makeModel())
    states = ["--state", "past.*=present.*", "--state", "hidden=hidden_next", "--state-capacity", str(CAPACITY)]
    call("tenon", "compile", path, *states, "--sequences", "3", "--sequences", "2", "-o", artifact)
    for count in (2, 3):
        checkSequences(artifact, count, f"x=1,1,{WIDTH}")
        checkSequences(artifact, count, f"x=1,5,{WIDTH}")
    refuse(path, 2, "--sequences", "2", wanted="--sequences: nothing is kept from run to run without --context or --state")


for attempt in (tryOwnModel, trySequences, tryGpt2):
    with tempfile.TemporaryDirectory() as temporary:
        attempt(temporary)
