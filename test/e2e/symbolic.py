# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""One artifact with an open batch size, run on many: against the reference each time."""

import math
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

import onnx_writer
import reference as ref
from onnx_writer import node
from tensors import build, integers, randoms, readNpy, writeNpy

W, BIAS, KERNEL = randoms("w", 7, 5), randoms("bias", 5), randoms("kernel", 3, 2, 3, 3)
MODEL = onnx_writer.model(
    [
        node("MatMul", ["x", "w"], ["p"]),
        node("Add", ["p", "bias"], ["q"]),
        node("Softmax", ["q"], ["probabilities"], axis=-1),
        node("ReduceSum", ["q", "zero"], ["total"], keepdims=0),
        node("Transpose", ["q"], ["turned"], perm=[1, 0]),
        node("Conv", ["image", "kernel"], ["c"], pads=[1, 1, 1, 1], strides=[2, 1]),
        node("Relu", ["c"], ["picture"]),
        node("Concat", ["x", "x"], ["doubled"], axis=0),
        node("Slice", ["x", "one", "end", "zero"], ["rest"]),
        node("Shape", ["x"], ["rows"], start=0, end=1),
        node("TopK", ["x", "rows"], ["ordered", ""], axis=0),
    ],
    inputs=[("x", "f32", ["N", 7]), ("image", "f32", ["N", 2, "H", "V"])],
    outputs=[
        ("probabilities", "f32", ["N", 5]),
        ("total", "f32", [5]),
        ("turned", "f32", [5, "N"]),
        ("picture", "f32", ["N", 3, "P", "V"]),
        ("doubled", "f32", ["M", 7]),
        ("rest", "f32", ["R", 7]),
        ("ordered", "f32", ["N", 7]),
    ],
    constants={
        "w": W,
        "bias": BIAS,
        "kernel": KERNEL,
        "zero": integers([0]),
        "one": integers([1]),
        "end": integers([2**62]),
    },
)


def want(x, image):
    q = ref.elementwise(lambda a, b: a + b, ref.matmul(x, W), BIAS)
    convolved = ref.conv(image, KERNEL, strides=[2, 1], pads=[1, 1, 1, 1])
    return {
        "probabilities": ref.softmax(q, -1),
        "total": ref.reduce(math.fsum, q, [0], 0),
        "turned": ref.transpose(q, [1, 0]),
        "picture": ref.elementwise(lambda v: max(v, 0.0), convolved),
        "doubled": ref.concat([x, x], 0),
        "rest": ref.slices(x, [1], [2**62], [0], [1]),
        "ordered": build(x.shape, lambda index: sorted((x.at((i, index[1])) for i in range(x.shape[0])), reverse=True)[index[0]]),
    }


def main():
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        place = lambda name: os.path.join(folder, name)
        onnx_writer.write(place("model.onnx"), MODEL)
        subprocess.run(["tenon", "compile", place("model.onnx"), "-o", place("model.tenon")], check=True)
        for n, height, width in ((1, 5, 5), (2, 1, 1), (7, 4, 9), (16, 8, 3), (33, 2, 17), (1, 5, 5)):
            x, image = randoms("x", n, 7), randoms("image", n, 2, height, width)
            writeNpy(place("x.npy"), x)
            writeNpy(place("image.npy"), image)
            subprocess.run(
                ["tenon-run", place("model.tenon"), "--input", "x=" + place("x.npy"), "--input", "image=" + place("image.npy"), "--output-dir", folder],
                check=True,
            )
            for name, tensor in want(x, image).items():
                got = readNpy(place(name + ".npy"))
                bad = got.shape != tensor.shape or any(abs(a - b) > 2e-5 for a, b in zip(got.data, tensor.data))
                faults += [f"N={n} H={height} V={width}: {name}: {got.shape}, wanted {tensor.shape}"] if bad else []
    print("\n".join(faults) or "all right")
    return 1 if faults else 0


sys.exit(main())
