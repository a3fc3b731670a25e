# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Files of images. What Pillow can write was recorded (record_images.py); what it cannot is written here."""

import base64
import json
import os
import struct
import zlib

from run import single
from tensors import Tensor

FILE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Inputs", "images.json")


def case(name, file, shape, pixels, order="RGB"):
    return single(name, "ImageDecoder", {"file": Tensor([len(file)], list(file), "u8")}, Tensor(shape, list(pixels), "u8"), pixel_format=order)


def recorded():
    with open(FILE) as file:
        for e in json.load(file):
            yield case(e["name"], base64.b64decode(e["file"]), e["shape"], base64.b64decode(e["pixels"]), e["order"])


def png(height, width, bits, color, rows, interlace):
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlace)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def interlacedPng(height, width):
    """The seven passes of Adam7: where they begin, and how far pixels are apart."""
    value = lambda y, x: [(y * 37 + x * 11) % 256, (y * x) % 256, (y + 3 * x) % 256]
    rows = bytearray()
    for firstY, firstX, stepY, stepX in ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1)):
        for y in range(firstY, height, stepY):
            row = [part for x in range(firstX, width, stepX) for part in value(y, x)]
            rows += bytes([0, *row]) if row else b""
    pixels = [part for y in range(height) for x in range(width) for part in value(y, x)]
    return case(f"PngInterlaced{height}x{width}", png(height, width, 8, 2, bytes(rows), 1), [height, width, 3], pixels)


def deepPng():
    """Sixteen bits a sample, of which the upper eight are taken."""
    samples = [(i * 977) % 65536 for i in range(4 * 5 * 3)]
    rows = b"".join(b"\0" + struct.pack(">15H", *samples[y * 15 : y * 15 + 15]) for y in range(4))
    return case("PngDeep", png(4, 5, 16, 2, rows, 0), [4, 5, 3], [s >> 8 for s in samples])


def bmpOfRuns():
    """A run, a stretch of pixels and ends of rows, from the bottom up; palette entry i is gray i."""
    runs = bytes([4, 9, 0, 0, 0, 3, 7, 8, 9, 0, 1, 5, 0, 1])
    palette = b"".join(bytes([i, i, i, 0]) for i in range(16))
    header = struct.pack("<IiiHHIIiiII", 40, 4, 2, 1, 8, 1, len(runs), 0, 0, 16, 0)
    file = b"BM" + struct.pack("<IHHI", 54 + len(palette) + len(runs), 0, 0, 54 + len(palette)) + header + palette + runs
    return case("BmpRuns", file, [2, 4, 3], [v for gray in (7, 8, 9, 5, 9, 9, 9, 9) for v in (gray,) * 3])


def tiledTiff():
    """Gray, 20 x 18 in tiles of 16 x 16, most significant byte first."""
    height, width = 18, 20
    value = lambda y, x: (y * 13 + x * 7) % 256
    tiles = [bytes(value(ty + y, tx + x) for y in range(16) for x in range(16)) for ty in (0, 16) for tx in (0, 16)]
    fields = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8 << 16), (259, 3, 1, 1 << 16), (262, 3, 1, 1 << 16), (322, 4, 1, 16), (323, 4, 1, 16)]
    behind = 8 + 2 + 12 * (len(fields) + 2) + 4
    fields += [(324, 4, 4, behind), (325, 4, 4, behind + 16)]
    directory = struct.pack(">H", len(fields)) + b"".join(struct.pack(">HHII", *f) for f in sorted(fields)) + bytes(4)
    lists = struct.pack(">4I", *(behind + 32 + 256 * i for i in range(4))) + struct.pack(">4I", *[256] * 4)
    pixels = [value(y, x) for y in range(height) for x in range(width) for _ in range(3)]
    return case("TiffTiles", b"MM\0*" + struct.pack(">I", 8) + directory + lists + b"".join(tiles), [height, width, 3], pixels)


def textPnm():
    return case("PnmText", b"P2 # gray\n3 1\n6\n0 1 6\n", [1, 3, 3], [v for gray in (0, 42, 255) for v in (gray,) * 3])


def cases():
    return [*recorded(), interlacedPng(1, 1), interlacedPng(5, 9), deepPng(), bmpOfRuns(), tiledTiff(), textPnm()]
