#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""ONNX's own cases with dimensions of their inputs set to 0, one after the other: static and dynamic, between guard pages.

    empty.py [--seed N] [--cases M] [--only TEXT] [--jobs J] [--keep FOLDER] [--verbose]

build/bin has to be on the PATH. `--cases` is how many of each operator (0: all). Where the evaluator has a result it has to be ours, where
it has none we end with exit code 1 or 3 and one line, or there is no element in the result that could be wrong.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import sys
import tempfile
import warnings

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import numpy
import onnx
from corrections import correctionsFor
from onnx.reference import ReferenceEvaluator
from programs import GUARD_PAGES, call, compileModel

FOLDER = pathlib.Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
REFUSED = (1, 3)
# No two runs give the same.
RANDOM = ("Bernoulli", "Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Multinomial")
# Where we refuse what the evaluator computes, and why that is right.
WINDOW = "a window that fits nowhere has no places, and not less than none"
OPERANDS = "operands that have to be of one size are not"
INFERRED = "an extent of which nothing is left to infer it from has no value"
UNDEFINED = {
    **dict.fromkeys(("AveragePool", "CausalConvWithState", "Conv", "ConvInteger", "LpPool", "MaxPool", "QLinearConv"), WINDOW),
    **dict.fromkeys(("Adagrad", "Adam", "Momentum", "CenterCropPad", "GRU", "LSTM", "RNN", "Loop", "MaxUnpool", "NonMaxSuppression"), OPERANDS),
    **dict.fromkeys(("ScatterElements", "Slice", "Tile", "Scatter", "Attention"), OPERANDS),
    **dict.fromkeys(("FlexAttention", "LinearAttention"), INFERRED),
    "AffineGrid": OPERANDS,
    "DequantizeLinear": OPERANDS,
    "GridSample": "an image without pixels has none to sample, and torch refuses it, too",
    "Gather": "the evaluator looks up indices of a dimension that is empty where nothing comes of it",
    "RoiAlign": "regions of an image that there is not",
    "ReverseSequence": "lengths are more than there are steps",
    "TensorScatter": "an update of nothing has nowhere to go",
    "Upsample": OPERANDS,
}
# Where the evaluator stops, and what we give follows from the definition.
DEFINED = {
    "Attention": "no queries, but keys and values that are handed on",
    "ConvTranspose": "sums of nothing, and the bias",
    "DynamicQuantizeLinear": "the range of nothing and 0",
    "FlexAttention": "the weighted sum of no values",
    "GRU": "the first state after no steps",
    "GatherND": "no coordinates name all of the input",
    "GlobalMaxPool": "the least number, which no element raises",
    "LSTM": "the first state after no steps",
    "RNN": "the first state after no steps",
    "LinearAttention": "the state after no steps",
    "NegativeLogLikelihoodLoss": "the mean of nothing is no number",
    "Scan": "no steps",
    "Scatter": "no updates",
    "ScatterElements": "no updates",
    "SoftmaxCrossEntropyLoss": "the mean of nothing is no number",
}
# What the evaluator gets wrong of nothing.
MISTAKEN = {
    "RNN": "it mixes up the dimensions of a layout",
    "ReduceMax": "the least boolean is false",
    "ReduceMin": "the largest boolean is true",
}
# Where the evaluator has NaN for what we define as 0: a query of which every key is masked, as in torch.
ZERO_FOR_NAN = ("Attention",)
# Extents that are not equal are for the checks of sizes, which have tests of their own.
UNEQUAL = re.compile(
    r"symbol '.*' is \d+ in .* and \d+ in |, expected |to be equal|to be at most|needs two for each|"
    r"data asks for a size above|parts whose sum is not|not one label for each|do not broadcast against"
)


