# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""decoder.py FOLDER writes a language model of two layers whose products are larger than what surrounds them."""

import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import huggingface

config = {
    **huggingface.LLAMA, "hidden_size": 256, "num_attention_heads": 8, "num_key_value_heads": 8, "head_dim": 32, "intermediate_size": 512,
    "vocab_size": 64, "rope_theta": 50.0, "max_position_embeddings": 2048,
}  # fmt: skip
huggingface.writeFolder(huggingface.Model(config, lambda w, c, ids: huggingface.llama(w, c, ids, *huggingface.plainRope(50.0, 32))), sys.argv[1])
