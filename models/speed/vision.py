# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Image models: classifiers, a detector and a denoiser."""

import math

import transformer
from graph import Graph

BATCH = {0: "N"}


def image(g, size):
    return g.input("input", [1, 3, size, size], symbols=BATCH)


# --- resnet50: residual bottlenecks, arXiv 1512.03385; the stride lies on the 3x3 convolution ----------------


def convNorm(g, x, channels, kernel=1, stride=1, groups=1, activation=None):
    y = g.batchNorm(g.conv(x, channels, kernel, stride, groups, bias=False))
    return activation(y) if activation else y


def bottleneck(g, x, width, stride):
    y = convNorm(g, x, width, activation=g.relu)
    y = convNorm(g, y, width, 3, stride, activation=g.relu)
    y = convNorm(g, y, 4 * width)
    if x.shape != y.shape:
        x = convNorm(g, x, 4 * width, stride=stride)
    return g.relu(g.add(x, y))


def resnet50():
    g = Graph("resnet50")
    x = g.maxPool(convNorm(g, image(g, 224), 64, 7, 2, activation=g.relu), 3, 2)
    for stage, count in enumerate((3, 4, 6, 3)):
        for block in range(count):
            with g.scope(f"stage{stage}.{block}"):
                x = bottleneck(g, x, 64 << stage, 2 if stage and not block else 1)
    g.output("logits", g.linear(g.reshape(g.meanOfImage(x), 0, -1), 1000), symbols=BATCH)
    return g


# --- mobilenet_v3_large: arXiv 1905.02244, table 1 -----------------------------------------------------------

# Kernel, expanded channels, channels, squeeze, hard swish (else relu), stride.
MOBILENET = [
    (3, 16, 16, False, False, 1), (3, 64, 24, False, False, 2), (3, 72, 24, False, False, 1),
    (5, 72, 40, True, False, 2), (5, 120, 40, True, False, 1), (5, 120, 40, True, False, 1),
    (3, 240, 80, False, True, 2), (3, 200, 80, False, True, 1), (3, 184, 80, False, True, 1), (3, 184, 80, False, True, 1),
    (3, 480, 112, True, True, 1), (3, 672, 112, True, True, 1),
    (5, 672, 160, True, True, 2), (5, 960, 160, True, True, 1), (5, 960, 160, True, True, 1),
]


