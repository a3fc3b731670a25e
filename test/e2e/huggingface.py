# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Tiny Hugging Face models with seeded weights, against the architectures written out in plain Python.

usage: huggingface.py [NAME...]      all models where none is named; build/bin has to be on the PATH
       huggingface.py --part 2/3     each third model, from the second on
       huggingface.py --generate [NAME...]   decoders go on with a text
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


def packWords(rows, bits, byRows=False, places=range(8)):
    """A matrix of numbers of few bits in words of 32, signed: of neighbours of a row, or with `byRows` of a column."""
    if byRows:
        return [list(row) for row in zip(*packWords(list(zip(*rows)), bits))]
    count, words = 32 // bits, []
    for row in rows:
        groups = [row[i : i + count] for i in range(0, len(row), count)]
        values = [sum(number << places[i] * bits for i, number in enumerate(group)) for group in groups]
        words.append([value - (1 << 32) if value >> 31 else value for value in values])
    return words


class QuantizedWeights(Weights):
    """The matrices of products as a method of quantisation has them; `matrix` gives the numbers that they stand for."""

    def __init__(self, seed, method, bits=4, group=8, symmetric=False, sorts=False):
        super().__init__(seed)
        self.method, self.bits, self.group, self.symmetric, self.sorts, self.known = method, bits, group, symmetric, sorts, {}

    def put(self, name, rows, dtype):
        self.tensors[name] = ((len(rows), len(rows[0])), [value for row in rows for value in row], dtype)

    def matrix(self, name, rows, columns, *args, **options):
        if not name.endswith("_proj.weight"):
            return super().matrix(name, rows, columns, *args, **options)
        if name not in self.known:
            self.known[name] = self.quantize(name[: -len(".weight")], rows, columns)
        return self.known[name]

    def quantize(self, name, out, size):
        limit, groups, r = 1 << self.bits, size // self.group if self.group else 1, self.random
        places = [i // self.group if self.group else 0 for i in range(size)]
        if self.sorts:
            r.shuffle(places)
        numbers = [[r.randrange(limit) for _ in range(size)] for _ in range(out)]
        zeros = [[limit // 2 if self.symmetric else r.randrange(limit) for _ in range(groups)] for _ in range(out)]
        scales = [[r.randrange(1, 64) / (32 * limit) for _ in range(groups)] for _ in range(out)]
        getattr(self, self.method)(name, numbers, zeros, scales, places)
        return [[(row[i] - zero[g]) * scale[g] for i, g in enumerate(places)] for row, zero, scale in zip(numbers, zeros, scales)]

    def gptq(self, name, numbers, zeros, scales, places):
        transposed = lambda rows: [list(row) for row in zip(*rows)]
        self.put(name + ".qweight", packWords(transposed(numbers), self.bits, byRows=True), "I32")
        less = [[(zero - 1) % (1 << self.bits) for zero in row] for row in transposed(zeros)]
        self.put(name + ".qzeros", packWords(less, self.bits), "I32")
        self.put(name + ".scales", transposed(scales), "F16")
        self.tensors[name + ".g_idx"] = ((len(places),), places, "I32")

    def awq(self, name, numbers, zeros, scales, places):
        transposed, order = lambda rows: [list(row) for row in zip(*rows)], (0, 4, 1, 5, 2, 6, 3, 7)
        self.put(name + ".qweight", packWords(transposed(numbers), 4, places=order), "I32")
        self.put(name + ".qzeros", packWords(transposed(zeros), 4, places=order), "I32")
        self.put(name + ".scales", transposed(scales), "F16")

    def packed(self, name, numbers, zeros, scales, places):
        self.put(name + ".weight_packed", packWords(numbers, self.bits), "I32")
        self.put(name + ".weight_scale", scales, "BF16")
        self.tensors[name + ".weight_shape"] = ((2,), [len(numbers), len(places)], "I64")
        if not self.symmetric:
            self.put(name + ".weight_zero_point", packWords(zeros, self.bits, byRows=True), "I32")

    def int8(self, name, numbers, zeros, scales, places):
        self.put(name + ".weight", [[number - 128 for number in row] for row in numbers], "I8")
        self.put(name + ".weight_scale", scales, "F32")

    def int8Largest(self, name, numbers, zeros, scales, places):
        self.put(name + ".weight", [[number - 128 for number in row] for row in numbers], "I8")
        self.tensors[name + ".SCB"] = ((len(scales),), [127 * scale[0] for scale in scales], "F32")


def attend(queries, keys, values, heads, keyHeads, scale, sees, cap=None):
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
            scores = [dot(query, keys[k][at : at + size]) * scale for k in seen]
            weights = softmax([math.tanh(score / cap) * cap for score in scores] if cap else scores)
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


def gated(w, name, h, c, activation=silu, bias=False):
    gates, up = (w.linear(f"{name}.{part}_proj", h, c["intermediate_size"], bias) for part in ("gate", "up"))
    product = [[activation(g) * u for g, u in zip(*rows)] for rows in zip(gates, up)]
    return w.linear(name + ".down_proj", product, c["hidden_size"], bias)


def normHeads(norm, name, rows, size):
    """Each head of `size` features has a norm of its own, with one scale for all."""
    count = len(rows[0]) // size
    parts = norm(name, [row[i * size : (i + 1) * size] for row in rows for i in range(count)])
    return [sum(parts[i * count : (i + 1) * count], []) for i in range(len(rows))]


def preNormDecoder(w, c, ids, attention, feedForward):
    """Llama and what follows it: attention(at, layer, h) and feedForward(at, h), each with a norm before and x added behind."""
    words = w.matrix("model.embed_tokens.weight", c["vocab_size"], c["hidden_size"])
    x = [words[token] for token in ids]
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        x = list(map(add, x, attention(at + "self_attn.", layer, w.rmsNorm(at + "input_layernorm", x, c["rms_norm_eps"]))))
        x = list(map(add, x, feedForward(at + "mlp", w.rmsNorm(at + "post_attention_layernorm", x, c["rms_norm_eps"]))))
    x = w.rmsNorm("model.norm", x, c["rms_norm_eps"])
    head = words if c.get("tie_word_embeddings") else w.matrix("lm_head.weight", c["vocab_size"], c["hidden_size"])
    return {"logits": [[dot(row, word) for word in head] for row in x]}


def llama(w, c, ids, rope, scale, window=lambda layer: None, biases=None, norms=False, feedForward=None):
    """One text. `scale` multiplies what is rotated; `window` is how far a layer sees; `biases` those of q, k and v, and of o;
    with `norms`, heads of queries and keys are normalized; `feedForward` stands for gated layers."""
    heads, keyHeads, size = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"]), c["head_dim"]
    inner, outer = biases or (c.get("attention_bias", False),) * 2
    norm = lambda name, rows: w.rmsNorm(name, rows, c["rms_norm_eps"])

    def attention(at, layer, h):
        q, k, v = (w.linear(f"{at}{name}_proj", h, count * size, inner) for name, count in (("q", heads), ("k", keyHeads), ("v", keyHeads)))
        if norms:
            q, k = normHeads(norm, at + "q_norm", q, size), normHeads(norm, at + "k_norm", k, size)
        q, k = turn(q, heads, rope, scale), turn(k, keyHeads, rope, scale)
        mixed = attend(q, k, v, heads, keyHeads, size**-0.5, lambda query, key: key <= query and not (window(layer) and query - key >= window(layer)))
        return w.linear(at + "o_proj", mixed, c["hidden_size"], outer)

    return preNormDecoder(w, c, ids, attention, feedForward or (lambda at, h: gated(w, at, h, c, bias=c.get("mlp_bias", False))))


def mixtral(w, c, ids, rope, scale, fused=False):
    """Llama, where each token goes through the experts to which the router gives most. `fused` is how weights are stored."""

    def expert(at, number, row):
        size, hidden = c["intermediate_size"], c["hidden_size"]
        if fused:
            # One tensor [experts, rows, columns] has the matrices of all experts.
            take = lambda name, rows, columns: w.matrix(f"{at}.experts.{name}", c["num_local_experts"] * rows, columns, shape=(c["num_local_experts"], rows, columns))[number * rows : (number + 1) * rows]
            both, down = take("gate_up_proj", 2 * size, hidden), take("down_proj", hidden, size)
            gates, ups = both[:size], both[size:]
        else:
            take = lambda name, rows, columns: w.matrix(f"{at}.experts.{number}.{name}.weight", rows, columns)
            gates, down, ups = take("w1", size, hidden), take("w2", hidden, size), take("w3", size, hidden)
        product = [silu(dot(row, gate)) * dot(row, up) for gate, up in zip(gates, ups)]
        return [dot(product, column) for column in down]

    def feedForward(at, h):
        at = at if fused else at.replace("mlp", "block_sparse_moe")
        count, result = c["num_local_experts"], []
        for row, shares in zip(h, map(softmax, w.linear(at + ".gate", h, count, False))):
            chosen = sorted(range(count), key=lambda i: -shares[i])[: c["num_experts_per_tok"]]
            # Experts make their weights when they are asked for: all of them belong into the file.
            made, total = [expert(at, i, row) for i in range(count)], math.fsum(shares[i] for i in chosen)
            result.append(add(*([shares[i] / total * value for value in made[i]] for i in chosen)))
        return result

    return llama(w, c, ids, rope, scale, window=lambda layer: c["sliding_window"], feedForward=feedForward)


def phi3(w, c, ids, rope, scale):
    heads, keyHeads, size = c["num_attention_heads"], c["num_key_value_heads"], c["hidden_size"] // c["num_attention_heads"]

    def attention(at, layer, h):
        first, second = heads * size, (heads + keyHeads) * size
        rows = w.linear(at + "qkv_proj", h, second + keyHeads * size, False)
        q, k, v = ([row[begin:end] for row in rows] for begin, end in ((0, first), (first, second), (second, None)))
        q, k = turn(q, heads, rope, scale), turn(k, keyHeads, rope, scale)
        sees = lambda query, key: key <= query and query - key < c["sliding_window"]
        return w.linear(at + "o_proj", attend(q, k, v, heads, keyHeads, size**-0.5, sees), c["hidden_size"], False)

    def feedForward(at, h):
        half = c["intermediate_size"]
        rows = w.linear(at + ".gate_up_proj", h, 2 * half, False)
        return w.linear(at + ".down_proj", [[silu(g) * u for g, u in zip(row[:half], row[half:])] for row in rows], c["hidden_size"], False)

    return preNormDecoder(w, c, ids, attention, feedForward)


def olmo2(w, c, ids, rope, scale):
    """Norms behind the parts of a layer, and of all queries and all keys of a token."""
    heads, keyHeads, size = c["num_attention_heads"], c["num_key_value_heads"], c["hidden_size"] // c["num_attention_heads"]
    norm = lambda name, rows: w.rmsNorm(name, rows, c["rms_norm_eps"])
    words = w.matrix("model.embed_tokens.weight", c["vocab_size"], c["hidden_size"])
    x = [words[token] for token in ids]
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        q = turn(norm(at + "self_attn.q_norm", w.linear(at + "self_attn.q_proj", x, heads * size, False)), heads, rope, scale)
        k = turn(norm(at + "self_attn.k_norm", w.linear(at + "self_attn.k_proj", x, keyHeads * size, False)), keyHeads, rope, scale)
        v = w.linear(at + "self_attn.v_proj", x, keyHeads * size, False)
        mixed = attend(q, k, v, heads, keyHeads, size**-0.5, lambda query, key: key <= query)
        x = list(map(add, x, norm(at + "post_attention_layernorm", w.linear(at + "self_attn.o_proj", mixed, c["hidden_size"], False))))
        x = list(map(add, x, norm(at + "post_feedforward_layernorm", gated(w, at + "mlp", x, c))))
    head = w.matrix("lm_head.weight", c["vocab_size"], c["hidden_size"])
    return {"logits": [[dot(row, word) for word in head] for row in norm("model.norm", x)]}


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


def bertLayers(w, c, x, mask, root, norm):
    hidden, heads, epsilon = c["hidden_size"], c["num_attention_heads"], c["layer_norm_eps"]
    for layer in range(c["num_hidden_layers"]):
        at = f"{root}encoder.layer.{layer}."
        q, k, v = (w.linear(f"{at}attention.self.{name}", x, hidden) for name in ("query", "key", "value"))
        mixed = attend(q, k, v, heads, heads, (hidden // heads) ** -0.5, lambda query, key: mask[key])
        h = w.linear(at + "attention.output.dense", mixed, hidden)
        x = w.layerNorm(at + "attention.output.LayerNorm", list(map(add, h, x)), epsilon, norm)
        h = [[gelu(value) for value in row] for row in w.linear(at + "intermediate.dense", x, c["intermediate_size"])]
        h = w.linear(at + "output.dense", h, hidden)
        x = w.layerNorm(at + "output.LayerNorm", list(map(add, h, x)), epsilon, norm)
    return x


def bertTokens(w, c, ids, mask, types, places, root, norm=("weight", "bias")):
    """What the layers make of tokens at these places."""
    hidden, at = c["hidden_size"], root + "embeddings."
    words = w.matrix(at + "word_embeddings.weight", c["vocab_size"], hidden)
    positions = w.matrix(at + "position_embeddings.weight", c["max_position_embeddings"], hidden)
    kinds = w.matrix(at + "token_type_embeddings.weight", c["type_vocab_size"], hidden)
    x = [add(words[token], positions[place], kinds[kind]) for token, place, kind in zip(ids, places, types)]
    return bertLayers(w, c, w.layerNorm(at + "LayerNorm", x, c["layer_norm_eps"], norm), mask, root, norm)


def pooled(w, name, x):
    return [[math.tanh(value) for value in row] for row in w.linear(name, x[:1], len(x[0]))]


def bert(w, c, ids, mask, types, root, norm):
    x = bertTokens(w, c, ids, mask, types, range(len(ids)), root, norm)
    length = math.sqrt(dot(x[0], x[0]))
    return {
        "last_hidden_state": x,
        "pooler_output": pooled(w, root + "pooler.dense", x),
        "sentence_embedding": [[value / length for value in x[0]]],
    }


def bertClasses(w, c, ids, mask, types):
    x = bertTokens(w, c, ids, mask, types, range(len(ids)), "bert.")
    return {"logits": w.linear("classifier", pooled(w, "bert.pooler.dense", x), 3)}


def bertAnswers(w, c, ids, mask, types):
    ends = w.linear("qa_outputs", bertTokens(w, c, ids, mask, types, range(len(ids)), "bert."), 2)
    return {name: [[row[i] for row in ends]] for i, name in enumerate(("start_logits", "end_logits"))}


def roberta(w, c, ids, mask):
    """The words for masked tokens. Positions count what is no padding, from the one behind that of padding on."""
    places, count = [], c["pad_token_id"]
    for token in ids:
        count += token != c["pad_token_id"]
        places.append(count if token != c["pad_token_id"] else c["pad_token_id"])
    x = bertTokens(w, c, ids, mask, [0] * len(ids), places, "roberta.")
    h = [[gelu(value) for value in row] for row in w.linear("lm_head.dense", x, c["hidden_size"])]
    h = w.layerNorm("lm_head.layer_norm", h, c["layer_norm_eps"])
    words, bias = w.matrix("roberta.embeddings.word_embeddings.weight", c["vocab_size"], c["hidden_size"]), w.vector("lm_head.bias", c["vocab_size"])
    return {"logits": [add([dot(row, word) for word in words], bias) for row in h]}


def distilbert(w, c, ids, mask):
    hidden, heads, at = c["dim"], c["n_heads"], "distilbert.embeddings."
    words = w.matrix(at + "word_embeddings.weight", c["vocab_size"], hidden)
    places = w.matrix(at + "position_embeddings.weight", c["max_position_embeddings"], hidden)
    x = w.layerNorm(at + "LayerNorm", [add(words[token], place) for token, place in zip(ids, places)], 1e-12)
    for layer in range(c["n_layers"]):
        at = f"distilbert.transformer.layer.{layer}."
        q, k, v = (w.linear(f"{at}attention.{name}_lin", x, hidden) for name in "qkv")
        mixed = attend(q, k, v, heads, heads, (hidden // heads) ** -0.5, lambda query, key: mask[key])
        x = w.layerNorm(at + "sa_layer_norm", list(map(add, x, w.linear(at + "attention.out_lin", mixed, hidden))), 1e-12)
        h = [[gelu(value) for value in row] for row in w.linear(at + "ffn.lin1", x, c["hidden_dim"])]
        x = w.layerNorm(at + "output_layer_norm", list(map(add, x, w.linear(at + "ffn.lin2", h, hidden))), 1e-12)
    h = [[max(value, 0.0) for value in row] for row in w.linear("pre_classifier", x[:1], hidden)]
    return {"logits": w.linear("classifier", h, 3)}


def vit(w, c, image):
    """An image, as the numbers of its channels, rows and columns."""
    hidden, heads, patch, side, channels = c["hidden_size"], c["num_attention_heads"], c["patch_size"], c["image_size"], c["num_channels"]
    filters = w.matrix("vit.embeddings.patch_embeddings.projection.weight", hidden, channels * patch * patch, shape=(hidden, channels, patch, patch))
    bias = w.vector("vit.embeddings.patch_embeddings.projection.bias", hidden)
    x = w.matrix("vit.embeddings.cls_token", 1, hidden, shape=(1, 1, hidden))
    for top in range(0, side, patch):
        for left in range(0, side, patch):
            pixels = [image[(z * side + top + i) * side + left + j] for z in range(channels) for i in range(patch) for j in range(patch)]
            x = x + [add([dot(pixels, row) for row in filters], bias)]
    x = list(map(add, x, w.matrix("vit.embeddings.position_embeddings", len(x), hidden, shape=(1, len(x), hidden))))
    for layer in range(c["num_hidden_layers"]):
        at = f"vit.encoder.layer.{layer}."
        h = w.layerNorm(at + "layernorm_before", x, c["layer_norm_eps"])
        q, k, v = (w.linear(f"{at}attention.attention.{name}", h, hidden) for name in ("query", "key", "value"))
        mixed = attend(q, k, v, heads, heads, (hidden // heads) ** -0.5, lambda query, key: True)
        x = list(map(add, x, w.linear(at + "attention.output.dense", mixed, hidden)))
        h = w.linear(at + "intermediate.dense", w.layerNorm(at + "layernorm_after", x, c["layer_norm_eps"]), c["intermediate_size"])
        x = list(map(add, x, w.linear(at + "output.dense", [[gelu(value) for value in row] for row in h], hidden)))
    x = w.layerNorm("vit.layernorm", x, c["layer_norm_eps"])
    return {"logits": w.linear("classifier", x[:1], 3)}


def gemma(w, c, ids, ropes, norms, cap, softcap):
    """Layers have norms on both sides. `ropes` are those of layers with a window and of others; `cap` is that of scores."""
    heads, keyHeads, size, hidden = c["num_attention_heads"], c["num_key_value_heads"], c["head_dim"], c["hidden_size"]
    words = w.matrix("model.embed_tokens.weight", c["vocab_size"], hidden)
    norm = lambda name, rows: w.rmsNorm(name, rows, c["rms_norm_eps"], 1.0)
    x = [[value * math.sqrt(hidden) for value in words[token]] for token in ids]
    for layer in range(c["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        slides = c["layer_types"][layer] == "sliding_attention" if "layer_types" in c else layer % 2 == 0
        h = norm(at + "input_layernorm", x)
        q, k, v = (w.linear(f"{at}self_attn.{name}_proj", h, n * size, False) for name, n in (("q", heads), ("k", keyHeads), ("v", keyHeads)))
        if norms:
            q, k = normHeads(norm, at + "self_attn.q_norm", q, size), normHeads(norm, at + "self_attn.k_norm", k, size)
        q, k = (turn(rows, n, *ropes[0 if slides else 1]) for rows, n in ((q, heads), (k, keyHeads)))
        sees = lambda query, key: key <= query and not (slides and query - key >= c["sliding_window"])
        mixed = attend(q, k, v, heads, keyHeads, c["query_pre_attn_scalar"] ** -0.5, sees, cap)
        x = list(map(add, x, norm(at + "post_attention_layernorm", w.linear(at + "self_attn.o_proj", mixed, hidden, False))))
        h = gated(w, at + "mlp", norm(at + "pre_feedforward_layernorm", x), c, geluTanh)
        x = list(map(add, x, norm(at + "post_feedforward_layernorm", h)))
    x = norm("model.norm", x)
    return {"logits": [[math.tanh(dot(row, word) / softcap) * softcap for word in words] for row in x]}


def whisper(w, c, spectrum, ids):
    """`spectrum` is the numbers of its bands, one band after another."""
    hidden, frames = c["d_model"], 2 * c["max_source_positions"]

    def convolve(name, rows, stride):
        width = len(rows[0])
        filters = w.matrix(name + ".weight", hidden, width * 3, shape=(hidden, width, 3))
        bias = w.vector(name + ".bias", hidden)
        at = lambda i, band: rows[i][band] if 0 <= i < len(rows) else 0.0
        windows = [[at(i + tap, band) for band in range(width) for tap in (-1, 0, 1)] for i in range(0, len(rows), stride)]
        return [[gelu(dot(window, row) + b) for row, b in zip(filters, bias)] for window in windows]

    def attention(at, heads, x, source, sees):
        q, k, v = (w.linear(f"{at}.{name}_proj", rows, hidden, name != "k") for name, rows in (("q", x), ("k", source), ("v", source)))
        return w.linear(at + ".out_proj", attend(q, k, v, heads, heads, (hidden // heads) ** -0.5, sees), hidden)

    def layers(root, count, heads, width, x, heard=None):
        for layer in range(count):
            at = f"{root}.layers.{layer}."
            h = w.layerNorm(at + "self_attn_layer_norm", x, 1e-5)
            x = list(map(add, x, attention(at + "self_attn", heads, h, h, lambda query, key: heard is None or key <= query)))
            if heard:
                h = w.layerNorm(at + "encoder_attn_layer_norm", x, 1e-5)
                x = list(map(add, x, attention(at + "encoder_attn", heads, h, heard, lambda query, key: True)))
            h = w.linear(at + "fc1", w.layerNorm(at + "final_layer_norm", x, 1e-5), width)
            x = list(map(add, x, w.linear(at + "fc2", [[gelu(value) for value in row] for row in h], hidden)))
        return w.layerNorm(root + ".layer_norm", x, 1e-5)

    rows = [[spectrum[band * frames + i] for band in range(c["num_mel_bins"])] for i in range(frames)]
    x = convolve("model.encoder.conv2", convolve("model.encoder.conv1", rows, 1), 2)
    x = list(map(add, x, w.matrix("model.encoder.embed_positions.weight", len(x), hidden)))
    heard = layers("model.encoder", c["encoder_layers"], c["encoder_attention_heads"], c["encoder_ffn_dim"], x)
    words = w.matrix("model.decoder.embed_tokens.weight", c["vocab_size"], hidden)
    places = w.matrix("model.decoder.embed_positions.weight", c["max_target_positions"], hidden)
    x = [add(words[token], place) for token, place in zip(ids, places)]
    x = layers("model.decoder", c["decoder_layers"], c["decoder_attention_heads"], c["decoder_ffn_dim"], x, heard)
    return {"logits": [[dot(row, word) for word in words] for row in x], "encoder_last_hidden_state": heard}


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
GEMMA2 = {
    "architectures": ["Gemma2ForCausalLM"], "model_type": "gemma2", "hidden_size": 12, "num_hidden_layers": 3,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8, "intermediate_size": 20, "vocab_size": 17,
    "sliding_window": 3, "rms_norm_eps": 1e-6, "query_pre_attn_scalar": 5, "attn_logit_softcapping": 0.5,
    "final_logit_softcapping": 4.0, "rope_theta": 70.0,
}  # fmt: skip
PHI3 = {
    "architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 20, "vocab_size": 17, "rms_norm_eps": 1e-5, "sliding_window": 4,
    "partial_rotary_factor": 0.5, "rope_theta": 50.0,
}  # fmt: skip
OLMO2 = {
    "architectures": ["Olmo2ForCausalLM"], "model_type": "olmo2", "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 20, "vocab_size": 17, "rms_norm_eps": 1e-5, "rope_theta": 50.0,
}  # fmt: skip
MIXTRAL = {
    **LLAMA, "architectures": ["MixtralForCausalLM"], "model_type": "mixtral", "num_local_experts": 5, "num_experts_per_tok": 2,
    "sliding_window": None, "rope_theta": 50.0,
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2", "n_embd": 12, "n_layer": 2, "n_head": 3, "n_positions": 16, "n_inner": 20, "vocab_size": 17,
    "scale_attn_by_inverse_layer_idx": True, "n_ctx": 16,
}  # fmt: skip
BERT = {
    "architectures": ["BertModel"], "model_type": "bert", "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
    "intermediate_size": 20, "vocab_size": 17, "max_position_embeddings": 16, "type_vocab_size": 2, "layer_norm_eps": 1e-12,
}  # fmt: skip

ROBERTA = {**BERT, "architectures": ["RobertaForMaskedLM"], "model_type": "roberta", "pad_token_id": 2, "type_vocab_size": 1, "max_position_embeddings": 19}
DISTILBERT = {
    "architectures": ["DistilBertForSequenceClassification"], "model_type": "distilbert", "dim": 12, "n_layers": 2, "n_heads": 3,
    "hidden_dim": 20, "vocab_size": 17, "max_position_embeddings": 16,
}  # fmt: skip
VIT = {
    "architectures": ["ViTForImageClassification"], "model_type": "vit", "hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
    "intermediate_size": 20, "image_size": 6, "patch_size": 3, "num_channels": 2, "layer_norm_eps": 1e-12,
}  # fmt: skip
WHISPER = {
    "architectures": ["WhisperForConditionalGeneration"], "model_type": "whisper", "vocab_size": 17, "d_model": 12, "num_mel_bins": 5,
    "max_source_positions": 6, "max_target_positions": 16, "encoder_layers": 1, "decoder_layers": 2, "encoder_attention_heads": 3,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 20, "decoder_ffn_dim": 24,
}  # fmt: skip

LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "rope_theta": 100.0}
LONG = {"rope_type": "longrope", "short_factor": [1.0, 1.5, 2.0, 2.5], "long_factor": [1.0, 3.0, 9.0, 27.0], "original_max_position_embeddings": 6}
CLS = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, "word_embedding_dimension": 12}
MODULES = [{"path": "", "type": "a.Transformer"}, {"path": "1_Pooling", "type": "a.Pooling"}, {"path": "2", "type": "a.Normalize"}]
# One of each kind of decoder, and of quantized matrices.
GENERATED = {"llama", "llama-yarn", "mistral", "mixtral", "qwen2", "phi3", "olmo2", "gemma2", "gemma3", "gpt2", "gptq"}


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
    named = lambda kind, **fields: {**LLAMA, "architectures": [kind + "ForCausalLM"], "model_type": kind.lower(), "rope_theta": 50.0, **fields}
    mistral, qwen3 = named("Mistral", sliding_window=4), named("Qwen3", attention_bias=True)
    qwen2 = named("Qwen2", use_sliding_window=True, sliding_window=3, max_window_layers=1)
    del qwen2["head_dim"]
    qwen2["hidden_size"] = 32
    few = {**LLAMA, "num_hidden_layers": 1, "hidden_size": 16, "intermediate_size": 24, "rope_theta": 50.0}
    group = lambda **weights: {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"input_activations": None, "weights": {"type": "int", **weights}}}}

    def quantized(name, fields, method, **options):
        config = {**few, "quantization_config": fields}
        return Model(config, lambda w, c, ids: llama(w, c, ids, *plainRope(50.0, 8)), QuantizedWeights(name, method, **options))

    return {
        "gptq": quantized("gptq", {"quant_method": "gptq", "bits": 4, "group_size": 8, "desc_act": True}, "gptq", sorts=True),
        "gptq-8": quantized("gptq-8", {"quant_method": "gptq", "bits": 8, "group_size": -1}, "gptq", bits=8, group=0),
        "awq": quantized("awq", {"quant_method": "awq", "bits": 4, "group_size": 8, "version": "gemm"}, "awq"),
        "packed": quantized("packed", {**group(num_bits=4, strategy="group", group_size=8, symmetric=False), "format": "pack-quantized"}, "packed"),
        "packed-8": quantized("packed-8", {**group(num_bits=8, strategy="channel", symmetric=True), "format": "pack-quantized"}, "packed", bits=8, group=0, symmetric=True),
        "int8": quantized("int8", {**group(num_bits=8, strategy="channel", symmetric=True), "format": "int-quantized"}, "int8", bits=8, group=0, symmetric=True),
        "int8-largest": quantized("int8-largest", {"quant_method": "bitsandbytes", "load_in_8bit": True}, "int8Largest", bits=8, group=0, symmetric=True),
        "llama": Model(plain, lambda w, c, ids: llama(w, c, ids, *plainRope(50.0, 8))),
        "llama-bf16-shards": Model(biased, lambda w, c, ids: llama(w, c, ids, *plainRope(10000.0, 8)), rounded, dtype="BF16", shards=3),
        "llama-llama3": Model(old, lambda w, c, ids: llama(w, c, ids, *llama3Rope(100.0, 8, 4.0, 1.0, 4.0, 32))),
        "llama-yarn": Model(yarn, lambda w, c, ids: llama(w, c, ids, *yarnRope(100.0, 8, 4.0, 16))),
        "llama-dynamic": Model(dynamic, lambda w, c, ids: llama(w, c, ids, *dynamicRope(10000.0, 8, 3.0, 6, len(ids)))),
        "llama-longrope": Model(long, lambda w, c, ids: llama(w, c, ids, *longRope(10000.0, 8, LONG["short_factor"], LONG["long_factor"], 6, 64, len(ids)))),
        "llama-linear": Model(linear, lambda w, c, ids: llama(w, c, ids, *linearRope(10000.0, 8, 2.0))),
        "mistral": Model(mistral, lambda w, c, ids: llama(w, c, ids, *plainRope(50.0, 8), window=lambda layer: 4)),
        "qwen2": Model(qwen2, lambda w, c, ids: llama(w, {**c, "head_dim": 8}, ids, *plainRope(50.0, 8), window=lambda layer: 3 if layer else None, biases=(True, False))),
        "qwen3": Model(qwen3, lambda w, c, ids: llama(w, c, ids, *plainRope(50.0, 8), norms=True)),
        "mixtral": Model(MIXTRAL, lambda w, c, ids: mixtral(w, c, ids, *plainRope(50.0, 8))),
        "mixtral-fused": Model({**MIXTRAL, "sliding_window": 4, "num_experts_per_tok": 3}, lambda w, c, ids: mixtral(w, c, ids, *plainRope(50.0, 8), fused=True), Weights("bf16", bfloat16), dtype="BF16"),
        "phi3": Model(PHI3, lambda w, c, ids: phi3(w, c, ids, *plainRope(50.0, 4))),
        "olmo2": Model(OLMO2, lambda w, c, ids: olmo2(w, c, ids, *plainRope(50.0, 4))),
        "gemma2": Model(GEMMA2, lambda w, c, ids: gemma(w, c, ids, [plainRope(70.0, 8)] * 2, False, 0.5, 4.0)),
        "gemma3": Model(GEMMA3, lambda w, c, ids: gemma(w, c, ids, [plainRope(30.0, 8), plainRope(900.0, 8)], True, None, 4.0)),
        "gpt2": Model(GPT2, lambda w, c, ids: gpt2(w, c, ids, "transformer.")),
        "gpt2-bare": Model(GPT2, lambda w, c, ids: gpt2(w, c, ids, "")),
        "bert": Model(BERT, lambda w, c, *inputs: bert(w, c, *inputs, "", ("weight", "bias")), files={"modules.json": MODULES, "1_Pooling/config.json": CLS}),
        "bert-classes": Model({**BERT, "architectures": ["BertForSequenceClassification"]}, bertClasses),
        "bert-answers": Model({**BERT, "architectures": ["BertForQuestionAnswering"]}, bertAnswers),
        "roberta": Model(ROBERTA, roberta),
        "distilbert": Model(DISTILBERT, distilbert),
        "vit": Model(VIT, vit),
        "whisper": Model(WHISPER, whisper),
        "bert-old-names": Model(BERT, lambda w, c, *inputs: bert(w, c, *inputs, "bert.", ("gamma", "beta"))),
    }


#===--- Running


def shapeOf(model, name):
    """Of one text or image, without the batch; nothing where the input has tokens."""
    c = model.config
    shapes = {"pixel_values": lambda: (c["num_channels"], c["image_size"], c["image_size"]), "input_features": lambda: (c["num_mel_bins"], 2 * c["max_source_positions"])}
    return shapes[name]() if name in shapes else None


def makeInputs(model, batch, length):
    """A list of rows for each input, by name."""
    generator = random.Random(f"{batch} {length}")
    rows = lambda high: [[generator.randrange(high) for _ in range(length)] for _ in range(batch)]
    numbers = lambda count: [[bfloat16(generator.uniform(-1, 1)) for _ in range(count)] for _ in range(batch)]
    if model.config["model_type"] == "vit":
        return {"pixel_values": numbers(math.prod(shapeOf(model, "pixel_values")))}
    if model.config["model_type"] == "whisper":
        return {"input_features": numbers(math.prod(shapeOf(model, "input_features"))), "decoder_input_ids": rows(model.config["vocab_size"])}
    inputs = {"input_ids": rows(model.config["vocab_size"])}
    if "bert" in model.config["model_type"]:
        # The first token is always seen, others by chance.
        inputs["attention_mask"] = [[1] + row[1:] for row in rows(2)]
    if model.config["model_type"] == "bert":
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
        values = [value for row in rows for value in row]
        shape = shapeOf(model, key)
        writeNpy(path, Tensor((batch, *shape), values) if shape else integers(values, (batch, length)))
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


def checkGeneration(name, model):
    """The most probable continuation, with a context, against whole texts in each step."""
    with tempfile.TemporaryDirectory() as folder:
        source, artifact = os.path.join(folder, "model"), os.path.join(folder, "model.tenon")
        writeFolder(model, source)
        text, context = [3, 1, 4, 1, 5, 9], model.config.get("n_positions", 24)
        subprocess.run(["tenon", "compile", "--no-measure-error", "--context", str(context), "--sequences", "3", source, "-o", artifact], check=True)
        options = ["--max-tokens", "14", "--chunk", "4", "--quiet"]

        def run(*more, given=None):
            command = ["tenon", "generate", artifact, *more, *options]
            return subprocess.run(command, check=True, input=given, stdout=subprocess.PIPE, text=True).stdout

        def goOnWith(ids):
            return [int(token) for token in run("--tokens", ",".join(map(str, ids))).split(",")]

        want = list(text)
        for _ in range(min(14, context + 1 - len(text))):
            logits = model.run(want)["logits"][-1]
            want.append(logits.index(max(logits)))
        got = text + goOnWith(text)
        if got != want:
            return [f"{name}: goes on with {got} and not {want}"]
        # Texts of several lengths together, in turn, with as many as a run takes and with fewer.
        texts = [text, [2], [7, 1, 8, 2, 8, 1, 8, 2, 8], [5, 4], list(range(12))]
        apart = [goOnWith(ids) for ids in texts]
        faults = []
        for count in (2, 3, 4):
            lines = run("--parallel", str(count), "--ids", given="".join(",".join(map(str, ids)) + "\n" for ids in texts))
            together = [[int(token) for token in line.split(",")] for line in lines.splitlines()]
            if together != apart:
                faults.append(f"{name}: {count} texts at a time go on with {together} and not {apart}")
        return faults


def check(name, model):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "model")
        writeFolder(model, source)
        # The comparison below is what measures errors here.
        subprocess.run(["tenon", "compile", "--no-measure-error", source, "-o", os.path.join(folder, "model.tenon")], check=True)
        faults = [compare(name, model, folder, batch, length) for batch, length in ((1, 1), (1, 7), (3, 5), (2, 16))]
        return [fault for fault in faults if fault]


def main():
    # Many of the models have layers of the same sizes, whose kernels are compiled once.
    with tempfile.TemporaryDirectory() as cache:
        os.environ["TENON_CACHE_DIR"] = cache
        return checkAll()


def checkAll():
    models = makeModels()
    if sys.argv[1:2] == ["--generate"]:
        names = sys.argv[2:] or [name for name, model in models.items() if name in GENERATED]
        faults = [fault for name in names for fault in checkGeneration(name, models[name])]
        return finish(names, faults)
    names = sys.argv[1:] or list(models)
    if names[0] == "--part":
        part, count = map(int, names[1].split("/"))
        names = list(models)[part - 1 :: count]
    faults = [fault for name in names for fault in check(name, models[name])]
    finish(names, faults)


def finish(names, faults):
    for fault in faults:
        print(fault)
    print(f"{len(names)} models, {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
