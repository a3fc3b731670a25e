#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Indices, lengths and labels that are out of range: constants when the model is compiled, all others when it runs.

    out_of_range.py [--only TEXT] [--keep FOLDER]

build/bin has to be on the PATH. Each case has values at both ends of what is allowed, which run, and values just beyond them, which end
with exit code 1 and one line that names the node, the index and its limits; with one thread, with three, and between guard pages.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import numpy
import onnx
from onnx import helper
from programs import GUARD_PAGES, call

NODE = "the_node"
OPSET = 21
# Ways to run: options, and the environment.
WAYS = ([["--threads", "1"], {}], [["--threads", "3"], {}], [["--threads", "1"], GUARD_PAGES])
RANGE = r"index {index} is out of range, it has to be from {first} to {last}"


def floats(*shape):
    return numpy.arange(numpy.prod(shape, dtype=int), dtype=numpy.float32).reshape(shape) / 8


def ints(*values, dtype=numpy.int64):
    return numpy.array(values, dtype)


class Case:
    """`inputs` and what replaces `operand` among them: `good` values run, each of `bad` gives a message."""

    def __init__(self, name, operator, inputs, operand, good, bad, outputs=1, before=(), domain="", opset=None, **attributes):
        self.name, self.operator, self.inputs, self.operand = name, operator, inputs, operand
        self.good, self.bad, self.outputs, self.before = good, bad, outputs, before
        self.domain, self.opset, self.attributes = domain, opset, attributes

    def model(self, constant=None):
        """With the operand as an input, or as a constant."""
        values = {f"x{i}": value for i, value in enumerate(self.inputs) if value is not None}
        names = [f"x{i}" if value is not None else "" for i, value in enumerate(self.inputs)]
        names += [""] * (self.operand + 1 - len(names))
        names[self.operand] = "index"
        values["index"] = self.good[0]
        constants = [] if constant is None else [onnx.numpy_helper.from_array(constant, "index")]
        nodes = []
        for place, name in enumerate(names):
            if place in self.before:
                # What another node computes is no input of the kernel's own.
                nodes.append(helper.make_node("Neg", [name], [f"{name}_negative"], name="first"))
                nodes.append(helper.make_node("Neg", [f"{name}_negative"], [f"{name}_again"], name="second"))
                names[place] = f"{name}_again"
        outputs = [f"y{i}" for i in range(self.outputs)]
        nodes.append(helper.make_node(self.operator, names, outputs, name=NODE, domain=self.domain, **self.attributes))
        inputs = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
            for name, value in values.items()
            if not (constants and name == "index")
        ]
        results = [onnx.ValueInfoProto(name=name) for name in outputs]
        opsets = [helper.make_opsetid("", self.opset or OPSET)] + ([helper.make_opsetid(self.domain, 1)] if self.domain else [])
        return helper.make_model(helper.make_graph(nodes, "g", inputs, results, constants), opset_imports=opsets, ir_version=10)

    def feeds(self, value):
        return {f"x{i}": each for i, each in enumerate(self.inputs) if each is not None} | {"index": value}




def fill(values, place, index):
    changed = values.copy()
    changed.reshape(-1)[place] = index
    return changed


def bads(good, size, places=(0, -1), low=None, last=None):
    """`good` with one element out of range, at each of the places."""
    result = []
    last = size - 1 if last is None else last
    low = -size if low is None else low
    for index in (last + 1, low - 1, numpy.iinfo(good.dtype).max, numpy.iinfo(good.dtype).min):
        for place in places:
            result.append((fill(good, place, index), RANGE.format(index=index, first=low, last=last)))
    return result


