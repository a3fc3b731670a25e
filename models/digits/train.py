#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Trains the bundled digit classifier and writes digits.onnx, samples/ and test_data_set_0/.

Needs numpy, scikit-learn (for its data set alone) and onnx. Takes about half a minute on one core;
the same versions of these give the same bytes.

The network is Conv 16 -> BatchNorm -> Relu -> MaxPool -> Conv 32 -> BatchNorm -> Relu -> MaxPool ->
Gemm -> Softmax on 8x8 images. Training is written out in numpy, as no framework is worth its size here.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
EPOCHS, BATCH, RATE, DECAY = 40, 32, 2e-3, 2e-4
MOMENTUM, EPSILON = 0.9, 1e-5
HELD_OUT = 360


# --- Layers, forward and backward ------------------------------------------------------------------


def windows(x):
    """The 3x3 neighbourhood of every pixel, zero outside: [N,C,H,W] -> [N,C,H,W,3,3]."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))


def conv(x, w):
    return np.einsum("nchwij,kcij->nkhw", windows(x), w, optimize=True)


def convBackward(x, w, dy):
    dw = np.einsum("nchwij,nkhw->kcij", windows(x), dy, optimize=True)
    dx = np.einsum("nkhwij,kcij->nchw", windows(dy), w[:, :, ::-1, ::-1], optimize=True)
    return dx, dw


def normalise(x, scale, shift):
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    inverse = 1 / np.sqrt(var + EPSILON)
    xhat = (x - mean[:, None, None]) * inverse[:, None, None]
    return xhat * scale[:, None, None] + shift[:, None, None], (xhat, inverse, mean, var)


def normaliseBackward(dy, scale, saved):
    xhat, inverse, _, _ = saved
    count = dy.size // dy.shape[1]
    dscale, dshift = (dy * xhat).sum((0, 2, 3)), dy.sum((0, 2, 3))
    inner = count * dy - dshift[:, None, None] - xhat * dscale[:, None, None]
    return inner * (scale * inverse / count)[:, None, None], dscale, dshift


def pool(x):
    n, c, h, w = x.shape
    return x.reshape(n, c, h // 2, 2, w // 2, 2).max((3, 5))


def poolBackward(x, y, dy):
    n, c, h, w = x.shape
    hit = x.reshape(n, c, h // 2, 2, w // 2, 2) == y[:, :, :, None, :, None]
    share = hit / hit.sum((3, 5), keepdims=True)
    return (share * dy[:, :, :, None, :, None]).reshape(x.shape)


# --- Training ----------------------------------------------------------------------------------------


def initialise(rng):
    def scaled(*shape):
        return rng.normal(0, np.sqrt(2 / np.prod(shape[1:])), shape)

    params = {"w1": scaled(16, 1, 3, 3), "w2": scaled(32, 16, 3, 3), "w3": scaled(10, 128), "b3": np.zeros(10)}
    for layer, width in (("1", 16), ("2", 32)):
        params["scale" + layer], params["shift" + layer] = np.ones(width), np.zeros(width)
    running = {"mean1": np.zeros(16), "var1": np.ones(16), "mean2": np.zeros(32), "var2": np.ones(32)}
    return params, running


def gradients(p, running, x, labels):
    c1 = conv(x, p["w1"])
    n1, saved1 = normalise(c1, p["scale1"], p["shift1"])
    r1 = np.maximum(n1, 0)
    p1 = pool(r1)
    c2 = conv(p1, p["w2"])
    n2, saved2 = normalise(c2, p["scale2"], p["shift2"])
    r2 = np.maximum(n2, 0)
    p2 = pool(r2)
    flat = p2.reshape(len(x), -1)
    logits = flat @ p["w3"].T + p["b3"]
    e = np.exp(logits - logits.max(1, keepdims=True))
    probability = e / e.sum(1, keepdims=True)
    for layer, saved in (("1", saved1), ("2", saved2)):
        for name, value in (("mean", saved[2]), ("var", saved[3])):
            running[name + layer] = MOMENTUM * running[name + layer] + (1 - MOMENTUM) * value

    g = {}
    dlogits = probability.copy()
    dlogits[np.arange(len(x)), labels] -= 1
    dlogits /= len(x)
    g["w3"], g["b3"] = dlogits.T @ flat, dlogits.sum(0)
    dr2 = poolBackward(r2, p2, (dlogits @ p["w3"]).reshape(p2.shape)) * (n2 > 0)
    dc2, g["scale2"], g["shift2"] = normaliseBackward(dr2, p["scale2"], saved2)
    dp1, g["w2"] = convBackward(p1, p["w2"], dc2)
    dr1 = poolBackward(r1, p1, dp1) * (n1 > 0)
    dc1, g["scale1"], g["shift1"] = normaliseBackward(dr1, p["scale1"], saved1)
    _, g["w1"] = convBackward(x, p["w1"], dc1)
    return g


def shifted(x, rng):
    """Moves each image by up to one pixel: the data set is small, and hands are not exact."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    dy, dx = rng.integers(0, 3, (2, len(x)))
    return np.stack([padded[i, :, dy[i] : dy[i] + 8, dx[i] : dx[i] + 8] for i in range(len(x))])


