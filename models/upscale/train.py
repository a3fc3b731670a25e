#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Trains the bundled network for super-resolution and writes upscale.onnx, samples/, test_data_set_0/ and test_data_set_1/.

Needs numpy, onnx, scikit-learn and pillow (for the two sample images alone). Takes about two minutes on one core;
the same versions of these give the same bytes on the same processor.

The network adds what it has learned to a bilinear interpolation: Conv 5x5 -> Relu -> Conv 3x3 -> Relu -> Conv 3x3 ->
DepthToSpace, after Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
Convolutional Neural Network" (CVPR 2016). Height and width of the image are open.
"""

import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from sklearn.datasets import load_sample_images

HERE = pathlib.Path(__file__).resolve().parent
STEPS, BATCH, PATCH, RATE = 6000, 16, 24, 1e-3
SCALE = 2
# Columns of the images from here on are held out.
HELD_OUT = 480


# --- Layers, forward and backward: images are [N,H,W,C] here, so that a convolution is one matrix product -------------


def windows(x, size):
    """The neighbourhood of every pixel, zero outside: [N,H,W,C] -> [N,H,W,C*size*size]."""
    margin = size // 2
    padded = np.pad(x, ((0, 0), (margin, margin), (margin, margin), (0, 0)))
    view = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(1, 2))
    return view.reshape(*x.shape[:3], -1)


def conv(x, w, b):
    """`w` is [K,C,size,size]."""
    return windows(x, w.shape[2]) @ w.reshape(len(w), -1).T + b


def convBackward(x, w, dy):
    dw = np.tensordot(dy, windows(x, w.shape[2]), axes=((0, 1, 2), (0, 1, 2))).reshape(w.shape)
    flipped = w[:, :, ::-1, ::-1].transpose(1, 0, 2, 3)
    return conv(dy, flipped, 0), dw, dy.sum((0, 1, 2))


def depthToSpace(x):
    n, h, w, _ = x.shape
    return x.reshape(n, h, w, SCALE, SCALE).transpose(0, 1, 3, 2, 4).reshape(n, h * SCALE, w * SCALE, 1)


def spaceToDepth(y):
    n, h, w, _ = y.shape
    return y.reshape(n, h // SCALE, SCALE, w // SCALE, SCALE).transpose(0, 1, 3, 2, 4).reshape(n, h // SCALE, w // SCALE, -1)


def interpolate(x):
    """Bilinear, with the centres of pixels where ONNX's half_pixel has them."""
    for axis in (1, 2):
        size = x.shape[axis]
        before = np.take(x, np.maximum(np.arange(size) - 1, 0), axis)
        after = np.take(x, np.minimum(np.arange(size) + 1, size - 1), axis)
        both = np.stack([0.25 * before + 0.75 * x, 0.75 * x + 0.25 * after], axis + 1)
        shape = list(x.shape)
        shape[axis] *= SCALE
        x = both.reshape(shape)
    return x


def shrink(y):
    n, h, w, c = y.shape
    return y.reshape(n, h // SCALE, SCALE, w // SCALE, SCALE, c).mean((2, 4))


# --- Training ---------------------------------------------------------------------------------------------------------


def initialise(rng):
    def scaled(gain, *shape):
        return rng.normal(0, gain * np.sqrt(2 / np.prod(shape[1:])), shape)

    params = {"w1": scaled(1, 16, 1, 5, 5), "w2": scaled(1, 16, 16, 3, 3), "w3": scaled(0.1, SCALE * SCALE, 16, 3, 3)}
    return params | {f"b{layer}": np.zeros(len(params[f"w{layer}"])) for layer in (1, 2, 3)}


def gradients(p, small, large):
    c1 = conv(small, p["w1"], p["b1"])
    r1 = np.maximum(c1, 0)
    c2 = conv(r1, p["w2"], p["b2"])
    r2 = np.maximum(c2, 0)
    wrong = conv(r2, p["w3"], p["b3"]) - spaceToDepth(large - interpolate(small))
    g = {}
    dr2, g["w3"], g["b3"] = convBackward(r2, p["w3"], 2 * wrong / wrong.size)
    dr1, g["w2"], g["b2"] = convBackward(r1, p["w2"], dr2 * (c2 > 0))
    _, g["w1"], g["b1"] = convBackward(small, p["w1"], dr1 * (c1 > 0))
    return g


def pickPatches(images, rng):
    size = PATCH * SCALE
    patches = []
    for _ in range(BATCH):
        image = images[rng.integers(len(images))]
        top, left = rng.integers(0, image.shape[0] - size), rng.integers(0, HELD_OUT - size)
        patch = np.rot90(image[top : top + size, left : left + size], rng.integers(4))
        patches.append(patch[::-1] if rng.integers(2) else patch)
    return np.stack(patches)[..., None]


def train(images, rng):
    params = initialise(rng)
    first = {k: np.zeros_like(v) for k, v in params.items()}
    second = {k: np.zeros_like(v) for k, v in params.items()}
    for count in range(1, STEPS + 1):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * count / STEPS))
        large = pickPatches(images, rng)
        for k, g in gradients(params, shrink(large), large).items():
            first[k] = 0.9 * first[k] + 0.1 * g
            second[k] = 0.999 * second[k] + 0.001 * g * g
            params[k] -= rate * (first[k] / (1 - 0.9**count)) / (np.sqrt(second[k] / (1 - 0.999**count)) + 1e-8)
    return {k: v.astype(np.float32) for k, v in params.items()}