class Node:
    """A case of ONNX's with one node."""

    def __init__(self, folder):
        self.name = folder.name
        self.model = onnx.load(folder / "model.onnx")
        self.operator = self.model.graph.node[-1].op_type
        paths = sorted((folder / "test_data_set_0").glob("input_*.pb"), key=lambda path: int(path.stem[len("input_") :]))
        self.isTensors = all(each.type.HasField("tensor_type") for each in [*self.model.graph.input, *self.model.graph.output])
        self.isText = any(each.type.tensor_type.elem_type == onnx.TensorProto.STRING for each in self.model.graph.output)
        if self.isTensors:
            self.inputs = [onnx.numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]
            self.isTensors = all(value.dtype != object for value in self.inputs) and len(paths) == len(self.model.graph.input)

    def isFit(self):
        return self.isTensors and not self.isText and self.operator not in RANDOM and any(value.ndim for value in self.inputs)

    def zeroings(self):
        """Lists of (input, dimension): each one by itself, and all of one size together."""
        places = [(i, d) for i, value in enumerate(self.inputs) for d in range(value.ndim) if value.shape[d]]
        sizes = collections.defaultdict(list)
        for i, d in places:
            sizes[self.inputs[i].shape[d]].append((i, d))
        return [[place] for place in places] + [group for group in sizes.values() if len(group) > 1]

    def cut(self, zeroing):
        values = list(self.inputs)
        for i, d in zeroing:
            values[i] = values[i][tuple(slice(0 if place == d else None) for place in range(values[i].ndim))]
        return values

    def rewrite(self, dims):
        """The model with these dimensions of inputs, and nothing said of what follows from them."""
        model = onnx.ModelProto()
        model.CopyFrom(self.model)
        del model.graph.value_info[:]
        for value, wanted in zip(model.graph.input, dims):
            shape = value.type.tensor_type.shape
            del shape.dim[:]
            for dim in wanted:
                shape.dim.add(**{"dim_param" if isinstance(dim, str) else "dim_value": dim})
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        return model


def evaluate(model, values):
    """Outputs; None where the evaluator stops."""
    feeds = {value.name: array for value, array in zip(model.graph.input, values)}
    opset = next((each.version for each in model.opset_import if not each.domain), 1)
    try:
        with warnings.catch_warnings(), numpy.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return [numpy.asarray(each) for each in ReferenceEvaluator(model, new_ops=correctionsFor(opset)).run(None, feeds)]
    except Exception:  # Whatever it raises.
        return None


