# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles graphs of N and 2 N nodes and compares the CPU times: no pass may be far from linear in a model's depth, width or fan-out.

    scaling.py [--nodes N] [--ratio R] [--limit SECONDS] [FAMILY...]

The ratio of the times is 2 for a linear compiler and 4 for a quadratic one. Times below a second are mostly start-up: a family that
takes less than that for 2 N nodes passes whatever its ratio is. A compile beyond the limit is ended and fails.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile

import onnx_writer as onnx
import tensors


def constant(*shape):
    count = 1
    for extent in shape:
        count *= extent
    return tensors.Tensor(shape, [(i % 7 - 3) / 8 for i in range(count)])


def chain(count, step, inputs=(("x", "f32", [4, 8]),), constants=None):
    """`step(i, value, next)` returns the nodes that make `next` of `value`; `count` nodes in all."""
    nodes, i = [], 0
    while len(nodes) < count:
        nodes += step(i, f"v{i}" if i else "x", f"v{i + 1}")
        i += 1
    return onnx.model(nodes, list(inputs), [(f"v{i}", "f32", inputs[0][2])], constants)


def twice(operator):
    return lambda count: chain(count, lambda i, a, b: [onnx.node(operator, [a, a], [b])])


def gated(count):
    return chain(count, lambda i, a, b: [onnx.node("Tanh", [a], [f"t{i}"]), onnx.node("Add", [a, f"t{i}"], [b])])


def ladder(count):
    """Each value is read by the next node and by the one after it."""
    return chain(count, lambda i, a, b: [onnx.node("Add", [a, f"v{i - 1}" if i > 1 else "x"], [b])])


def matmuls(count):
    weights = {f"w{i}": constant(8, 8) for i in range(16)}
    return chain(count, lambda i, a, b: [onnx.node("MatMul", [a, f"w{i % 16}"], [f"m{i}"]), onnx.node("Relu", [f"m{i}"], [b])],
                 constants=weights)


def convolutions(count):
    weights = {f"w{i}": constant(4, 4, 3, 3) for i in range(16)}
    return chain(count, lambda i, a, b: [onnx.node("Conv", [a, f"w{i % 16}"], [f"m{i}"], pads=[1, 1, 1, 1]),
                                         onnx.node("Relu", [f"m{i}"], [b])],
                 inputs=[("x", "f32", [1, 4, 8, 8])], constants=weights)


def means(count):
    return chain(count, lambda i, a, b: [onnx.node("ReduceMean", [a], [f"m{i}"], keepdims=1), onnx.node("Sub", [a, f"m{i}"], [b])],
                 inputs=[("x", "f32", ["n", 8])])


def moves(count):
    return chain(count, lambda i, a, b: [onnx.node("Transpose", [a], [f"t{i}"], perm=[1, 0]), onnx.node("Softmax", [f"t{i}"], [f"s{i}"]),
                                         onnx.node("Transpose", [f"s{i}"], [b], perm=[1, 0])])


def shapes(count):
    """Shape arithmetic on a dynamic dimension, as exporters write it."""
    step = lambda i, a, b: [onnx.node("Shape", [a], [f"s{i}"]), onnx.node("Reshape", [a, "flat"], [f"f{i}"]),
                            onnx.node("Relu", [f"f{i}"], [f"r{i}"]), onnx.node("Reshape", [f"r{i}", f"s{i}"], [b])]
    return chain(count, step, inputs=[("x", "f32", ["n", 8])], constants={"flat": tensors.Tensor([1], [-1], "i64")})


def branches(count):
    """One value read by half of the nodes, whose results one variadic node reads."""
    width = count - 1
    nodes = [onnx.node("Mul", ["x", f"c{i}"], [f"b{i}"]) for i in range(width)]
    nodes.append(onnx.node("Sum", [f"b{i}" for i in range(width)], ["y"]))
    return onnx.model(nodes, [("x", "f32", [4, 8])], [("y", "f32", [4, 8])], {f"c{i}": constant(1, 8) for i in range(width)})