def gathers():
    ends = ints(0, 4, -1, -5, 2)
    many = numpy.resize(ends, (37, 29))
    yield Case("Gather", "Gather", [floats(5, 3)], 1, [ends], bads(ends, 5))
    yield Case("Gather of i32", "Gather", [floats(5, 3)], 1, [ends.astype(numpy.int32)], bads(ends.astype(numpy.int32), 5))
    yield Case("Gather of a number", "Gather", [floats(5, 3)], 1, [ints(4).reshape(()), ints(-5).reshape(())], bads(ints(4).reshape(()), 5, [0]))
    yield Case("Gather of many", "Gather", [floats(5, 67)], 1, [many], bads(many, 5, (0, 500, -1)))
    yield Case("Gather inside", "Gather", [floats(2, 5, 3)], 1, [many], bads(many, 5, (0, 77, -1)), axis=1)
    yield Case("Gather of what is computed", "Gather", [floats(5, 3)], 1, [many], bads(many, 5)[:6], before=[1])
    matrix = numpy.resize(ends, (4, 5))
    yield Case("GatherElements", "GatherElements", [floats(5, 5)], 1, [matrix], bads(matrix, 5), axis=0)
    yield Case("GatherElements along rows", "GatherElements", [floats(4, 5)], 1, [matrix], bads(matrix, 5), axis=1)
    pairs = numpy.array([[0, 0], [4, 2], [-5, -3], [-1, 1]])
    yield Case("GatherND", "GatherND", [floats(5, 3)], 1, [pairs], bads(pairs, 5, (0, -2)) + bads(pairs, 3, (1, -1)))
    batch = numpy.array([[[0], [2]], [[-3], [1]]])
    yield Case("GatherND with a batch", "GatherND", [floats(2, 3, 4)], 1, [batch], bads(batch, 3), batch_dims=1)


def scatters():
    pairs = numpy.array([[0, 0], [4, 2], [-5, -2], [-2, 1]])
    yield Case("ScatterND", "ScatterND", [floats(5, 3), None, floats(4)], 1, [pairs], bads(pairs, 5, (0, -2)) + bads(pairs, 3, (1, -1)))
    rows = numpy.array([[0], [4], [-4], [-2]])
    yield Case("ScatterND of rows", "ScatterND", [floats(5, 67), None, floats(4, 67)], 1, [rows], bads(rows, 5), reduction="add")
    matrix = numpy.array([[0, 1, 2], [4, -4, -2]])
    for reduction in ("none", "add", "mul", "max", "min"):
        yield Case(f"ScatterElements, {reduction}", "ScatterElements", [floats(5, 3), None, floats(2, 3)], 1, [matrix], bads(matrix, 5), axis=0,
                   reduction=reduction)
    starts = ints(0, 3)
    yield Case("TensorScatter", "TensorScatter", [floats(2, 5, 3), floats(2, 2, 3)], 2, [starts], bads(starts, 5, low=0, last=3), opset=24)
    starts = ints(0, 4)
    yield Case("TensorScatter in a circle", "TensorScatter", [floats(2, 5, 3), floats(2, 2, 3)], 2, [starts], bads(starts, 5, low=0), opset=24,
               mode="circular")
    yield Case("MaxUnpool", "MaxUnpool", [floats(1, 1, 2, 2)], 1, [ints(0, 15, 7, 9).reshape(1, 1, 2, 2)],
               bads(ints(0, 15, 7, 9).reshape(1, 1, 2, 2), 16, low=0), kernel_shape=[2, 2], strides=[2, 2])


def lengths():
    steps = ints(1, 6, 0, dtype=numpy.int32)
    wide = steps.astype(numpy.int64)
    yield Case("ReverseSequence", "ReverseSequence", [floats(6, 3, 2)], 1, [wide], bads(wide, 6, low=0, last=6), time_axis=0, batch_axis=1)
    for operator, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        operands = [floats(6, 3, 2) / 9, floats(1, 4 * gates, 2) / 99, floats(1, 4 * gates, 4) / 999, None]
        for direction in ("forward", "reverse"):
            yield Case(f"{operator}, {direction}", operator, operands, 4, [steps], bads(steps, 6, low=0, last=6), hidden_size=4, direction=direction)


