# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""A tiny language model of bytes: generate.py FOLDER [FIELD=JSON...] writes it, with these fields in generation_config.json,
and those of config.FIELD=JSON in config.json.

A field of @FILE:N is number N of the list that a file holds.
"""

import json
import os
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

import huggingface
from safetensors_writer import writeFile


def spellBytes():
    """The character that stands for each byte in byte-level vocabularies: itself where it can be seen."""
    seen = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    hidden = [byte for byte in range(256) if byte not in seen]
    return {byte: chr(byte) for byte in seen} | {byte: chr(256 + i) for i, byte in enumerate(hidden)}


def readField(text):
    if not text.startswith("@"):
        return json.loads(text)
    path, place = text[1:].split(":")
    with open(path) as file:
        return int(file.read().split(",")[int(place)])


def writeTokenizer(folder, specials=()):
    """A token for each byte, and these special ones behind them."""
    tokenizer = {
        "version": "1.0", "normalizer": None, "post_processor": None,
        "added_tokens": [
            {"id": 256 + i, "content": token, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
            for i, token in enumerate(specials)
        ],
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False},
        "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "vocab": {character: byte for byte, character in spellBytes().items()}, "merges": []},
    }  # fmt: skip
    writeFile(folder, "tokenizer.json", tokenizer)


def main(folder, *fields):
    values = {key: readField(value) for key, value in (field.split("=", 1) for field in fields)}
    own = {key.removeprefix("config."): values.pop(key) for key in list(values) if key.startswith("config.")}
    config = {**huggingface.LLAMA, "vocab_size": 256, "eos_token_id": 0, "rope_theta": 50.0, **own}
    model = huggingface.Model(config, lambda w, c, ids: huggingface.llama(w, c, ids, *huggingface.plainRope(50.0, 8)))
    huggingface.writeFolder(model, folder)
    writeTokenizer(folder)
    chat = "{% for m in messages %}<{{ m.role[0] }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<a>{% endif %}"
    writeFile(folder, "tokenizer_config.json", {"chat_template": chat})
    if values:
        writeFile(folder, "generation_config.json", values)


if __name__ == "__main__":
    main(*sys.argv[1:])
