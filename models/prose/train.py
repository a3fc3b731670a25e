#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Trains the bundled language model of bytes and writes its Hugging Face folder and held-out.txt: train.py TEXT...

Needs numpy and autograd. Takes a quarter of an hour on one core. The network is that of Llama: two layers of
rotary attention and gated units, with the embedding as the output's matrix. What is not ASCII becomes '?', and
of every twentieth part of the text nothing is learnt: the first of these parts is held-out.txt. calibration.txt has
pieces of what is learnt.
"""

import json
import pathlib
import sys
import time

import autograd.numpy as np
import numpy
from autograd import grad

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / ".." / ".." / "test" / "e2e")]
from safetensors_writer import writeModel  # noqa: E402

HIDDEN, INNER, LAYERS, HEADS, VOCABULARY = 64, 128, 2, 4, 128
SIZE, THETA, EPSILON = HIDDEN // HEADS, 10000.0, 1e-5
LENGTH, BATCH, STEPS, RATE, DECAY = 96, 16, 4000, 4e-3, 0.01
PART, HELD_OUT_BYTES = 8192, 6144
PIECES = 271


def readText(files):
    """Training text and held-out text, as numbers of bytes."""
    text = "".join(pathlib.Path(file).read_text() for file in files).encode("ascii", "replace")
    parts = [text[i : i + PART] for i in range(0, len(text), PART)]
    held = b"".join(parts[10::20])
    rest = b"".join(part for i, part in enumerate(parts) if i % 20 != 10)
    return numpy.frombuffer(rest, numpy.uint8), held


def pickPieces(text):
    """Pieces of the training text from everywhere in it, as long as a window."""
    starts = numpy.linspace(0, len(text) - LENGTH, PIECES).astype(int)
    return b"".join(text[start : start + LENGTH].tobytes() for start in starts)


def makeWeights(rng):
    def matrix(out, count):
        return (rng.standard_normal((out, count)) * count**-0.5).astype(numpy.float32)

    weights = {"model.embed_tokens.weight": matrix(VOCABULARY, HIDDEN) * numpy.float32(0.5)}
    for i in range(LAYERS):
        layer = f"model.layers.{i}."
        for name in ("q", "k", "v", "o"):
            weights[f"{layer}self_attn.{name}_proj.weight"] = matrix(HIDDEN, HIDDEN)
        weights[layer + "mlp.gate_proj.weight"] = matrix(INNER, HIDDEN)
        weights[layer + "mlp.up_proj.weight"] = matrix(INNER, HIDDEN)
        weights[layer + "mlp.down_proj.weight"] = matrix(HIDDEN, INNER)
        weights[layer + "input_layernorm.weight"] = numpy.ones(HIDDEN, numpy.float32)
        weights[layer + "post_attention_layernorm.weight"] = numpy.ones(HIDDEN, numpy.float32)
    weights["model.norm.weight"] = numpy.ones(HIDDEN, numpy.float32)
    return weights


ANGLES = numpy.outer(numpy.arange(LENGTH), THETA ** (-numpy.arange(0, SIZE, 2) / SIZE))
COSINES = numpy.concatenate([numpy.cos(ANGLES)] * 2, 1).astype(numpy.float32)
SINES = numpy.concatenate([numpy.sin(ANGLES)] * 2, 1).astype(numpy.float32)
MASK = numpy.triu(numpy.full((LENGTH, LENGTH), -1e9, numpy.float32), 1)


def norm(x, weight):
    return x * (np.mean(x * x, -1, keepdims=True) + EPSILON) ** -0.5 * weight


def rotate(x):
    half = SIZE // 2
    return x * COSINES + np.concatenate([-x[..., half:], x[..., :half]], -1) * SINES


def logits(w, ids):
    """[batch, LENGTH, VOCABULARY] for [batch, LENGTH]."""
    x = w["model.embed_tokens.weight"][ids]
    for i in range(LAYERS):
        layer = f"model.layers.{i}."

        def heads(y, name, layer=layer):
            projected = np.dot(y, w[f"{layer}self_attn.{name}_proj.weight"].T)
            return np.transpose(np.reshape(projected, (len(ids), LENGTH, HEADS, SIZE)), (0, 2, 1, 3))

        y = norm(x, w[layer + "input_layernorm.weight"])
        scores = np.matmul(rotate(heads(y, "q")), np.transpose(rotate(heads(y, "k")), (0, 1, 3, 2))) * SIZE**-0.5 + MASK
        scores = np.exp(scores - np.max(scores, -1, keepdims=True))
        mixed = np.matmul(scores / np.sum(scores, -1, keepdims=True), heads(y, "v"))
        mixed = np.reshape(np.transpose(mixed, (0, 2, 1, 3)), (len(ids), LENGTH, HIDDEN))
        x = x + np.dot(mixed, w[layer + "self_attn.o_proj.weight"].T)
        y = norm(x, w[layer + "post_attention_layernorm.weight"])
        gate = np.dot(y, w[layer + "mlp.gate_proj.weight"].T)
        wide = gate / (1 + np.exp(-gate)) * np.dot(y, w[layer + "mlp.up_proj.weight"].T)
        x = x + np.dot(wide, w[layer + "mlp.down_proj.weight"].T)
    return np.dot(norm(x, w["model.norm.weight"]), w["model.embed_tokens.weight"].T)


def loss(w, ids, targets):
    values = logits(w, ids)
    values = values - np.max(values, -1, keepdims=True)
    rows, columns = numpy.ogrid[: ids.shape[0], : ids.shape[1]]
    return np.mean(np.log(np.sum(np.exp(values), -1)) - values[rows, columns, targets])


def draw(text, rng):
    starts = rng.integers(0, len(text) - LENGTH - 1, BATCH)
    windows = numpy.stack([text[s : s + LENGTH + 1] for s in starts]).astype(numpy.int64)
    return windows[:, :-1], windows[:, 1:]


def train(text, held):
    """Adam with decoupled decay of weights, and a rate that warms up and falls to nothing along a cosine."""
    rng = numpy.random.default_rng(1)
    w, slope = makeWeights(rng), grad(loss)
    means = {name: numpy.zeros_like(value) for name, value in w.items()}
    squares = {name: numpy.zeros_like(value) for name, value in w.items()}
    begin = time.time()
    for step in range(1, STEPS + 1):
        rate = RATE * min(step / 100, 1) * (0.5 + 0.5 * numpy.cos(numpy.pi * step / STEPS))
        for name, g in slope(w, *draw(text, rng)).items():
            means[name] = 0.9 * means[name] + 0.1 * g
            squares[name] = 0.98 * squares[name] + 0.02 * g * g
            move = means[name] / (1 - 0.9**step) / (numpy.sqrt(squares[name] / (1 - 0.98**step)) + 1e-8)
            decay = DECAY if w[name].ndim == 2 else 0
            w[name] = (w[name] - rate * (move + decay * w[name])).astype(numpy.float32)
        if step % 200 == 0 or step == STEPS:
            tested = numpy.mean([loss(w, *draw(held, numpy.random.default_rng(i))) for i in range(8)])
            print(f"step {step}: perplexity {numpy.exp(tested):.3f} of held-out text, {time.time() - begin:.0f} s", flush=True)
            write(w)
    return w


def write(w):
    config = {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCABULARY, "hidden_size": HIDDEN,
        "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
        "max_position_embeddings": LENGTH, "rope_theta": THETA, "rms_norm_eps": EPSILON, "hidden_act": "silu",
        "tie_word_embeddings": True, "bos_token_id": 0, "eos_token_id": 0, "torch_dtype": "float16",
    }  # fmt: skip
    writeModel(HERE, config, {name: (value.shape, value.ravel().tolist()) for name, value in w.items()}, "F16")
    (HERE / "config.json").write_text(json.dumps(config, indent=1) + "\n")


def writeTokenizer():
    """Each byte is a token. Byte-level vocabularies call those that cannot be seen otherwise."""
    seen = range(ord("!"), ord("~") + 1)
    hidden = [byte for byte in range(256) if not (byte in seen or ord("¡") <= byte <= ord("¬") or byte >= ord("®"))]
    vocabulary = {chr(byte) if byte in seen else chr(256 + hidden.index(byte)): byte for byte in range(VOCABULARY)}
    tokenizer = {
        "version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None,
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": vocabulary, "merges": []},
    }  # fmt: skip
    (HERE / "tokenizer.json").write_text(json.dumps(tokenizer, ensure_ascii=False) + "\n")


def main():
    text, held = readText(sys.argv[1:])
    (HERE / "held-out.txt").write_bytes(held[:HELD_OUT_BYTES] + b"\n")
    (HERE / "calibration.txt").write_bytes(pickPieces(text))
    writeTokenizer()
    train(text, numpy.frombuffer(held, numpy.uint8))


main()
