# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Text models: encoders, language models over a prompt and over one token more, and a recurrent tagger."""

import math

from graph import Graph
from transformer import attend, causal, feedForward, mergeHeads, selfAttention, splitHeads, toMask, visibleKeys

LENGTH = 128
BATCH, TOKENS = {0: "batch"}, {0: "batch", 1: "seq"}


# --- bert_base, minilm_l6: arXiv 1810.04805; sentence vectors are the mean of what is not hidden --------------


def encode(g, ids, mask, kinds, layers, width):
    x = g.gather(g.weight(30522, width, deviation=0.02, name="words"), ids)
    x = g.add(x, g.gather(g.weight(2, width, deviation=0.02, name="kinds"), kinds))
    places = g.weight(512, width, deviation=0.02, name="places")
    x = g.layerNorm(g.add(x, g.gather(places, causal(g, ids)[0])))
    hidden = toMask(g, visibleKeys(g, mask))
    for layer in range(layers):
        with g.scope(f"layer{layer}"):
            x = g.layerNorm(g.add(x, selfAttention(g, x, 12, hidden)))
            x = g.layerNorm(g.add(x, feedForward(g, x, 4 * width, g.gelu)))
    return x


def encoderInputs(g):
    return [g.input(name, [1, LENGTH], "i64", TOKENS) for name in ("input_ids", "attention_mask", "token_type_ids")]


def bertBase():
    g = Graph("bert_base")
    x = encode(g, *encoderInputs(g), layers=12, width=768)
    g.output("last_hidden_state", x, symbols=TOKENS)
    first = g.reshape(g.slice(x, 1, 0, 1), 0, 768)
    g.output("pooler_output", g.call("Tanh", g.linear(first, 768)), symbols=BATCH)
    return g


def minilmL6():
    g = Graph("minilm_l6")
    ids, mask, kinds = encoderInputs(g)
    x = encode(g, ids, mask, kinds, layers=6, width=384)
    weights = g.unsqueeze(g.cast(mask, "f32"), 2)
    total = g.call("ReduceSum", g.mul(x, weights), g.integers(1), shape=(1, 384), keepdims=0)
    count = g.call("ReduceSum", weights, g.integers(1), shape=(1, 1), keepdims=0)
    g.output("sentence", g.call("Div", total, count), symbols=BATCH)
    return g


# --- gpt2: its smallest size; and one token after 127 others, whose keys and values are inputs -----------------


def past(g, layer, heads, features):
    return [g.input(f"past_{layer}_{part}", [1, heads, LENGTH - 1, features], symbols={2: "past"}) for part in "kv"]


def extend(g, layer, cached, now):
    """Keys or values of earlier tokens and of this one, for the next token, too."""
    both = []
    for part, old, new in zip("kv", cached, now):
        both.append(g.concat([old, new], 2))
        g.output(f"present_{layer}_{part}", both[-1], symbols={2: "present"})
    return both


def gpt2Attention(g, x, mask, cached, layer):
    q, k, v = (splitHeads(g, part, 12) for part in g.split(g.linear(x, 3 * 768), 2, 3))
    if cached:
        k, v = extend(g, layer, cached, (k, v))
    return g.linear(mergeHeads(g, attend(g, q, k, v, mask)), 768)


def gpt2Layers(g, ids, places, mask, cached):
    words = g.weight(50257, 768, deviation=0.02, name="words")
    x = g.add(g.gather(words, ids), g.gather(g.weight(1024, 768, deviation=0.02, name="places"), places))
    for layer in range(12):
        with g.scope(f"layer{layer}"):
            x = g.add(x, gpt2Attention(g, g.layerNorm(x), mask, cached[layer] if cached else None, layer))
            x = g.add(x, feedForward(g, g.layerNorm(x), 3072, lambda y: g.gelu(y, "tanh")))
    return g.matmul(g.layerNorm(x), g.transpose(words, 1, 0))


def gpt2():
    g = Graph("gpt2")
    ids, hidden = (g.input(name, [1, LENGTH], "i64", TOKENS) for name in ("input_ids", "attention_mask"))
    places, earlier = causal(g, ids)
    mask = toMask(g, g.call("And", earlier, visibleKeys(g, hidden)))
    g.output("logits", gpt2Layers(g, ids, places, mask, None), symbols=TOKENS)
    return g


def decodeInputs(g):
    ids = g.input("input_ids", [1, 1], "i64")
    hidden = g.input("attention_mask", [1, LENGTH], "i64", {1: "total"})
    return ids, toMask(g, visibleKeys(g, hidden)), g.input("position_ids", [1, 1], "i64")


