# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes a model that decodes images, one with a wrong attribute, and files for them: image-files.py FOLDER."""

import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from onnx_writer import model, node, write
from tensors import Tensor, writeNpy


def bmp(bits, compression, height, width, data):
    header = struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, compression, len(data), 0, 0, 0, 0)
    return b"BM" + struct.pack("<IHHI", 54 + len(data), 0, 0, 54) + header + data


FILES = {
    "gray": b"P5 2 2 255\n\x01\x02\x03\x04",
    "color": bmp(24, 0, 2, 1, bytes(8)),
    "text": b"no image",
    "empty": b"",
    "kind": bmp(24, 4, 2, 1, bytes(8)),
    "large": b"P5 99999 99999 255\n",
    "cut": b"P5 2 2 255\n\x01\x02\x03",
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, order in (("decode", "RGB"), ("wrong", "CMYK")):
    decoder = node("ImageDecoder", ["file"], ["image"], "decoder", pixel_format=order)
    write(os.path.join(sys.argv[1], name + ".onnx"), model([decoder], [("file", "u8", ["N"])], [("image", "u8", ["H", "W", 3])]))
for name, data in FILES.items():
    writeNpy(os.path.join(sys.argv[1], name + ".npy"), Tensor([len(data)], list(data), "u8"))
