# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes files of formats that are not ONNX, as their writers begin them, to the folder that is its argument."""

import json
import pathlib
import struct
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(exist_ok=True)
header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
files = {
    "model.gguf": b"GGUF" + struct.pack("<IQQ", 3, 1, 2) + bytes(64),
    "model.safetensors": struct.pack("<Q", len(header)) + header + bytes(4),
    "short.safetensors": struct.pack("<Q", 1 << 40) + header,
    "config.json": b'\n {"model_type": "bert"}',
    "model.pt": b"PK\x03\x04" + bytes(60),
    "old.pt": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19." + bytes(32),
    "model.tflite": b"\x1c\0\0\0TFL3" + bytes(32),
    "model.h5": b"\x89HDF\r\n\x1a\n" + bytes(32),
    "x.npy": b"\x93NUMPY\x01\0v\0{'descr': '<f4'}" + bytes(32),
    "model.xml": b'<?xml version="1.0"?>\n<net name="m" version="11"/>\n',
    "pointer.onnx": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "program.txt": b"module {\n}\n",
}
for name, content in files.items():
    (folder / name).write_bytes(content)