def concatenated(count):
    width = count // 2
    nodes = [onnx.node("Softmax", ["x"], [f"s{i}"], axis=i % 2) for i in range(width)]
    nodes.append(onnx.node("Concat", [f"s{i}" for i in range(width)], ["y"], axis=0))
    return onnx.model(nodes, [("x", "f32", [4, 8])], [("y", "f32", [4 * width, 8])])


def outputs(count):
    nodes = [onnx.node("Mul", ["x", f"c{i}"], [f"y{i}"]) for i in range(count)]
    return onnx.model(nodes, [("x", "f32", [4, 8])], [(f"y{i}", "f32", [4, 8]) for i in range(count)],
                      {f"c{i}": constant(1, 8) for i in range(count)})


def inputs(count):
    """As many inputs as nodes, each with a dynamic dimension of its own name."""
    nodes = [onnx.node("Relu", [f"x{i}"], [f"y{i}"]) for i in range(count)]
    return onnx.model(nodes, [(f"x{i}", "f32", [f"n{i % 50}", 8]) for i in range(count)],
                      [(f"y{count - 1}", "f32", [f"n{(count - 1) % 50}", 8])])


def split(count):
    """As many slices as there are nodes, joined in a chain."""
    nodes = [onnx.node("Split", ["x"], [f"s{i}" for i in range(count)], axis=0, num_outputs=count)]
    for i in range(1, count):
        nodes.append(onnx.node("Add", [f"a{i - 1}" if i > 1 else "s0", f"s{i}"], [f"a{i}"]))
    return onnx.model(nodes, [("x", "f32", [count, 8])], [(f"a{count - 1}", "f32", [1, 8])])


FAMILIES = {"adds": twice("Add"), "squares": twice("Mul"), "gated": gated, "ladder": ladder, "matmuls": matmuls,
            "convolutions": convolutions, "means": means, "moves": moves, "shapes": shapes, "branches": branches,
            "concatenated": concatenated, "inputs": inputs, "outputs": outputs, "split": split}

# What these compute overflows f32 or cancels out, so that no tolerance holds.
UNMEASURED = ("convolutions", "branches")


def compileTime(model, limit, folder, *options):
    """CPU seconds that a compile takes; a message instead where it fails or takes longer than `limit`."""
    path = os.path.join(folder, "model.onnx")
    onnx.write(path, model)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bound = lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    command = ["tenon", "compile", path, "-o", os.path.join(folder, "model.tenon"), "--target", "x86-64-v3"]
    done = subprocess.run([*command, *options], preexec_fn=bound, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if done.returncode != 0:
        return f"exit code {done.returncode} after {seconds:.1f} s: {done.stderr.strip().splitlines()[-1:]}"
    return seconds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=250)
    parser.add_argument("--ratio", type=float, default=3.5)
    parser.add_argument("--limit", type=int, default=120, help="CPU seconds for one compile")
    parser.add_argument("family", nargs="*", default=list(FAMILIES))
    options = parser.parse_args()
    bad = 0
    for name in options.family:
        flags = ["--no-measure-error"] if name in UNMEASURED else []
        with tempfile.TemporaryDirectory() as folder:
            times = [compileTime(FAMILIES[name](count), options.limit, folder, *flags) for count in (options.nodes, 2 * options.nodes)]
        failed = [time for time in times if isinstance(time, str)]
        if failed:
            verdict = f"FAILED: {failed[0]}"
        else:
            ratio = times[1] / times[0]
            isSlow = ratio > options.ratio and times[1] > 1
            verdict = f"{times[0]:.2f} s, {times[1]:.2f} s, ratio {ratio:.2f}" + (" FAILED: far from linear" if isSlow else "")
        bad += "FAILED" in verdict
        print(f"{name}: {options.nodes} and {2 * options.nodes} nodes: {verdict}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
