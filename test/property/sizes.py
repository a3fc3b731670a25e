#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Sizes at 2^31, 2^32 and 2^63 in every operand and attribute that is one, and in the dimensions of inputs.

    sizes.py [--all] [--only TEXT] [--jobs J] [--keep FOLDER]

build/bin has to be on the PATH. A model is compiled and run, or refused with exit code 1, 3 or 4 and one line, within 20 seconds and 2 GB.
Operands are tried as constants and as inputs of the run. A result has the shape, and where it is small the values, that the definition
gives; where the definition gives one of few elements a refusal has to be expected by the case. Of the sizes every second one is tried, in
turn the odd and the even ones, so that neighbouring cases together have all; with --all each case has all.
"""

import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import numpy
import onnx
from onnx import helper

# The ends of types, and what becomes 1 or 0 where a product or a conversion drops bits.
LARGE = (2**31 - 1, 2**31, 2**32 + 1, 2**63 - 1)
NEGATIVE = (-(2**32), -(2**63))
# Of a processor, so that a busy machine is no hang; whatever sleeps for WAIT seconds is one.
SECONDS, WAIT, BYTES = 20, 300, 2 << 30
ANY = "any"  # shape of a result, where a case does not say it


class Case:
    """A node with `operands` by position, arrays or, for the size that is tried, a function of it. `attributes` likewise."""

    def __init__(self, operator, operands, wanted=None, values=LARGE + NEGATIVE, outputs=1, opset=21, text="", **attributes):
        self.operator, self.operands, self.wanted, self.values = operator, operands, wanted, values
        self.outputs, self.opset, self.attributes = outputs, opset, attributes
        self.name = " ".join(filter(None, [operator, text]))

    def resolve(self, value):
        """Operands and attributes for a size; None where a type cannot hold it."""
        call = lambda each: each(value) if callable(each) else each
        try:
            return [call(each) for each in self.operands], {name: call(each) for name, each in self.attributes.items()}
        except OverflowError:
            return None

    def model(self, operands, attributes, areInputs):
        """Operands that hold the size are inputs of the model or constants, all others inputs."""
        inputs, constants, names = [], [], []
        for i, array in enumerate(operands):
            names.append("" if array is None else f"x{i}")
            if array is None:
                continue
            if callable(self.operands[i]) and not areInputs:
                constants.append(onnx.numpy_helper.from_array(array, names[-1]))
            else:
                inputs.append(helper.make_tensor_value_info(names[-1], helper.np_dtype_to_tensor_dtype(array.dtype), array.shape))
        results = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.operator, names, results, name="the_node", **attributes)
        graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name=name) for name in results], constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=10)


def ints(*values):
    return numpy.array(values, numpy.int64)


def floats(*shape):
    return numpy.arange(numpy.prod(shape, dtype=int), dtype=numpy.float32).reshape(shape)


def scalar(value):
    return numpy.array(value, numpy.int64)


def single(position, value, *others):
    """A list of sizes in which one is tried."""
    values = list(others)
    values.insert(position, value)
    return ints(*values)


def count(start, limit, step):
    return max(0, -((start - limit) // step))


def shapes():
    empty = numpy.zeros((0, 3), numpy.float32)
    for position in (0, 1):
        yield Case("Reshape", [floats(2, 3), lambda v, p=position: single(p, v, 3)], text=str(position))
        yield Case("Expand", [floats(1, 1), lambda v, p=position: single(p, v, 2)], text=str(position))
        yield Case("ConstantOfShape", [lambda v, p=position: single(p, v, 2)], text=str(position))
        yield Case("Tile", [floats(2, 3), lambda v, p=position: single(p, v, 1)], text=str(position))
        yield Case("CenterCropPad", [floats(2, 3), lambda v, p=position: single(p, v, 2)], text=str(position))
    yield Case("Reshape", [floats(2, 3), lambda v: ints(v, -1)], text="to infer")
    yield Case("Reshape", [floats(2, 3), lambda v: ints(v, v)], text="twice")
    yield Case("Reshape", [empty, lambda v: ints(0, v)], lambda v: (0, v) if v >= 0 else None, text="of nothing", allowzero=1)
    yield Case("Expand", [numpy.zeros((0, 1), numpy.float32), lambda v: ints(0, v)], lambda v: (0, v) if v >= 0 else None, text="of nothing")
    yield Case("Expand", [floats(1, 1, 1), lambda v: ints(v, v, v)], text="three times")
    yield Case("Tile", [numpy.zeros((0,), numpy.float32), lambda v: ints(v)], lambda v: (0,) if v >= 0 else None, text="of nothing")
    yield Case("Tile", [floats(2, 2), lambda v: ints(v, v)], text="twice")
    yield Case("ConstantOfShape", [lambda v: ints(0, v)], lambda v: (0, v) if v >= 0 else None, text="of nothing")
    yield Case("ConstantOfShape", [lambda v: ints(v, v, v)], text="three times")
    for position in range(4):
        yield Case("Pad", [floats(2, 3), lambda v, p=position: single(p, v, 0, 0, 0)], text=f"constant {position}")
    for mode in ("edge", "reflect", "wrap"):
        yield Case("Pad", [floats(2, 3), lambda v: ints(0, v, 0, 0)], mode=mode, text=mode)
    yield Case("Pad", [floats(4), lambda v: ints(v, -v)], lambda v: (4,), values=LARGE, text="and cut")
    yield Case("Pad", [floats(4), lambda v: ints(v, v)], text="twice")
    yield Case("Split", [floats(6), lambda v: ints(v, 3)], outputs=2)
    yield Case("Split", [floats(6)], outputs=2, num_outputs=lambda v: v, text="of a number")
    for name in ("Unsqueeze", "Squeeze", "ReduceSum"):
        yield Case(name, [floats(1, 3), lambda v: ints(v)])
    for name in ("Flatten", "Softmax", "ArgMax", "Concat"):
        yield Case(name, [floats(2, 3)], axis=lambda v: v)
    yield Case("Transpose", [floats(2, 3)], perm=lambda v: [0, v])
    yield Case("CumSum", [floats(2, 3), scalar])
    yield Case("Shape", [floats(2, 3)], lambda v: (0,) if v > 0 else (2,), start=lambda v: v)
    yield Case("Shape", [floats(2, 3)], lambda v: (2,) if v > 0 else (0,), end=lambda v: v, text="end")


def slices():
    def length(v, start, end, step):
        return (len(range(6)[start(v) : end(v) : step(v)]),)

    one = lambda v: 1
    for text, start, end, step in (
        ("start", lambda v: v, lambda v: 6, one),
        ("end", lambda v: 0, lambda v: v, one),
        ("step", lambda v: 0 if v > 0 else 5, lambda v: 6 if v > 0 else -7, lambda v: v),
        ("start and end", lambda v: -v - 1 if v < 0 else -v, lambda v: v, one),
    ):
        yield Case("Slice", [floats(6), *(lambda v, f=f: ints(f(v)) for f in (start, end)), ints(0), lambda v, f=step: ints(f(v))],
                   lambda v, s=start, e=end, d=step: length(v, s, e, d), text=text)


def counts():
    yield Case("Range", [scalar, lambda v: scalar(3), lambda v: scalar(1)], lambda v: (count(v, 3, 1),))
    yield Case("Range", [lambda v: scalar(0), scalar, lambda v: scalar(1)], lambda v: (count(0, v, 1),), text="to")
    yield Case("Range", [lambda v: scalar(0), lambda v: scalar(3), scalar], lambda v: (count(0, 3, v),), text="by")
    yield Case("Range", [lambda v: scalar(-v), scalar, lambda v: scalar(v // 2 + 1)], lambda v: (count(-v, v, v // 2 + 1),), values=LARGE, text="far")
    yield Case("OneHot", [ints(0, 1), scalar, floats(2)])
    yield Case("EyeLike", [floats(2, 3)], lambda v: (2, 3), k=lambda v: v)
    for upper in (0, 1):
        yield Case("Trilu", [floats(2, 3), scalar], lambda v: (2, 3), upper=upper, text=str(upper))
    yield Case("TopK", [floats(6), lambda v: ints(v)], outputs=2)
    yield Case("Multinomial", [floats(1, 3)], sample_size=lambda v: v)
    for name in ("RandomNormal", "RandomUniform"):
        yield Case(name, [], shape=lambda v: [v, 2])
    for name in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Case(name, [scalar])
    for position in range(2):
        fill = lambda p, at: (lambda v: scalar(v)) if p == at else (lambda v: scalar(8))
        yield Case("MelWeightMatrix", [fill(position, 0), fill(position, 1), scalar(8000), numpy.float32(0), numpy.float32(4000)], text=str(position))
    yield Case("DFT", [floats(1, 6, 1), scalar])
    yield Case("STFT", [floats(1, 16, 1), scalar, None, lambda v: scalar(8)], lambda v: (1, 1, 5, 2) if v > 0 else None, text="step")
    yield Case("STFT", [floats(1, 16, 1), lambda v: scalar(4), None, scalar], text="length")
    yield Case("BitShift", [numpy.array([1, 5], numpy.uint64), lambda v: numpy.array([v, 1], numpy.uint64)], lambda v: (2,), values=LARGE, direction="LEFT")
    yield Case("LRN", [floats(1, 3, 2, 2)], size=lambda v: v)
    yield Case("MaxUnpool", [floats(1, 1, 1, 1), numpy.zeros((1, 1, 1, 1), numpy.int64), lambda v: ints(1, 1, v, 2)], kernel_shape=[2, 2])
    yield Case("SplitToSequence", [floats(6), scalar], lambda v: () if v > 0 else None)
    yield Case("AffineGrid", [floats(1, 2, 3), lambda v: ints(1, 1, v, 2)])


def windows():
    image, filters = floats(1, 1, 4, 4), floats(1, 1, 1, 1)
    yield Case("Conv", [image, filters], lambda v: (1, 1, 1, 4) if v > 0 else None, strides=lambda v: [v, 1], text="strides")
    yield Case("Conv", [image, filters], lambda v: (1, 1, 4, 4) if v > 0 else None, dilations=lambda v: [v, 1], text="dilations")
    yield Case("Conv", [image, floats(1, 1, 2, 2)], dilations=lambda v: [v, 1], text="dilations beyond")
    yield Case("Conv", [image, filters], pads=lambda v: [v, 0, 0, 0], text="pads")
    yield Case("Conv", [image, filters], pads=lambda v: [v, 0, v, 0], text="pads twice")
    yield Case("Conv", [image, filters], group=lambda v: v, text="group")
    yield Case("ConvTranspose", [image, filters], strides=lambda v: [v, 1], text="strides")
    yield Case("ConvTranspose", [image, filters], output_padding=lambda v: [v, 0], text="padding")
    yield Case("ConvTranspose", [image, filters], output_shape=lambda v: [v, 4], text="shape")
    yield Case("ConvTranspose", [image, floats(1, 1, 2, 2)], dilations=lambda v: [v, 1], text="dilations")
    for name in ("MaxPool", "AveragePool", "LpPool"):
        yield Case(name, [image], kernel_shape=lambda v: [v, 1], text="kernel")
        yield Case(name, [image], lambda v: (1, 1, 5, 4) if v > 0 else None, kernel_shape=lambda v: [v, 1], pads=lambda v: [v, 0, 0, 0],
                   text="kernel and pads")
        yield Case(name, [image], lambda v: (1, 1, 1, 4) if v > 0 else None, kernel_shape=[1, 1], strides=lambda v: [v, 1], text="strides")
        yield Case(name, [image], kernel_shape=[2, 1], dilations=lambda v: [v, 1], text="dilations")
    yield Case("Col2Im", [floats(1, 4, 4), lambda v: ints(v, 4), ints(1, 1)])
    for name in ("SpaceToDepth", "DepthToSpace"):
        yield Case(name, [floats(1, 4, 4, 4)], blocksize=lambda v: v)
    yield Case("Resize", [image, None, None, lambda v: ints(1, 1, v, 4)], text="sizes")
    yield Case("Resize", [image, None, lambda v: numpy.array([1, 1, v, 1], numpy.float32)], text="scales")
    for text, value in (("nan", numpy.nan), ("inf", numpy.inf), ("huge", 3e38), ("small", 1e-38), ("zero", 0)):
        yield Case("Resize", [image, None, lambda v, x=value: numpy.array([1, 1, x, 1], numpy.float32)], ANY, values=(0,), text=f"scale {text}")
    yield Case("RoiAlign", [image, floats(1, 4), ints(0)], output_height=lambda v: v)


def readShape(path):
    """numpy itself refuses what has no elements beside an extent of 2^62."""
    with open(path, "rb") as file:
        numpy.lib.format.read_magic(file)
        return numpy.lib.format.read_array_header_1_0(file)[0]


class Judge:
    def __init__(self, folder):
        self.folder, self.faults, self.count = folder, [], 0

    def call(self, *command):
        """Exit code, what was written to standard error, and what it took."""

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))

        process = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", preexec_fn=limit)
        try:
            text = process.communicate(timeout=WAIT)[1].strip()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            return "hang", ""
        return "hang" if process.returncode == -signal.SIGXCPU else process.returncode, text

    def fail(self, what, reason):
        self.faults.append(f"{what}: {reason}")
        print(self.faults[-1], flush=True)

    def isRefusal(self, what, code, text):
        lines = [line for line in text.splitlines() if "warning: " not in line]
        if code in (1, 3, 4) and lines and all("error: " in line for line in lines):
            return True
        self.fail(what, f"exit code {code}: {text.splitlines()[:2]}")
        return False

    def check(self, case, value, areInputs):
        self.count += 1
        resolved = case.resolve(value)
        if resolved is None:
            return
        operands, attributes = resolved
        what = f"{case.name} of {value}{' when it runs' if areInputs else ''}"
        path = self.folder / (re.sub(r"\W+", "-", what) + ".onnx")
        try:
            onnx.save(case.model(operands, attributes, areInputs), path)
        except ValueError:
            return
        artifact = path.with_suffix(".tenon")
        # That would run the model, which is to be done once.
        code, text = self.call("tenon", "compile", path, "-o", artifact, "--no-measure-error")
        if code == 0:
            arguments = []
            for i, array in enumerate(operands):
                if array is not None and (areInputs or not callable(case.operands[i])):
                    file = path.with_suffix(f".{i}.npy")
                    numpy.save(file, array)
                    arguments += ["--input", f"x{i}={file}"]
            results = path.with_suffix("")
            code, text = self.call("tenon-run", artifact, "--threads", 1, "--memory-limit", BYTES, "--output-dir", results, *arguments)
        wanted = case.wanted(value) if callable(case.wanted) else case.wanted
        isSmall = wanted not in (None, ANY) and numpy.prod(wanted, dtype=object) < 1000
        if code != 0:
            line = (text.splitlines() or [""])[0]
            if self.isRefusal(what, code, text) and isSmall and not re.search(r"2\^31|2\^40|at most|overflow", line):
                self.fail(what, f"is refused ({line}), wanted {list(wanted)}")
            return
        # A sequence is a folder.
        isSequence = (results / "y0").is_dir()
        shape = () if isSequence else readShape(results / "y0.npy")
        if wanted != ANY and shape != wanted:
            self.fail(what, f"gives {list(shape)}, wanted {wanted and list(wanted)}")
        shutil.rmtree(results)


def dims():
    """Models of inputs with large dimensions, which are compiled and asked for their memory."""
    value = lambda name, shape, type=onnx.TensorProto.FLOAT: helper.make_tensor_value_info(name, type, shape)
    shapes = {
        "square": [[v, v] for v in LARGE],
        "rows": [[v, 2] for v in LARGE],
        "cube": [[2**21 + d, 2**21, 2**21] for d in (-1, 0, 1)],
    }
    nodes = {
        "Relu": [helper.make_node("Relu", ["x"], ["t"]), helper.make_node("Exp", ["t"], ["y"])],
        "Sum": [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)],
        "MatMul": [helper.make_node("Transpose", ["x"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])],
        "Concat": [helper.make_node("Concat", ["x", "x"], ["y"], axis=0)],
        "Flatten": [helper.make_node("Flatten", ["x"], ["y"], axis=0)],
        "Shape": [helper.make_node("Shape", ["x"], ["s"]), helper.make_node("ReduceProd", ["s"], ["y"], keepdims=0)],
        "Softmax": [helper.make_node("Softmax", ["x"], ["y"], axis=-1)],
        "TopK": [helper.make_node("Constant", [], ["k"], value_ints=[1]), helper.make_node("TopK", ["x", "k"], ["y", "i"])],
    }
    for (operator, made), (text, all) in itertools.product(nodes.items(), shapes.items()):
        if operator == "MatMul" and text == "cube":
            continue
        for shape in all:
            for isDynamic in (False, True):
                symbols = [f"n{i}" for i in range(len(shape))]
                graph = helper.make_graph(made, "g", [value("x", symbols if isDynamic else shape)], [onnx.ValueInfoProto(name="y")])
                model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
                yield f"{operator} of {'dynamic ' if isDynamic else ''}{shape}", model, dict(zip(symbols, shape)) if isDynamic else {}


def checkDims(judge, what, model, sizes):
    judge.count += 1
    path = judge.folder / (re.sub(r"\W+", "-", what) + ".onnx")
    onnx.save(model, path)
    artifact = path.with_suffix(".tenon")
    code, text = judge.call("tenon", "compile", path, "-o", artifact, "--no-measure-error")
    if code == 0:
        options = [each for name, size in sizes.items() for each in ("--size", f"{name}={size}")]
        code, text = judge.call("tenon-run", artifact, *options, "--input", "zeros", "--memory-limit", BYTES)
        if code == 0:
            judge.fail(what, "runs, though its input has no place")
            return
    judge.isRefusal(what, code, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="every size for each case, not every second one")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in their name")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave models and artifacts there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        judge = Judge(folder)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            tasks = []
            for number, case in enumerate(itertools.chain(shapes(), slices(), counts(), windows())):
                if options.only not in case.name:
                    continue
                ways = (False, True) if any(map(callable, case.operands)) else (False,)
                values = case.values if options.all or len(case.values) == 1 else case.values[number % 2 :: 2]
                tasks += [pool.submit(judge.check, case, value, way) for value in values for way in ways]
            for what, model, sizes in dims():
                if options.only in what:
                    tasks.append(pool.submit(checkDims, judge, what, model, sizes))
            for task in tasks:
                task.result()
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
    if peak > BYTES:
        judge.fail("memory", f"a process had {peak >> 20} MB")
    print(f"{judge.count} cases, {len(judge.faults)} wrong, largest process {peak >> 20} MB")
    return 1 if judge.faults or not judge.count else 0


if __name__ == "__main__":
    sys.exit(main())