def gpt2Decode():
    g = Graph("gpt2_decode")
    ids, mask, places = decodeInputs(g)
    cached = [past(g, layer, 12, 64) for layer in range(12)]
    g.output("logits", gpt2Layers(g, ids, places, mask, cached))
    return g


# --- gemma3_270m: arXiv 2503.19786; the window of 512 hides nothing here, so it shows in the angles alone ------

WIDTH, HEADS, HEAD = 640, 4, 256


def waves(g, places, base):
    """Cosines and sines of the angles by which pairs of features turn: [batch, 1, position, HEAD]"""
    frequencies = g.floats([base ** (-2 * i / HEAD) for i in range(HEAD // 2)])
    angles = g.mul(g.unsqueeze(g.cast(places, "f32"), len(places.shape)), frequencies)
    angles = g.reshape(g.concat([angles, angles], -1), 1, 1, -1, HEAD)
    return g.call("Cos", angles), g.call("Sin", angles)


def turn(g, x, turning):
    low, high = g.split(x, 3, 2)
    cosines, sines = turning
    return g.add(g.mul(x, cosines), g.mul(g.concat([g.call("Neg", high), low], 3), sines))


def gemmaAttention(g, x, mask, turning, cached, layer):
    q, k, v = (splitHeads(g, g.linear(x, heads * HEAD, bias=False), heads) for heads in (HEADS, 1, 1))
    q, k = (turn(g, g.rmsNorm(y), turning) for y in (q, k))
    if cached:
        k, v = extend(g, layer, cached, (k, v))
    return g.linear(mergeHeads(g, attend(g, q, k, v, mask)), WIDTH, bias=False)


def gatedForward(g, x):
    gate, up = (g.linear(x, 2048, bias=False) for _ in range(2))
    return g.linear(g.mul(g.gelu(gate, "tanh"), up), WIDTH, bias=False)


def gemmaLayers(g, ids, places, mask, cached):
    words = g.weight(262144, WIDTH, deviation=0.02, name="words")
    x = g.mul(g.gather(words, ids), g.scalar(math.sqrt(WIDTH)))
    near, far = waves(g, places, 1e4), waves(g, places, 1e6)
    for layer in range(18):
        with g.scope(f"layer{layer}"):
            turning = far if layer % 6 == 5 else near
            y = gemmaAttention(g, g.rmsNorm(x), mask, turning, cached[layer] if cached else None, layer)
            x = g.add(x, g.rmsNorm(y))
            x = g.add(x, g.rmsNorm(gatedForward(g, g.rmsNorm(x))))
    return g.matmul(g.rmsNorm(x), g.transpose(words, 1, 0))


def gemma3():
    g = Graph("gemma3_270m")
    ids, hidden = (g.input(name, [1, LENGTH], "i64", {1: "seq"}) for name in ("input_ids", "attention_mask"))
    places, earlier = causal(g, ids)
    mask = toMask(g, g.call("And", earlier, visibleKeys(g, hidden)))
    g.output("logits", gemmaLayers(g, ids, places, mask, None), symbols={1: "seq"})
    return g


def gemma3Decode():
    g = Graph("gemma3_270m_decode")
    ids, mask, places = decodeInputs(g)
    cached = [past(g, layer, 1, HEAD) for layer in range(18)]
    g.output("logits", gemmaLayers(g, ids, places, mask, cached))
    return g


# --- lstm_tagger: two layers of LSTM in both directions ---------------------------------------------------------


def lstm(g, x, size):
    """[position, batch, features] -> the same, with `size` features of each direction."""
    length, batch, features = x.shape
    weights = [g.weight(2, 4 * size, n, deviation=1 / math.sqrt(size)) for n in (features, size)]
    bias = g.weight(2, 8 * size, deviation=0.02, name="bias")
    g.flop += 2 * length * batch * 2 * 4 * size * (features + size)
    y = g.call("LSTM", x, *weights, bias, shape=(length, 2, batch, size), hidden_size=size, direction="bidirectional")
    return g.reshape(g.transpose(y, 0, 2, 1, 3), 0, 0, 2 * size)


def lstmTagger():
    g = Graph("lstm_tagger")
    ids = g.input("ids", [1, 64], "i64", TOKENS)
    x = g.transpose(g.gather(g.weight(8000, 256, deviation=1.0, name="words"), ids), 1, 0, 2)
    x = g.linear(g.transpose(lstm(g, lstm(g, x, 512), 512), 1, 0, 2), 64)
    g.output("scores", g.call("LogSoftmax", x, axis=-1), symbols=TOKENS)
    return g