class Sweep:
    def __init__(self, folder, verbose):
        self.folder, self.verbose = folder, verbose
        self.counts, self.faults = collections.Counter(), []

    def compile(self, node, dims, name, *options):
        path = self.folder / f"{node.name}-{name}.onnx"
        onnx.save(node.rewrite(dims), path)
        code, text = compileModel(path, "-o", path.with_suffix(".tenon"), *options)
        return path.with_suffix(".tenon"), code, text

    def run(self, node, artifact, values):
        arguments = []
        for value, array in zip(node.model.graph.input, values):
            path = artifact.with_suffix(f".input-{len(arguments)}.pb")
            path.write_bytes(onnx.numpy_helper.from_array(numpy.ascontiguousarray(array).reshape(array.shape), value.name).SerializeToString())
            arguments += ["--input", f"{value.name}={path}"]
        results = artifact.with_suffix("")
        code, text = call("tenon-run", artifact, "--threads", 1, "--output-dir", results, *arguments, environment=GUARD_PAGES)
        names = [each.name for each in node.model.graph.output]
        return code, text, [numpy.load(results / f"{name}.npy") for name in names] if code == 0 else None

    def judge(self, node, what, code, text, got, wanted):
        verdict, reason = self.verdict(node, code, text, got, wanted)
        self.counts[verdict] += 1
        if verdict == "failed":
            self.faults.append(f"{node.name} ({node.operator}): {what}: {reason}")
        if verdict == "failed" or self.verbose:
            print(f"{verdict}: {node.name} ({node.operator}): {what}: {reason}")

    def verdict(self, node, code, text, got, wanted):
        line = text.splitlines()[0][:200] if text else "no message"
        # Faults of several nodes of a function have a line each.
        if code in REFUSED and text and all("error: " in each for each in text.splitlines()):
            if wanted is None or node.operator in UNDEFINED or UNEQUAL.search(line):
                return "refused", line
            return "failed", f"is refused ({line}), wanted {[list(each.shape) for each in wanted]}"
        if code:
            return "failed", f"exit code {code}: {line}"
        if wanted is None:
            if all(each.size == 0 for each in got) or node.operator in DEFINED:
                return "empty", ""
            return "failed", f"gives {[list(each.shape) for each in got]}, where nothing is defined"
        for mine, theirs in zip(got, wanted if node.operator not in MISTAKEN else []):
            if node.operator in ZERO_FOR_NAN:
                theirs = numpy.nan_to_num(theirs, nan=0, posinf=numpy.inf, neginf=-numpy.inf)
            if mine.shape != theirs.shape:
                return "failed", f"gives {list(mine.shape)}, wanted {list(theirs.shape)}"
            if theirs.dtype.kind in "fiub" and mine.dtype == theirs.dtype and not numpy.allclose(mine, theirs, 1e-3, 1e-4, equal_nan=True):
                return "failed", f"gives {mine.reshape(-1)[:8]}, wanted {theirs.reshape(-1)[:8]}"
        return "passed", ""

    def sweepStatic(self, node, zeroing):
        values = node.cut(zeroing)
        model = node.rewrite([value.shape for value in values])
        artifact, code, text = self.compile(node, [value.shape for value in values], "static")
        got = None
        if code == 0:
            code, text, got = self.run(node, artifact, values)
        self.judge(node, f"static {zeroing}", code, text, got, evaluate(model, values))

    def sweepDynamic(self, node):
        names = [[f"n{i}_{d}" for d in range(value.ndim)] for i, value in enumerate(node.inputs)]
        # The error is measured at sizes of 1 or more, and not what this is about.
        artifact, code, text = self.compile(node, names, "dynamic", "--no-measure-error")
        if code in REFUSED:
            # Some extents have to be known: those of filters, or where they decide a rank.
            self.counts["static only"] += 1
            return
        for zeroing in node.zeroings() if code == 0 else [[]]:
            values, got = node.cut(zeroing), None
            if code == 0:
                result, text, got = self.run(node, artifact, values)
            else:
                result = code
            self.judge(node, f"dynamic {zeroing}", result, text, got, evaluate(node.rewrite(names), values))


def choose(seed, count, text):
    """`count` cases of each operator, and of each of their dimensions."""
    source = random.Random(seed)
    groups = collections.defaultdict(list)
    for folder in sorted(FOLDER.iterdir()):
        if text in folder.name and "_expanded" not in folder.name:
            groups[onnx.load(folder / "model.onnx", load_external_data=False).graph.node[-1].op_type].append(folder)
    for operator in sorted(groups):
        source.shuffle(groups[operator])
        fit = (node for folder in groups[operator] if (node := Node(folder)).isFit())
        for number, node in enumerate(fit):
            if count and number >= count:
                break
            yield node, source


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=1, help="of each operator; 0: all")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    parser.add_argument("--jobs", type=int, default=1, help="cases at a time")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave models, inputs and outputs there")
    parser.add_argument("--verbose", action="store_true", help="show all verdicts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        sweep = Sweep(folder, options.verbose)

        def sweepOne(node, zeroings):
            for zeroing in zeroings:
                sweep.sweepStatic(node, zeroing)
            sweep.sweepDynamic(node)

        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tasks = []
            for node, source in choose(options.seed, options.cases, options.only):
                zeroings = node.zeroings()
                chosen = zeroings if options.cases == 0 else source.sample(zeroings, min(1, len(zeroings)))
                tasks.append(pool.submit(sweepOne, node, chosen))
            for task in tasks:
                task.result()
    print(f"seed {options.seed}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(sweep.counts.items())))
    return 1 if sweep.faults or not sweep.counts["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