def train(images, labels, rng):
    params, running = initialise(rng)
    first = {k: np.zeros_like(v) for k, v in params.items()}
    second = {k: np.zeros_like(v) for k, v in params.items()}
    count = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        order = rng.permutation(len(images))
        for begin in range(0, len(order), BATCH):
            pick = order[begin : begin + BATCH]
            count += 1
            for k, g in gradients(params, running, shifted(images[pick], rng), labels[pick]).items():
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g * g
                step = (first[k] / (1 - 0.9**count)) / (np.sqrt(second[k] / (1 - 0.999**count)) + 1e-8)
                params[k] -= rate * (step + (DECAY * params[k] if k[0] == "w" else 0))
    return {k: v.astype(np.float32) for k, v in {**params, **running}.items()}


# --- Files -------------------------------------------------------------------------------------------


def makeModel(p):
    def block(source, layer, result):
        norm = [f"scale{layer}", f"shift{layer}", f"mean{layer}", f"var{layer}"]
        return [
            helper.make_node("Conv", [source, f"w{layer}"], [f"c{layer}"], f"conv{layer}", pads=[1, 1, 1, 1]),
            helper.make_node("BatchNormalization", [f"c{layer}", *norm], [f"n{layer}"], f"norm{layer}", epsilon=EPSILON),
            helper.make_node("Relu", [f"n{layer}"], [f"r{layer}"], f"relu{layer}"),
            helper.make_node("MaxPool", [f"r{layer}"], [result], f"pool{layer}", kernel_shape=[2, 2], strides=[2, 2]),
        ]

    nodes = block("image", "1", "p1") + block("p1", "2", "p2") + [
        helper.make_node("Flatten", ["p2"], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "w3", "b3"], ["logits"], "gemm", transB=1),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, [1, 10])],
        [numpy_helper.from_array(p[name], name) for name in sorted(p)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tenon-digits")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def main():
    data = load_digits()
    images = (data.images / 16).astype(np.float32)[:, None]
    rng = np.random.default_rng(2024)
    order = rng.permutation(len(images))
    held, kept = order[:HELD_OUT], order[HELD_OUT:]

    model = makeModel(train(images[kept].astype(np.float64), data.target[kept], rng))
    (HERE / "digits.onnx").write_bytes(model.SerializeToString(deterministic=True))

    reference = ReferenceEvaluator(model)
    probability = {i: reference.run(None, {"image": images[i : i + 1]})[0] for i in held}
    correct = sum(int(probability[i].argmax() == data.target[i]) for i in held)
    print(f"held-out accuracy {correct}/{len(held)} = {correct / len(held):.4f}")

    # One held-out image of each digit, the first in the shuffled order.
    (HERE / "samples").mkdir(exist_ok=True)
    for digit in range(10):
        index = next(i for i in held if data.target[i] == digit)
        np.save(HERE / "samples" / f"{digit}.npy", images[index : index + 1])

    folder = HERE / "test_data_set_0"
    folder.mkdir(exist_ok=True)
    chosen = held[0]
    for name, value in (("input_0", images[chosen : chosen + 1]), ("output_0", probability[chosen])):
        tensor = numpy_helper.from_array(value, "image" if name[0] == "i" else "probabilities")
        (folder / f"{name}.pb").write_bytes(tensor.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
