# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a Hugging Face folder of a Llama with so many layers of 32 MB of random numbers, in bf16.

    large-folder.py FOLDER LAYERS [HIDDEN]
"""
import json
import os
import random
import struct
import sys

folder, layers, hidden = sys.argv[1], int(sys.argv[2]), int((sys.argv + ["1024"])[3])
inner, heads, vocabulary = 4 * hidden, 8, 256
config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "intermediate_size": inner,
          "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": heads, "vocab_size": vocabulary,
          "max_position_embeddings": 512, "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
          "tie_word_embeddings": False}
shapes = {"model.embed_tokens.weight": (vocabulary, hidden), "model.norm.weight": (hidden,), "lm_head.weight": (vocabulary, hidden)}
for i in range(layers):
    layer = f"model.layers.{i}."
    shapes |= {layer + name + ".weight": shape for name, shape in {
        "input_layernorm": (hidden,), "post_attention_layernorm": (hidden,), "self_attn.q_proj": (hidden, hidden),
        "self_attn.k_proj": (hidden, hidden), "self_attn.v_proj": (hidden, hidden), "self_attn.o_proj": (hidden, hidden),
        "mlp.gate_proj": (inner, hidden), "mlp.up_proj": (inner, hidden), "mlp.down_proj": (hidden, inner)}.items()}
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "config.json"), "w") as file:
    json.dump(config, file)
header, end = {}, 0
for name, shape in shapes.items():
    size = 2 * shape[0] * (shape[1] if len(shape) > 1 else 1)
    header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [end, end + size]}
    end += size
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(os.path.join(folder, "model.safetensors"), "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text)
    numbers = random.Random(1)
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        # From -0.0625 to 0.0625: the low byte is random, and the sign of the high one.
        high = bytes(0x3C | sign & 0x80 for sign in numbers.randbytes(4093))
        data = bytearray(2 * count)
        data[0::2] = numbers.randbytes(count)
        data[1::2] = (high * (count // len(high) + 1))[:count]
        file.write(data)
