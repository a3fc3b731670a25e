# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes a tiny Llama, and many that are broken in one way each: broken.py FOLDER."""

import json
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4, "e2e")]

from safetensors_writer import safetensors, writeFile, writeModel

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1,
    "num_attention_heads": 2, "num_key_value_heads": 1, "intermediate_size": 6, "vocab_size": 5, "tie_word_embeddings": True,
}  # fmt: skip
SHAPES = {
    "model.embed_tokens.weight": (5, 4), "model.norm.weight": (4,),
    "model.layers.0.input_layernorm.weight": (4,), "model.layers.0.post_attention_layernorm.weight": (4,),
    "model.layers.0.self_attn.q_proj.weight": (4, 4), "model.layers.0.self_attn.k_proj.weight": (2, 4),
    "model.layers.0.self_attn.v_proj.weight": (2, 4), "model.layers.0.self_attn.o_proj.weight": (4, 4),
    "model.layers.0.mlp.gate_proj.weight": (6, 4), "model.layers.0.mlp.up_proj.weight": (6, 4),
    "model.layers.0.mlp.down_proj.weight": (4, 6),
}  # fmt: skip
BERT = {
    "architectures": ["BertModel"], "hidden_size": 4, "num_hidden_layers": 1, "num_attention_heads": 3,
    "intermediate_size": 6, "vocab_size": 5, "max_position_embeddings": 8,
}  # fmt: skip


def size(shape):
    return shape[0] if len(shape) == 1 else shape[0] * shape[1]


def weights(shapes):
    return {name: (shape, [0.5] * size(shape)) for name, shape in shapes.items()}


GOOD = weights(SHAPES)
GPT2 = {"architectures": ["GPT2LMHeadModel"], "n_embd": 2, "n_layer": 1, "n_head": 1, "n_positions": 8, "vocab_size": 3}
GPT2_SHAPES = {
    "wte.weight": (3, 2), "wpe.weight": (8, 2), "ln_f.weight": (2,), "ln_f.bias": (2,),
    "h.0.ln_1.weight": (2,), "h.0.ln_1.bias": (2,), "h.0.ln_2.weight": (2,), "h.0.ln_2.bias": (2,),
    "h.0.attn.c_attn.weight": (2, 6), "h.0.attn.c_attn.bias": (6,), "h.0.attn.c_proj.weight": (2, 2), "h.0.attn.c_proj.bias": (2,),
    "h.0.mlp.c_fc.weight": (2, 8), "h.0.mlp.c_fc.bias": (8,), "h.0.mlp.c_proj.weight": (8, 2), "h.0.mlp.c_proj.bias": (2,),
}  # fmt: skip

MIXTRAL = {**CONFIG, "architectures": ["MixtralForCausalLM"], "num_local_experts": 2, "num_experts_per_tok": 1}
MOE = "model.layers.0.block_sparse_moe."
EXPERTS = weights({MOE + "gate.weight": (2, 4), **{f"{MOE}experts.{i}.{name}.weight": (4, 6) if name == "w2" else (6, 4) for i in range(2) for name in ("w1", "w2", "w3")}})
WIDER_HEADS = {**GOOD, **weights({f"model.layers.0.self_attn.{name}_proj.weight": shape for name, shape in {"q": (8, 4), "k": (4, 4), "v": (4, 4), "o": (4, 8)}.items()})}

# Quantized models, whose features fill words.
Q = "model.layers.0.self_attn.q_proj"
GPTQ = {**CONFIG, "hidden_size": 8, "quantization_config": {"quant_method": "gptq", "group_size": 4}}
WIDE = weights({name: tuple(8 if extent == 4 else extent * 2 if "_proj" in name and extent == 2 else extent for extent in shape) for name, shape in SHAPES.items()})
COMPRESSED = {
    "quant_method": "compressed-tensors", "format": "int-quantized",
    "config_groups": {"group_0": {"input_activations": {"num_bits": 8}, "weights": {"num_bits": 8, "type": "int"}}},
}  # fmt: skip