def divisibleByEight(count):
    rounded = max(8, int(count + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * count else rounded


def squeeze(g, x):
    y = g.relu(g.conv(g.meanOfImage(x), divisibleByEight(x.shape[1] // 4)))
    return g.mul(x, g.call("HardSigmoid", g.conv(y, x.shape[1]), alpha=1 / 6, beta=0.5))


def invertedResidual(g, x, kernel, expanded, channels, squeezes, hardSwish, stride):
    activation = g.hardSwish if hardSwish else g.relu
    y = convNorm(g, x, expanded, activation=activation) if expanded != x.shape[1] else x
    y = convNorm(g, y, expanded, kernel, stride, groups=expanded, activation=activation)
    y = convNorm(g, squeeze(g, y) if squeezes else y, channels)
    return g.add(x, y) if x.shape == y.shape else y


def mobilenetV3Large():
    g = Graph("mobilenet_v3_large")
    x = convNorm(g, image(g, 224), 16, 3, 2, activation=g.hardSwish)
    for i, block in enumerate(MOBILENET):
        with g.scope(f"block{i}"):
            x = invertedResidual(g, x, *block)
    x = g.meanOfImage(convNorm(g, x, 960, activation=g.hardSwish))
    x = g.hardSwish(g.linear(g.reshape(x, 0, -1), 1280))
    g.output("logits", g.linear(x, 1000), symbols=BATCH)
    return g


# --- detector_n: a one-stage detector of the YOLOv8 kind in its smallest size, 80 classes --------------------


def convSilu(g, x, channels, kernel=1, stride=1):
    return g.silu(g.conv(x, channels, kernel, stride))


def splitBlock(g, x, channels, count, residual):
    """Half of the channels passes through `count` pairs of convolutions; what each gives is kept."""
    parts = g.split(convSilu(g, x, channels), 1, 2)
    for _ in range(count):
        y = convSilu(g, convSilu(g, parts[-1], channels // 2, 3), channels // 2, 3)
        parts.append(g.add(parts[-1], y) if residual else y)
    return convSilu(g, g.concat(parts, 1), channels)


def pyramidPool(g, x):
    pooled = [convSilu(g, x, x.shape[1] // 2)]
    for _ in range(3):
        pooled.append(g.maxPool(pooled[-1], 5, 1))
    return convSilu(g, g.concat(pooled, 1), x.shape[1])


def backbone(g, x):
    x = convSilu(g, x, 16, 3, 2)
    levels = []
    for channels, count in ((32, 1), (64, 2), (128, 2), (256, 1)):
        with g.scope(f"down{channels}"):
            x = splitBlock(g, convSilu(g, x, channels, 3, 2), channels, count, residual=True)
        levels.append(x)
    return levels[1], levels[2], pyramidPool(g, levels[3])


def neck(g, fine, middle, coarse):
    """Features of each level, with those of the coarser and then of the finer ones."""
    middle = splitBlock(g, g.concat([g.upsample(coarse), middle], 1), 128, 1, residual=False)
    fine = splitBlock(g, g.concat([g.upsample(middle), fine], 1), 64, 1, residual=False)
    middle = splitBlock(g, g.concat([convSilu(g, fine, 64, 3, 2), middle], 1), 128, 1, residual=False)
    coarse = splitBlock(g, g.concat([convSilu(g, middle, 128, 3, 2), coarse], 1), 256, 1, residual=False)
    return fine, middle, coarse


def predict(g, levels, channels):
    """A number per place of each level, levels beside each other."""
    flat = []
    for x in levels:
        x = convSilu(g, convSilu(g, x, channels, 3), channels, 3)
        flat.append(g.reshape(g.conv(x, channels), 0, channels, -1))
    return g.concat(flat, 2)


def gridOf(levels, size):
    """Centres of all places in units of their level's stride, x before y, and the strides."""
    xs, ys, strides = [], [], []
    for _, _, height, width in (level.shape for level in levels):
        xs += [x + 0.5 for _ in range(height) for x in range(width)]
        ys += [y + 0.5 for y in range(height) for _ in range(width)]
        strides += [float(size // width)] * (height * width)
    return xs + ys, strides


def detector():
    g = Graph("detector_n")
    levels = neck(g, *backbone(g, image(g, 640)))
    with g.scope("boxes"):
        bins = g.softmax(g.reshape(predict(g, levels, 64), 0, 4, 16, -1), axis=2)
        weighted = g.mul(bins, g.floats([float(i) for i in range(16)], (16, 1)))
        n, sides, _, places = bins.shape
        distances = g.call("ReduceSum", weighted, g.integers(2), shape=(n, sides, places), keepdims=0)
        centres, strides = gridOf(levels, 640)
        centres, strides = g.floats(centres, (2, places)), g.floats(strides)
        near, far = g.split(distances, 1, 2)
        low, high = g.call("Sub", centres, near), g.add(centres, far)
        middle = g.mul(g.add(low, high), g.scalar(0.5))
        boxes = g.mul(g.concat([middle, g.call("Sub", high, low)], 1), strides)
    with g.scope("classes"):
        scores = g.call("Sigmoid", predict(g, levels, 80))
    g.output("predictions", g.concat([boxes, scores], 1), symbols=BATCH)
    return g


# --- vit_b16: arXiv 2010.11929 -------------------------------------------------------------------------------


def patches(g, x, size, width):
    """16x16 convolutions that do not overlap: nothing is padded."""
    weight = g.weight(width, 3, size, size)
    shape = (1, width, x.shape[2] // size, x.shape[3] // size)
    g.flop += 2 * math.prod(shape) * math.prod(weight.shape[1:])
    bias = g.weight(width, deviation=0.02, name="bias")
    x = g.call("Conv", x, weight, bias, shape=shape, kernel_shape=[size] * 2, strides=[size] * 2)
    return g.transpose(g.reshape(x, 0, width, -1), 0, 2, 1)


def vitB16():
    g = Graph("vit_b16")
    width = 768
    x = patches(g, image(g, 224), 16, width)
    batch = g.call("Shape", x, shape=(1,), start=0, end=1)
    token = g.call("Expand", g.weight(1, 1, width, deviation=0.02, name="token"),
                   g.concat([batch, g.integers(1, width)], 0), shape=(1, 1, width))
    x = g.concat([token, x], 1)
    x = g.add(x, g.weight(*x.shape, deviation=0.02, name="positions"))
    for layer in range(12):
        with g.scope(f"layer{layer}"):
            x = g.add(x, transformer.selfAttention(g, g.layerNorm(x), 12))
            x = g.add(x, transformer.feedForward(g, g.layerNorm(x), 4 * width, g.gelu))
    first = g.gather(g.layerNorm(x), g._constant("first", transformer.integer(0)), axis=1)
    g.output("logits", g.linear(first, 1000), symbols=BATCH)
    return g


# --- unet_small: a denoiser for diffusion, with attention on its lower two levels ----------------------------

GROUPS, HEADS = 16, 4


def normSilu(g, x):
    return g.silu(g.groupNorm(x, GROUPS))


def timeEmbedding(g, step, half, width):
    frequencies = g.floats([math.exp(-math.log(10000) * i / half) for i in range(half)])
    angles = g.mul(g.unsqueeze(g.cast(step, "f32"), 1), frequencies)
    waves = g.concat([g.call("Cos", angles), g.call("Sin", angles)], 1)
    return g.silu(g.linear(g.silu(g.linear(waves, width)), width))


def residual(g, x, time, channels):
    y = g.conv(normSilu(g, x), channels, 3)
    y = g.add(y, g.unsqueeze(g.linear(time, channels), 2, 3))
    y = g.conv(normSilu(g, y), channels, 3)
    return g.add(g.conv(x, channels) if x.shape[1] != channels else x, y)


def imageAttention(g, x):
    n, channels, height, width = x.shape
    packed = g.reshape(g.conv(g.groupNorm(x, GROUPS), 3 * channels), 0, 3 * HEADS, channels // HEADS, -1)
    q, k, v = g.split(packed, 1, 3)
    scores = g.mul(g.matmul(g.transpose(q, 0, 1, 3, 2), k), g.scalar((channels // HEADS) ** -0.5))
    mixed = g.matmul(g.softmax(scores), g.transpose(v, 0, 1, 3, 2))
    mixed = g.reshape(g.transpose(mixed, 0, 1, 3, 2), 0, channels, height, width)
    return g.add(x, g.conv(mixed, channels))


def stage(g, x, time, channels):
    x = residual(g, x, time, channels)
    return imageAttention(g, x) if channels > 64 else x


def unetSmall():
    g = Graph("unet_small")
    x = g.input("sample", [1, 4, 32, 32])
    time = timeEmbedding(g, g.input("timestep", [1], "i64"), 32, 256)
    kept = [g.conv(x, 64, 3)]
    for level, channels in enumerate((64, 128, 256)):
        with g.scope(f"down{level}"):
            if level:
                kept.append(g.conv(kept[-1], kept[-1].shape[1], 3, 2))
            for _ in range(2):
                kept.append(stage(g, kept[-1], time, channels))
    with g.scope("middle"):
        x = residual(g, imageAttention(g, residual(g, kept[-1], time, 256)), time, 256)
    for level, channels in enumerate((256, 128, 64)):
        with g.scope(f"up{level}"):
            if level:
                x = g.conv(g.upsample(x), x.shape[1], 3)
            for _ in range(3):
                x = stage(g, g.concat([x, kept.pop()], 1), time, channels)
    g.output("noise", g.conv(normSilu(g, x), 4, 3))
    return g
