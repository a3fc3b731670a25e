# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Hugging Face folders, with the standard library alone: config.json and safetensors files."""

import json
import os
import struct


def bfloat16(x):
    """The nearest number that bf16 has; ties go to the even one."""
    (bits,) = struct.unpack("<I", struct.pack("<f", x))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]


_INTEGERS = {"I8": "b", "I32": "i", "I64": "q"}


def _encode(values, dtype):
    if dtype == "BF16":
        return b"".join(struct.pack("<f", x)[2:] for x in values)
    if dtype in _INTEGERS:
        return struct.pack(f"<{len(values)}{_INTEGERS[dtype]}", *map(int, values))
    return struct.pack(f"<{len(values)}{'e' if dtype == 'F16' else 'f'}", *values)


def safetensors(tensors, dtype="F32"):
    """The bytes of a file with these (shape, values) by name; a third part is the element type of its own that one has."""
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, (shape, values, *own) in sorted(tensors.items()):
        kind = own[0] if own else dtype
        encoded = _encode(values, kind)
        header[name] = {"dtype": kind, "shape": list(shape), "data_offsets": [len(data), len(data) + len(encoded)]}
        data += encoded
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def writeFile(folder, name, content):
    os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
    with open(os.path.join(folder, name), "wb") as file:
        file.write(content if isinstance(content, bytes) else json.dumps(content).encode())


def writeModel(folder, config, tensors, dtype="F32", shards=1):
    """With more than one shard every tensor goes to the next, and there is an index."""
    writeFile(folder, "config.json", config)
    if shards == 1:
        return writeFile(folder, "model.safetensors", safetensors(tensors, dtype))
    names = [f"model-{i + 1:05}-of-{shards:05}.safetensors" for i in range(shards)]
    placed = {tensor: names[i % shards] for i, tensor in enumerate(sorted(tensors))}
    for name in names:
        writeFile(folder, name, safetensors({t: tensors[t] for t in tensors if placed[t] == name}, dtype))
    writeFile(folder, "model.safetensors.index.json", {"metadata": {}, "weight_map": placed})