def labels():
    scores, target = floats(4, 5, 3), numpy.resize(ints(0, 4, 2), (4, 3))
    for reduction in ("none", "mean"):
        yield Case(f"NegativeLogLikelihoodLoss, {reduction}", "NegativeLogLikelihoodLoss", [scores], 1, [target], bads(target, 5, low=0),
                   reduction=reduction)
        yield Case(f"SoftmaxCrossEntropyLoss, {reduction}", "SoftmaxCrossEntropyLoss", [scores], 1, [target], bads(target, 5, low=0),
                   reduction=reduction)
    ignored = fill(target, 1, -7)
    yield Case("NegativeLogLikelihoodLoss with a label to ignore", "NegativeLogLikelihoodLoss", [scores], 1, [ignored], bads(ignored, 5, low=0),
               ignore_index=-7)


def regions():
    rois = numpy.array([[0, 0, 4, 4], [1, 1, 3, 3]], numpy.float32)
    batches = ints(0, 1)
    yield Case("RoiAlign", "RoiAlign", [floats(2, 3, 6, 6), rois], 2, [batches], bads(batches, 2, low=0), output_height=2, output_width=2)
    numbered = numpy.concatenate([[[0], [1]], rois], 1).astype(numpy.float32)
    wrong = [(fill(numbered, place, index), RANGE.format(index=index, first=0, last=1)) for place in (0, 5) for index in (2, -1)]
    yield Case("MaxRoiPool", "MaxRoiPool", [floats(2, 3, 6, 6)], 1, [numbered], wrong, pooled_shape=[2, 2])


def cases():
    for family in (gathers, scatters, lengths, labels, regions):
        yield from family()


class Checker:
    def __init__(self, folder):
        self.folder, self.faults, self.count = folder, [], 0

    def expect(self, case, what, result, code, pattern):
        self.count += 1
        lines = result[1].splitlines()
        fine = result[0] == code and (not pattern or (len(lines) == 1 and NODE in lines[0] and re.search(pattern, lines[0])))
        if not fine:
            self.faults.append(f"{case.name}: {what}: exit code {result[0]}: {lines[:2]}; wanted {code}: {pattern}")

    def write(self, case, model):
        path = self.folder / (re.sub(r"\W+", "-", case.name) + ".onnx")
        onnx.save(model, path)
        return path, path.with_suffix(".tenon")

    def run(self, case, artifact, value, code, pattern, isConstant=False):
        arguments = []
        for name, array in case.feeds(value).items():
            if isConstant and name == "index":
                continue
            path = self.folder / f"{name}.npy"
            numpy.save(path, array)
            arguments += ["--input", f"{name}={path}"]
        for options, environment in WAYS:
            what = f"{' '.join(options)} {environment or ''} index {value.reshape(-1)[:8].tolist()}"
            self.expect(case, what, call("tenon-run", artifact, *options, *arguments, environment=environment), code, pattern)

    def check(self, case):
        model, artifact = self.write(case, case.model())
        self.expect(case, "compile", call("tenon", "compile", model, "-o", artifact), 0, "")
        for value in case.good:
            self.run(case, artifact, value, 0, "")
        for value, pattern in case.bad:
            self.run(case, artifact, value, 1, pattern)
        if case.before:
            return
        # A constant is refused by the compiler, or where it does not look, by the run.
        model, artifact = self.write(case, case.model(case.bad[0][0]))
        result = call("tenon", "compile", model, "-o", artifact)
        if result[0] != 0:
            self.expect(case, "constant", result, 1, case.bad[0][1])
        else:
            self.run(case, artifact, case.bad[0][0], 1, case.bad[0][1], isConstant=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave models and artifacts there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        checker = Checker(folder)
        for case in cases():
            if options.only in case.name:
                checker.check(case)
    for fault in checker.faults:
        print(fault)
    print(f"{checker.count} runs, {len(checker.faults)} wrong")
    return 1 if checker.faults or not checker.count else 0


if __name__ == "__main__":
    sys.exit(main())
