# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The perplexity of a text under models/prose, computed with numpy alone: perplexity.py FOLDER TEXT WINDOW STRIDE [TOKENS].

Windows and targets are those of the page "Perplexity of fixed-length models" of transformers, written out.
"""

import json
import pathlib
import struct
import sys

import numpy as np


def readWeights(file):
    content = file.read_bytes()
    (size,) = struct.unpack_from("<Q", content)
    header = json.loads(content[8 : 8 + size])
    weights = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in entry["data_offsets"])
            weights[name] = np.frombuffer(content[begin:end], np.float16).reshape(entry["shape"]).astype(np.float64)
    return weights


def norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def getLogits(w, c, ids):
    length, heads = len(ids), c["num_attention_heads"]
    size = c["hidden_size"] // heads
    angles = np.outer(np.arange(length), c["rope_theta"] ** (-np.arange(0, size, 2) / size))
    cosines, sines = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    hidden = np.triu(np.ones((length, length), bool), 1)

    def rotate(x):
        return x * cosines + np.concatenate([-x[..., size // 2 :], x[..., : size // 2]], -1) * sines

    x = w["model.embed_tokens.weight"][ids]
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        y = norm(x, w[layer + "input_layernorm.weight"], c["rms_norm_eps"])
        queries, keys, values = (
            (y @ w[f"{layer}self_attn.{name}_proj.weight"].T).reshape(length, heads, size).transpose(1, 0, 2) for name in "qkv"
        )
        scores = np.where(hidden, -np.inf, rotate(queries) @ rotate(keys).transpose(0, 2, 1) / np.sqrt(size))
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True) @ values).transpose(1, 0, 2).reshape(length, -1)
        x = x + mixed @ w[layer + "self_attn.o_proj.weight"].T
        y = norm(x, w[layer + "post_attention_layernorm.weight"], c["rms_norm_eps"])
        gate = y @ w[layer + "mlp.gate_proj.weight"].T
        x = x + gate / (1 + np.exp(-gate)) * (y @ w[layer + "mlp.up_proj.weight"].T) @ w[layer + "mlp.down_proj.weight"].T
    return norm(x, w["model.norm.weight"], c["rms_norm_eps"]) @ w["model.embed_tokens.weight"].T


def main(folder, text, window, stride):
    folder, window, stride = pathlib.Path(folder), int(window), int(stride)
    w, c = readWeights(folder / "model.safetensors"), json.loads((folder / "config.json").read_text())
    tokens, losses, done = list(pathlib.Path(text).read_bytes()), [], 0
    for begin in range(0, len(tokens), stride):
        end = min(begin + window, len(tokens))
        ids, targets = tokens[begin:end], np.array(tokens[begin:end])
        counted = end - done
        logits = getLogits(w, c, ids)[:-1]
        logs = logits - logits.max(-1, keepdims=True)
        logs -= np.log(np.exp(logs).sum(-1, keepdims=True))
        losses += list(-logs[np.arange(len(ids) - 1), targets[1:]][max(len(ids) - 1 - counted, 0) :])
        done = end
        if end == len(tokens):
            break
    print(f"{np.exp(np.mean(losses)):.4f} of {len(losses)} tokens")


main(*sys.argv[1:])