# name: config, tensors
MODELS = {
    "good": (CONFIG, GOOD),
    "positions": (GPT2, weights(GPT2_SHAPES)),
    "mixtral": (MIXTRAL, {**GOOD, **EXPERTS}),
    "missing": (CONFIG, {name: GOOD[name] for name in GOOD if "proj" not in name}),
    "misshapen": (CONFIG, {**GOOD, **weights({"model.norm.weight": (5,), "model.embed_tokens.weight": (4, 5)})}),
    "architecture": ({**CONFIG, "architectures": ["MambaForCausalLM"]}, GOOD),
    "type": ({"model_type": "t5"}, GOOD),
    "activation": ({**CONFIG, "hidden_act": "mish"}, GOOD),
    "rope": ({**CONFIG, "rope_scaling": {"type": "ntk", "factor": 2}}, GOOD),
    "quantized": ({**CONFIG, "quantization_config": {"quant_method": "hqq"}}, GOOD),
    "quantized-activations": ({**CONFIG, "quantization_config": COMPRESSED}, GOOD),
    "quantized-bits": ({**CONFIG, "quantization_config": {"quant_method": "gptq", "bits": 3}}, GOOD),
    "quantized-uneven": ({**CONFIG, "quantization_config": {"quant_method": "gptq"}}, {**GOOD, f"{Q}.qweight": ((1, 4), [0] * 4, "I32")}),
    "quantized-words": (GPTQ, {**WIDE, f"{Q}.qweight": ((2, 8), [0] * 16, "I32"), f"{Q}.qzeros": ((1, 1), [0], "I32"), f"{Q}.scales": ((1, 8), [1.0] * 8)}),
    "quantized-type": (GPTQ, {**WIDE, f"{Q}.qweight": ((1, 8), [0] * 8), f"{Q}.qzeros": ((1, 1), [0], "I32"), f"{Q}.scales": ((1, 8), [1.0] * 8)}),
    "quantized-order": (GPTQ, {**WIDE, f"{Q}.qweight": ((1, 8), [0] * 8, "I32"), f"{Q}.qzeros": ((2, 1), [0] * 2, "I32"), f"{Q}.scales": ((2, 8), [1.0] * 16), f"{Q}.g_idx": ((8,), [0, 0, 0, 0, 1, 1, -1, 9], "I32")}),
    "dynamic": ({**CONFIG, "max_position_embeddings": 8, "rope_scaling": {"type": "dynamic", "factor": 2.0}, "head_dim": 4}, WIDER_HEADS),
    "experts": ({**MIXTRAL, "num_local_experts": 1 << 20}, GOOD),
    "experts-per-token": ({**MIXTRAL, "num_experts_per_tok": 3}, GOOD),
    "experts-missing": (MIXTRAL, GOOD),
    "encoder": ({**BERT, "num_attention_heads": 2}, GOOD),
    "size": ({**CONFIG, "hidden_size": -4}, GOOD),
    "absent": ({key: value for key, value in CONFIG.items() if key != "vocab_size"}, GOOD),
    "float": ({**CONFIG, "rms_norm_eps": "small\x1b[31m"}, GOOD),
    "layers": ({**CONFIG, "num_hidden_layers": 2**30}, GOOD),
    "heads": (BERT, GOOD),
    "keys": ({**CONFIG, "num_key_value_heads": 3}, GOOD),
    "factors": ({**CONFIG, "rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [1, 2]}, "max_position_embeddings": 8}, GOOD),
    "factor": ({**CONFIG, "rope_scaling": {"type": "linear"}, "head_dim": 8}, GOOD),
    "theta": ({**CONFIG, "rope_theta": 0, "head_dim": 4}, GOOD),
    "head-size": ({**CONFIG, "head_dim": 2**29}, GOOD),
}


def main(root):
    writeModel(os.path.join(root, "integers"), CONFIG, GOOD, dtype="I32")
    for name, (config, tensors) in MODELS.items():
        writeModel(os.path.join(root, name), config, tensors)
    place = lambda name: os.path.join(root, name)
    for name in ("no-config", "no-weights", "bad-json", "cut", "long-header", "link", "nested"):
        shutil.copytree(place("good"), place(name))
    os.remove(place("no-config/config.json"))
    os.remove(place("no-weights/model.safetensors"))
    writeFile(place("bad-json"), "config.json", b'{"hidden_size": 4')
    good = safetensors(GOOD)
    writeFile(place("cut"), "model.safetensors", good[:-10])
    writeFile(place("long-header"), "model.safetensors", b"\xff" * 8 + good[8:])
    os.rename(place("link/model.safetensors"), place("outside.safetensors"))
    os.symlink("../outside.safetensors", place("link/model.safetensors"))
    # Shards that an index names.
    for name, shard in {"away": "../outside.safetensors", "no-shard": "gone.safetensors", "empty-shard": "part.safetensors"}.items():
        writeFile(place(name), "config.json", CONFIG)
        writeFile(place(name), "model.safetensors.index.json", {"weight_map": {key: shard for key in GOOD}})
    writeFile(place("empty-shard"), "part.safetensors", safetensors({}))
    writeFile(place("no-map"), "config.json", CONFIG)
    writeFile(place("no-map"), "model.safetensors.index.json", {"metadata": {}})
    text = json.dumps(CONFIG)
    writeFile(place("nested"), "config.json", (text[:-1] + ', "a": ' + "[" * 100000 + "]" * 100000 + "}").encode())


main(sys.argv[1])