# --- Files ------------------------------------------------------------------------------------------------------------


def makeModel(p):
    nodes = []
    source = "image"
    for layer in ("1", "2", "3"):
        margin = p["w" + layer].shape[2] // 2
        result = "c" + layer
        nodes.append(
            helper.make_node("Conv", [source, "w" + layer, "b" + layer], [result], "conv" + layer, pads=[margin] * 4)
        )
        source = result
        if layer != "3":
            source = "r" + layer
            nodes.append(helper.make_node("Relu", [result], [source], "relu" + layer))
    nodes += [
        helper.make_node("DepthToSpace", [source], ["detail"], "shuffle", blocksize=SCALE),
        helper.make_node("Resize", ["image", "", "scales"], ["smooth"], "interpolate", mode="linear"),
        helper.make_node("Add", ["smooth", "detail"], ["sum"], "add"),
        helper.make_node("Clip", ["sum", "black", "white"], ["upscaled"], "clip"),
    ]
    constants = p | {
        "scales": np.array([1, 1, SCALE, SCALE], np.float32),
        "black": np.array(0, np.float32),
        "white": np.array(1, np.float32),
    }
    graph = helper.make_graph(
        nodes,
        "upscale",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, "H", "W"])],
        [helper.make_tensor_value_info("upscaled", TensorProto.FLOAT, [1, 1, "H2", "W2"])],
        [numpy_helper.from_array(constants[name], name) for name in sorted(constants)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tenon-upscale")
    model.ir_version = 8
    onnx.checker.check_model(model, full_check=True)
    return model


def signalToNoise(got, want):
    """In decibels, of values from 0 to 1."""
    return 10 * np.log10(1 / np.mean((got.astype(np.float64) - want) ** 2))


def writeCase(number, image, upscaled):
    folder = HERE / f"test_data_set_{number}"
    folder.mkdir(exist_ok=True)
    for name, value, tensor in (("input_0", image, "image"), ("output_0", upscaled, "upscaled")):
        (folder / f"{name}.pb").write_bytes(numpy_helper.from_array(value, tensor).SerializeToString(deterministic=True))


def main():
    images = [(image @ [0.299, 0.587, 0.114] / 255)[: 427 // SCALE * SCALE] for image in load_sample_images().images]
    model = makeModel(train(images, np.random.default_rng(2026)))
    (HERE / "upscale.onnx").write_bytes(model.SerializeToString(deterministic=True))

    reference = ReferenceEvaluator(model)
    for name, image in zip(("china", "flower"), images):
        want = image[None, :, HELD_OUT:, None]
        small = shrink(want)
        got = reference.run(None, {"image": small.transpose(0, 3, 1, 2).astype(np.float32)})[0].transpose(0, 2, 3, 1)
        print(f"{name}: held-out {signalToNoise(got, want):.2f} dB, bilinear {signalToNoise(interpolate(small), want):.2f} dB")

    # Crops of what is held out, of two sizes.
    (HERE / "samples").mkdir(exist_ok=True)
    crops = {"roof": images[0][150:214, 500:596], "petal": images[1][180:260, 490:538]}
    for number, (name, crop) in enumerate(crops.items()):
        image = shrink(crop[None, ..., None]).transpose(0, 3, 1, 2).astype(np.float32)
        np.save(HERE / "samples" / f"{name}.npy", image)
        writeCase(number, image, reference.run(None, {"image": image})[0])


if __name__ == "__main__":
    main()
