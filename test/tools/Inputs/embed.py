# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""embed.py MODEL FOLDER: compares what `tenon embed` makes of texts with BERT in NumPy, and with the package `tokenizers`."""

import json
import math
import os
import struct
import subprocess
import sys

import numpy as np
from tokenizers import Tokenizer

TEXTS = ["A cat sits on the mat.", "Two birds", "", "   spaces   around ", "\u00dcber den D\u00e4chern von \u6771\u4eac", "word " * 400,
         "[MASK] is special", "0 1 2 3", "\U0001f600", "What is it?", "the end"]


def read_weights(path):
    """A safetensors file of f32."""
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    weights = {}
    for name, entry in json.loads(data[8 : 8 + size]).items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = entry["data_offsets"]
        weights[name] = np.frombuffer(data[8 + size + begin : 8 + size + end], "<f4").reshape(entry["shape"]).astype(np.float64)
    return weights


class Encoder:
    """BERT in f64, https://arxiv.org/abs/1810.04805, then the mean of the tokens, scaled to a length of 1."""

    def __init__(self, folder):
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.weights = read_weights(os.path.join(folder, "model.safetensors"))
        self.tokenizer = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        self.tokenizer.no_padding()
        with open(os.path.join(folder, "sentence_bert_config.json"), encoding="utf-8") as file:
            self.tokenizer.enable_truncation(json.load(file)["max_seq_length"])

    def linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, x, name):
        centered = x - x.mean(-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return scaled * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def attend(self, x, name):
        heads = self.config["num_attention_heads"]

        def project(part):
            return self.linear(x, f"{name}.self.{part}").reshape(len(x), heads, -1).transpose(1, 0, 2)

        queries, keys, values = project("query"), project("key"), project("value")
        scores = queries @ keys.transpose(0, 2, 1) / math.sqrt(queries.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ values
        return self.norm(self.linear(mixed.transpose(1, 0, 2).reshape(x.shape), f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def embed(self, text):
        ids = self.tokenizer.encode(text.strip()).ids
        x = (self.weights["embeddings.word_embeddings.weight"][ids] + self.weights["embeddings.position_embeddings.weight"][: len(ids)]
             + self.weights["embeddings.token_type_embeddings.weight"][0])
        x = self.norm(x, "embeddings.LayerNorm")
        error = np.vectorize(math.erf)
        for i in range(self.config["num_hidden_layers"]):
            name = f"encoder.layer.{i}"
            x = self.attend(x, name + ".attention")
            wide = self.linear(x, name + ".intermediate.dense")
            wide = wide / 2 * (1 + error(wide / math.sqrt(2)))
            x = self.norm(self.linear(wide, name + ".output.dense") + x, name + ".output.LayerNorm")
        mean = x.mean(0)
        return mean / np.linalg.norm(mean)


def run(*arguments, texts=None):
    given = "".join(text + "\0" for text in texts).encode() if texts else None
    return subprocess.run(["tenon", *arguments], input=given, check=True, stdout=subprocess.PIPE).stdout.decode()


def check(what, got, want, least=0.99999, most=1e-4):
    got = np.array(got, dtype=np.float64)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, wanted {want.shape}"
    cosines = (got * want).sum(-1) / np.linalg.norm(got, axis=-1) / np.linalg.norm(want, axis=-1)
    print(f"{what}: smallest cosine {cosines.min():.7f}, largest difference {abs(got - want).max():.1e}")
    assert cosines.min() >= least and abs(got - want).max() < most


def main():
    model, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    os.environ["TENON_CACHE_DIR"] = os.path.join(folder, "cache")
    encoder = Encoder(model)
    want = np.stack([encoder.embed(text) for text in TEXTS])
    artifact, vectors = os.path.join(folder, "minilm.tenon"), os.path.join(folder, "vectors.npy")
    check("folder", [row["embedding"] for row in json.loads(run("embed", model, "--null", "--json", "--batch", "4", texts=TEXTS))], want)
    run("compile", model, "-o", artifact, "--quiet")
    run("embed", artifact, "--tokenizer", model, "--null", "-o", vectors, texts=TEXTS)
    check("artifact", np.load(vectors), want)
    lines = run("embed", artifact, "--tokenizer", model, TEXTS[0], TEXTS[1], "--pooling", "mean", "--normalize", "--threads", "1", "--weight-budget", "50M")
    check("pooling by the command", [line.split() for line in lines.splitlines()], want[:2])
    short = [text for text in TEXTS if len(text) < 40]
    run("compile", model, "-o", artifact, "--quiet", "--shape", "batch=3", "--shape", "length=24")
    rows = json.loads(run("embed", artifact, "--tokenizer", model, "--null", "--json", texts=short))
    check("fixed sizes", [row["embedding"] for row in rows], np.stack([encoder.embed(text) for text in short]))
    # What a trained encoder makes of weights of fewer bits.
    for weights, least, most in (("int8", 0.999, 0.02), ("int4", 0.9, 0.08)):
        rows = json.loads(run("embed", model, "--weights", weights, "--null", "--json", "--batch", "4", texts=TEXTS))
        check(f"weights of {weights}", [row["embedding"] for row in rows], want, least, most)


if __name__ == "__main__":
    main()
