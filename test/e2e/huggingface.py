# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tiny Hugging Face models with seeded weights, against the architectures written out in plain Python.

usage: huggingface.py [NAME...]      all models where none is named; build/bin has to be on the PATH
"""

import math
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]

from safetensors_writer import bfloat16, writeFile, writeModel
from tensors import Tensor, integers, readNpy, writeNpy

#===--- Vectors and matrices, as lists


def dot(x, y):
    return math.fsum(a * b for a, b in zip(x, y, strict=True))


def add(*vectors):
    return [math.fsum(values) for values in zip(*vectors, strict=True)]


def softmax(x):
    exponentials = [math.exp(value - max(x)) for value in x]
    return [value / math.fsum(exponentials) for value in exponentials]


def silu(x):
    return x / (1 + math.exp(-x))


def gelu(x):
    return x / 2 * (1 + math.erf(x / math.sqrt(2)))


def geluTanh(x):
    return x / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


class Weights:
    """Seeded tensors by name, made as they are asked for; rounded as the file will hold them."""

    def __init__(self, seed, rounded=lambda x: x):
        self.random, self.rounded, self.tensors = random.Random(seed), rounded, {}

    def vector(self, name, size, low=-0.5, high=0.5):
        return self.matrix(name, 1, size, low, high, shape=(size,))[0]

    def matrix(self, name, rows, columns, low=-0.5, high=0.5, shape=None):
        if name not in self.tensors:
            values = Tensor((rows * columns,), [self.rounded(self.random.uniform(low, high)) for _ in range(rows * columns)])
            self.tensors[name] = (shape or (rows, columns), values.data)
        values = self.tensors[name][1]
        return [values[i * columns : (i + 1) * columns] for i in range(rows)]

    def linear(self, name, x, size, bias=True):
        """[out, in], for each row of x."""
        matrix = self.matrix(name + ".weight", size, len(x[0]))
        offset = self.vector(name + ".bias", size) if bias else [0.0] * size
        return [add([dot(row, column) for column in matrix], offset) for row in x]

    def layerNorm(self, name, x, epsilon, names=("weight", "bias")):
        scale, bias = (self.vector(f"{name}.{key}", len(x[0]), 0.5, 1.5) for key in names)
        result = []
        for row in x:
            mean = math.fsum(row) / len(row)
            variance = math.fsum((value - mean) ** 2 for value in row) / len(row)
            result.append([(v - mean) / math.sqrt(variance + epsilon) * s + b for v, s, b in zip(row, scale, bias)])
        return result

    def rmsNorm(self, name, x, epsilon, offset=0.0):
        scale = self.vector(name + ".weight", len(x[0]), 0.5, 1.5)
        means = [math.fsum(value * value for value in row) / len(row) for row in x]
        return [[v / math.sqrt(mean + epsilon) * (offset + s) for v, s in zip(row, scale)] for row, mean in zip(x, means)]


def attend(queries, keys, values, heads, keyHeads, scale, sees):
    """Rows of all heads side by side; sees(query, key) says whether a token counts for another."""
    size, group = len(queries[0]) // heads, heads // keyHeads
    width = len(values[0]) // keyHeads
    result = []
    for q, row in enumerate(queries):
        mixed = []
        for head in range(heads):
            at = head // group * size
            query = row[head * size : (head + 1) * size]
            seen = [k for k in range(len(keys)) if sees(q, k)]
            weights = softmax([dot(query, keys[k][at : at + size]) * scale for k in seen])
            at = head // group * width
            mixed += [math.fsum(w * values[k][i] for w, k in zip(weights, seen)) for i in range(at, at + width)]
        result.append(mixed)
    return result


def turn(x, heads, frequencies, scale=1.0):
    """Rotary positions of rows of heads: feature i and the one half a head on turn together."""
    size, half, result = len(x[0]) // heads, len(frequencies), []
    for position, row in enumerate(x):
        turned = list(row)
        for head in range(heads):
            for i, frequency in enumerate(frequencies):
                a, b = head * size + i, head * size + half + i
                c, s = math.cos(position * frequency) * scale, math.sin(position * frequency) * scale
                turned[a], turned[b] = row[a] * c - row[b] * s, row[b] * c + row[a] * s
        result.append(turned)
    return result


#===--- Rotary frequencies


def plainRope(theta, size):
    return [theta ** (-2 * i / size) for i in range(size // 2)], 1.0


def linearRope(theta, size, factor):
    return [f / factor for f in plainRope(theta, size)[0]], 1.0


def llama3Rope(theta, size, factor, low, high, length):
    frequencies = []
    for f in plainRope(theta, size)[0]:
        wavelength = 2 * math.pi / f
        if wavelength > length / low:
            f = f / factor
        elif wavelength >= length / high:
            smooth = (length / wavelength - low) / (high - low)
            f = (1 - smooth) * f / factor + smooth * f
        frequencies.append(f)
    return frequencies, 1.0


def yarnRope(theta, size, factor, length, fast=32, slow=1):
    feature = lambda turns: size * math.log(length / (turns * 2 * math.pi)) / (2 * math.log(theta))
    low, high = max(math.floor(feature(fast)), 0), min(math.ceil(feature(slow)), size - 1)
    high += 0.001 if low == high else 0
    frequencies = []
    for i, f in enumerate(plainRope(theta, size)[0]):
        slowed = min(max((i - low) / (high - low), 0), 1)
        frequencies.append(f / factor * slowed + f * (1 - slowed))
    return frequencies, 0.1 * math.log(factor) + 1


def dynamicRope(theta, size, factor, longest, length):
    stretch = factor * max(length, longest) / longest - (factor - 1)
    return plainRope(theta * stretch ** (size / (size - 2)), size)


def longRope(theta, size, short, far, trained, longest, length):
    factors = far if length > trained else short
    return [f / factor for f, factor in zip(plainRope(theta, size)[0], factors)], math.sqrt(1 + math.log(longest / trained) / math.log(trained))


#===--- Architectures: rows of token ids in, named rows of numbers out


def llama(w, c, ids, rope, scale):
    """One text. `scale` multiplies what is rotated."""
    heads, keyHeads, size = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"]), c["head_dim"]
    words, bias, wide = w.matrix("model.embed_tokens.weight", c["vocab_size"], c["hidden_size"]), c.get("attention_bias", False), c.get("mlp_bias", False)
    x = [words[token] for token in ids]
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        h = w.rmsNorm(at + "input_layernorm", x, c["rms_norm_eps"])
        q = turn(w.linear(at + "self_attn.q_proj", h, heads * size, bias), heads, rope, scale)
        k = turn(w.linear(at + "self_attn.k_proj", h, keyHeads * size, bias), keyHeads, rope, scale)
        v = w.linear(at + "self_attn.v_proj", h, keyHeads * size, bias)
        mixed = attend(q, k, v, heads, keyHeads, size**-0.5, lambda query, key: key <= query)
        x = list(map(add, x, w.linear(at + "self_attn.o_proj", mixed, c["hidden_size"], bias)))
        h = w.rmsNorm(at + "post_attention_layernorm", x, c["rms_norm_eps"])
        gates = w.linear(at + "mlp.gate_proj", h, c["intermediate_size"], wide)
        up = w.linear(at + "mlp.up_proj", h, c["intermediate_size"], wide)
        product = [[silu(g) * u for g, u in zip(*rows)] for rows in zip(gates, up)]
        x = list(map(add, x, w.linear(at + "mlp.down_proj", product, c["hidden_size"], wide)))
    x = w.rmsNorm("model.norm", x, c["rms_norm_eps"])
    head = words if c.get("tie_word_embeddings") else w.matrix("lm_head.weight", c["vocab_size"], c["hidden_size"])
    return {"logits": [[dot(row, word) for word in head] for row in x]}


def gpt2(w, c, ids, root):
    hidden, heads, words = c["n_embd"], c["n_head"], w.matrix(root + "wte.weight", c["vocab_size"], c["n_embd"])
    places = w.matrix(root + "wpe.weight", c["n_positions"], hidden)

    def convolve(name, x, size):
        columns = list(zip(*w.matrix(name + ".weight", len(x[0]), size)))
        bias = w.vector(name + ".bias", size)
        return [add([dot(row, column) for column in columns], bias) for row in x]

    x = [add(words[token], place) for token, place in zip(ids, places)]
    for layer in range(c["n_layer"]):
        at = f"{root}h.{layer}."
        h = convolve(at + "attn.c_attn", w.layerNorm(at + "ln_1", x, 1e-5), 3 * hidden)
        q, k, v = ([row[i * hidden : (i + 1) * hidden] for row in h] for i in range(3))
        scale = (hidden // heads) ** -0.5 / (layer + 1)
        mixed = attend(q, k, v, heads, heads, scale, lambda query, key: key <= query)
        x = list(map(add, x, convolve(at + "attn.c_proj", mixed, hidden)))
        h = convolve(at + "mlp.c_fc", w.layerNorm(at + "ln_2", x, 1e-5), c["n_inner"])
        x = list(map(add, x, convolve(at + "mlp.c_proj", [[geluTanh(v) for v in row] for row in h], hidden)))
    x = w.layerNorm(root + "ln_f", x, 1e-5)
    return {"logits": [[dot(row, word) for word in words] for row in x]}


def bert(w, c, ids, mask, types, root, norm):
    hidden, heads, epsilon = c["hidden_size"], c["num_attention_heads"], c["layer_norm_eps"]
    words = w.matrix(root + "embeddings.word_embeddings.weight", c["vocab_size"], hidden)
    places = w.matrix(root + "embeddings.position_embeddings.weight", c["max_position_embeddings"], hidden)
    kinds = w.matrix(root + "embeddings.token_type_embeddings.weight", c["type_vocab_size"], hidden)
    x = [add(words[token], place, kinds[kind]) for token, place, kind in zip(ids, places, types)]
    x = w.layerNorm(root + "embeddings.LayerNorm", x, epsilon, norm)
    for layer in range(c["num_hidden_layers"]):
        at = f"{root}encoder.layer.{layer}."
        q, k, v = (w.linear(f"{at}attention.self.{name}", x, hidden) for name in ("query", "key", "value"))
        mixed = attend(q, k, v, heads, heads, (hidden // heads) ** -0.5, lambda query, key: mask[key])
        h = w.linear(at + "attention.output.dense", mixed, hidden)
        x = w.layerNorm(at + "attention.output.LayerNorm", list(map(add, h, x)), epsilon, norm)
        h = [[gelu(value) for value in row] for row in w.linear(at + "intermediate.dense", x, c["intermediate_size"])]
        h = w.linear(at + "output.dense", h, hidden)
        x = w.layerNorm(at + "output.LayerNorm", list(map(add, h, x)), epsilon, norm)
    (pooled,) = w.linear(root + "pooler.dense", x[:1], hidden)
    length = math.sqrt(dot(x[0], x[0]))
    return {
        "last_hidden_state": x,
        "pooler_output": [[math.tanh(value) for value in pooled]],
        "sentence_embedding": [[value / length for value in x[0]]],
    }


def gemma3(w, c, ids, near, far, softcap):
    heads, keyHeads, size, hidden = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["hidden_size"]
    words = w.matrix("model.embed_tokens.weight", c["vocab_size"], hidden)
    norm = lambda name, rows: w.rmsNorm(name, rows, c["rms_norm_eps"], 1.0)

    def normHeads(name, rows, count):
        parts = [row[i * size : (i + 1) * size] for row in rows for i in range(count)]
        parts = norm(name, parts)
        return [sum(parts[i * count : (i + 1) * count], []) for i in range(len(rows))]

    x = [[value * math.sqrt(hidden) for value in words[token]] for token in ids]
    for layer, kind in enumerate(c["layer_types"]):
        at = f"model.layers.{layer}."
        slides = kind == "sliding_attention"
        h = norm(at + "input_layernorm", x)
        q, k, v = (w.linear(f"{at}self_attn.{name}_proj", h, n * size, False) for name, n in (("q", heads), ("k", keyHeads), ("v", keyHeads)))
        q, k = normHeads(at + "self_attn.q_norm", q, heads), normHeads(at + "self_attn.k_norm", k, keyHeads)
        q, k = (turn(rows, n, *(near if slides else far)) for rows, n in ((q, heads), (k, keyHeads)))
        sees = lambda query, key: key <= query and not (slides and query - key >= c["sliding_window"])
        mixed = attend(q, k, v, heads, keyHeads, c["query_pre_attn_scalar"] ** -0.5, sees)
        h = norm(at + "post_attention_layernorm", w.linear(at + "self_attn.o_proj", mixed, hidden, False))
        x = list(map(add, x, h))
        h = norm(at + "pre_feedforward_layernorm", x)
        gates, up = (w.linear(f"{at}mlp.{name}_proj", h, c["intermediate_size"], False) for name in ("gate", "up"))
        product = [[geluTanh(g) * u for g, u in zip(*rows)] for rows in zip(gates, up)]
        h = norm(at + "post_feedforward_layernorm", w.linear(at + "mlp.down_proj", product, hidden, False))
        x = list(map(add, x, h))
    x = norm("model.norm", x)
    return {"logits": [[math.tanh(dot(row, word) / softcap) * softcap for word in words] for row in x]}


#===--- Models: how a folder is written, and what one text gives

LLAMA = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 12, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 20, "vocab_size": 17,
    "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "hidden_act": "silu",
}  # fmt: skip
GEMMA3 = {
    "architectures": ["Gemma3ForCausalLM"], "model_type": "gemma3_text", "hidden_size": 12, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 8, "intermediate_size": 20, "vocab_size": 17,
    "layer_types": ["sliding_attention", "full_attention", "sliding_attention"], "sliding_window": 3, "rms_norm_eps": 1e-6,
    "query_pre_attn_scalar": 5.0, "final_logit_softcapping": 4.0, "max_position_embeddings": 64,
    "rope_parameters": {"full_attention": {"rope_theta": 900.0}, "sliding_attention": {"rope_theta": 30.0}},
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2", "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 16, "n_inner": 20, "vocab_size": 17,
    "scale_attn_by_inverse_layer_idx": True, "n_ctx": 16,
}  # fmt: skip
BERT = {
    "architectures": ["BertModel"], "model_type": "bert", "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
    "intermediate_size": 20, "vocab_size": 17, "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
}  # fmt: skip

LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 100.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 3.0, 9.0, 27.0], "original_max_position_embeddings": 6}
CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "word_embedding_dimension": 12}
MODULES = [{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}, {"path": "2", "type": "a.Normalize"}]


class Model:
    def __init__(self, config, run, weights=None, files=None, **options):
        self.config, self.weights, self.files, self.options = config, weights or Weights(str(config)), files or {}, options
        self.run = lambda *inputs: run(self.weights, config, *inputs)


def makeModels():
    plain = {**LLAMA, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0}}
    biased = {**LLAMA, "attention_bias": True, "mlp_bias": True, "tie_word_embeddings": True}
    old = {**LLAMA, "num_key_value_heads": None, "rope_theta": 100.0, "rope_scaling": LLAMA3}
    del old["num_key_value_heads"]
    yarn = {**LLAMA, "rope_parameters": YARN}
    dynamic = {**LLAMA, "max_position_embeddings": 6, "rope_scaling": {"rope_type": "dynamic", "factor": 3.0}}
    long = {**LLAMA, "rope_parameters": LONG}
    linear = {**LLAMA, "rope_scaling": {"type": "linear", "factor": 2.0}}
    rounded = Weights("bf16", bfloat16)
    return {
        "llama": Model(plain, lambda w, c, ids: llama(w, c, ids, *plainRope(50.0, 8))),
        "llama-bf16-shards": Model(biased, lambda w, c, ids: llama(w, c, ids, *plainRope(10000.0, 8)), rounded, dtype="BF16", shards=3),
        "llama-llama3": Model(old, lambda w, c, ids: llama(w, c, ids, *llama3Rope(100.0, 8, 4.0, 1.0, 4.0, 32))),
        "llama-yarn": Model(yarn, lambda w, c, ids: llama(w, c, ids, *yarnRope(100.0, 8, 4.0, 16))),
        "llama-dynamic": Model(dynamic, lambda w, c, ids: llama(w, c, ids, *dynamicRope(10000.0, 8, 3.0, 6, len(ids)))),
        "llama-longrope": Model(long, lambda w, c, ids: llama(w, c, ids, *longRope(10000.0, 8, LONG["short_factor"], LONG["long_factor"], 6, 64, len(ids)))),
        "llama-linear": Model(linear, lambda w, c, ids: llama(w, c, ids, *linearRope(10000.0, 8, 2.0))),
        "gemma3": Model(GEMMA3, lambda w, c, ids: gemma3(w, c, ids, plainRope(30.0, 8), plainRope(900.0, 8), 4.0)),
        "gpt2": Model(GPT2, lambda w, c, ids: gpt2(w, c, ids, "transformer.")),
        "gpt2-bare": Model(GPT2, lambda w, c, ids: gpt2(w, c, ids, "")),
        "bert": Model(BERT, lambda w, c, *inputs: bert(w, c, *inputs, "", ("weight", "bias")), files={"modules.json": MODULES, "1_Pooling/config.json": CLS}),
        "bert-old-names": Model(BERT, lambda w, c, *inputs: bert(w, c, *inputs, "bert.", ("gamma", "beta"))),
    }


#===--- Running


def makeInputs(model, batch, length):
    """A list of rows for each input, by name."""
    generator = random.Random(f"{batch} {length}")
    rows = lambda high: [[generator.randrange(high) for _ in range(length)] for _ in range(batch)]
    inputs = {"input_ids": rows(model.config["vocab_size"])}
    if model.config["model_type"] == "bert":
        # The first token is always seen, others by chance.
        inputs["attention_mask"] = [[1] + row[1:] for row in rows(2)]
        inputs["token_type_ids"] = rows(2)
    return inputs


def writeFolder(model, folder):
    # The reference makes the weights as it goes.
    model.run(*(rows[0] for rows in makeInputs(model, 1, 1).values()))
    writeModel(folder, model.config, model.weights.tensors, **model.options)
    for path, content in model.files.items():
        writeFile(folder, path, content)


def compare(name, model, folder, batch, length):
    """What is wrong with one run, or nothing."""
    inputs = makeInputs(model, batch, length)
    command = ["tenon-run", os.path.join(folder, "model.tenon"), "--output-dir", folder]
    for key, rows in inputs.items():
        path = os.path.join(folder, key + ".npy")
        writeNpy(path, integers([value for row in rows for value in row], (batch, length)))
        command += ["--input", f"{key}={path}"]
    subprocess.run(command, check=True)
    texts = [model.run(*text) for text in zip(*inputs.values())]
    for key in texts[0]:
        if key == "sentence_embedding" and not model.files:
            continue
        want = [value for text in texts for row in text[key] for value in row]
        got = readNpy(os.path.join(folder, key + ".npy")).data
        worst = max(abs(g - w) for g, w in zip(got, want, strict=True)) / max(map(abs, want))
        if not worst < 1e-5:
            return f"{name}: '{key}' of {batch} texts of {length} tokens differs by {worst}"
    return None


def check(name, model):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "model")
        writeFolder(model, source)
        subprocess.run(["tenon", "compile", source, "-o", os.path.join(folder, "model.tenon")], check=True)
        faults = [compare(name, model, folder, batch, length) for batch, length in ((1, 1), (1, 7), (3, 5), (2, 16))]
        return [fault for fault in faults if fault]


def main():
    models = makeModels()
    names = sys.argv[1:] or list(models)
    faults = [fault for name in names for fault in check(name, models[name])]
    for fault in faults:
        print(fault)
    print(f"{len(names)} models, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
