# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Small files of images that ask for much time or memory, and what becomes of them: hostile-images.py FOLDER.

Needs tenon and tenon-run on the PATH. Each run has a limit of seconds and of megabytes; the last line counts those that are wrong.
"""

import os
import struct
import subprocess
import sys
import time
import zlib

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e")]

from onnx_writer import model, node, write
from tensors import Tensor, writeNpy


def png(height, width, color, data, bits=8):
    chunk = lambda kind, content: struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    header = struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def bmp(height, width):
    return b"BM" + struct.pack("<IHHIIiiHHIIiiII", 54, 0, 0, 54, 40, width, height, 1, 24, 0, 0, 0, 0, 0, 0)


def jpegHeader(height, width, progressive=False):
    frame = struct.pack(">BBHBHHB", 0xFF, 0xC2 if progressive else 0xC0, 17, 8, height, width, 3)
    return b"\xff\xd8" + frame + b"\x01\x11\x00\x02\x11\x00\x03\x11\x00"


def jpegOfScans(count, size=512):
    """A progressive file of scans that each tell one bit of a coefficient, which is zero in all blocks."""
    tables = b"\xff\xdb\x00\x43\x00" + bytes([1] * 64)
    # One code of one bit for each kind of table: no difference, and the end of all blocks.
    codes = b"".join(b"\xff\xc4\x00\x14" + bytes([kind]) + bytes([1] + [0] * 15) + b"\x00" for kind in (0x00, 0x10))
    frame = struct.pack(">BBHBHHB", 0xFF, 0xC2, 11, 8, size, size, 1) + b"\x01\x11\x00"
    data = bytes((size // 8) ** 2 // 8)
    # One coefficient after the other, from its upper bits to its lowest.
    steps = [(0, 0, 0)] + [(k, low + 1 if low < 9 else 0, low) for k in range(1, 64) for low in range(9, -1, -1)]
    scans = (b"\xff\xda\x00\x08\x01\x01\x00" + bytes([k, k, high << 4 | low]) + data for k, high, low in steps[:count])
    return b"\xff\xd8" + tables + frame + codes + b"".join(scans) + b"\xff\xd9"


def tiff(fields, data, order="<"):
    """`fields`: tag, type, count and value; data stand at 8."""
    directory = struct.pack(order + "H", len(fields)) + b"".join(struct.pack(order + "HHII", *f) for f in sorted(fields)) + bytes(4)
    return (b"II*\0" if order == "<" else b"MM\0*") + struct.pack(order + "I", 8 + len(data)) + data + directory


def tiffBomb(tileWidth, tiles):
    """One column of pixels in tiles that are wide, of which all are the same deflated bytes."""
    packed = zlib.compress(bytes(tileWidth), 9)
    packed += bytes(-len(packed) % 4)
    offsets = struct.pack("<I", 8) * tiles
    counts = struct.pack("<I", len(packed)) * tiles
    at = 8 + len(packed)
    fields = [(256, 4, 1, 1), (257, 4, 1, tiles), (258, 3, 1, 8), (259, 3, 1, 8), (262, 3, 1, 1), (277, 3, 1, 1), (322, 4, 1, tileWidth)]
    fields += [(323, 4, 1, 1), (324, 4, tiles, at), (325, 4, tiles, at + len(offsets))]
    return tiff(fields, packed + offsets + counts)


def tiffHuge():
    return tiff([(256, 4, 1, 13000), (257, 4, 1, 13000), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (279, 4, 1, 4)], bytes(4))


class Bits:
    """Bits of a packet's header: behind a byte of ones stands a bit of zero."""

    def __init__(self):
        self.bytes, self.value, self.left = bytearray(), 0, 8

    def put(self, bits):
        for bit in bits:
            self.left -= 1
            self.value |= (bit == "1") << self.left
            if self.left == 0:
                self.bytes.append(self.value)
                self.left = 7 if self.value == 0xFF else 8
                self.value = 0

    def finish(self):
        self.bytes.append(self.value)
        return bytes(self.bytes)


def jpeg2000(height, width, components, packets, exponent=8):
    """One tile, no wavelet, blocks of 64 x 64."""
    size = struct.pack(">HIIIIIIIIH", 0, width, height, 0, 0, width, height, 0, 0, components) + b"\x07\x01\x01" * components
    segment = lambda marker, content: struct.pack(">HH", marker, len(content) + 2) + content
    coding = segment(0xFF52, bytes([0, 0, 0, 1, 0, 0, 4, 4, 0, 1]))
    quantization = segment(0xFF5C, bytes([2 << 5, exponent << 3]))
    part = struct.pack(">HHHIBB", 0xFF90, 10, 0, 14 + len(packets), 0, 1) + b"\xff\x93" + packets
    return b"\xff\x4f" + segment(0xFF51, size) + coding + quantization + part + b"\xff\xd9"


def jpeg2000OfPasses(size):
    """Each block has 85 passes over no data."""
    side = (size + 63) // 64
    levels = [side]
    while levels[-1] > 1:
        levels.append((levels[-1] + 1) // 2)
    bits, known = Bits(), set()
    bits.put("1")
    for y in range(side):
        for x in range(side):
            # The tag trees of inclusion and of empty bit planes are zero, which each node says once.
            new = [node for node in ((k, y >> k, x >> k) for k in range(len(levels))) if node not in known]
            known.update(new)
            bits.put("1" * len(new) * 2 + "111111111" + format(85 - 37, "07b") + "0" + "0" * 9)
    return jpeg2000(size, size, 1, bits.finish(), exponent=28)


def webpHeader(height, width):
    packed = (width - 1) | (height - 1) << 14
    data = b"\x2f" + struct.pack("<I", packed) + bytes(8)
    chunk = b"VP8L" + struct.pack("<I", len(data)) + data + bytes(len(data) % 2)
    return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk


# What a run may end with, in how many seconds and with how many megabytes at most. The large image that is whole takes 3 bytes
# a pixel, and its decoder 5 more.
small = 10, 120
FILES = {
    "tiff-bomb": (tiffBomb(1 << 22, 20000), {4}, *small),
    "tiff-bomb-small": (tiffBomb(1 << 20, 2000), {4}, *small),
    "tiff-header": (tiffHuge(), {1, 4}, *small),
    "jpeg2000-empty": (jpeg2000(13300, 13300, 4, b"\0"), {4}, *small),
    "jpeg2000-gray": (jpeg2000(13300, 13300, 1, b"\0"), {4}, *small),
    "jpeg2000-passes-small": (jpeg2000OfPasses(2048), {0, 1}, 10, 200),
    "jpeg2000-passes": (jpeg2000OfPasses(13000), {0, 1}, 60, 2000),
    "jpeg-header": (jpegHeader(13000, 13000), {1, 4}, *small),
    "jpeg-header-progressive": (jpegHeader(65500, 2700, True), {1, 4}, *small),
    "jpeg-scans": (jpegOfScans(600), {4}, *small),
    "jpeg-scans-allowed": (jpegOfScans(100), {0}, *small),
    "png-header": (png(13000, 13000, 2, zlib.compress(b"")), {1, 4}, *small),
    "png-bomb": (png(13000, 13000, 2, zlib.compress(bytes(10000))), {1, 4}, *small),
    "bmp-header": (bmp(13000, 13000), {1, 4}, *small),
    "pnm-header": (b"P6 13000 13000 255\n", {1, 4}, *small),
    "webp-header": (webpHeader(13000, 13000), {1, 4}, *small),
}


def run(command):
    """Exit code, what was said, seconds and megabytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    text = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    return os.waitstatus_to_exitcode(status), text.strip(), time.monotonic() - begin, usage.ru_maxrss / 1024


def main(folder):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    decoder = node("ImageDecoder", ["file"], ["image"], "decoder", pixel_format="RGB")
    write("decode.onnx", model([decoder], [("file", "u8", ["N"])], [("image", "u8", ["H", "W", 3])]))
    subprocess.run(["tenon", "compile", "decode.onnx", "-o", "decode.tenon"], check=True)
    wrong = 0
    for name, (data, codes, seconds, megabytes) in FILES.items():
        writeNpy(name + ".npy", Tensor([len(data)], list(data), "u8"))
        code, text, took, used = run(["timeout", str(seconds), "tenon-run", "decode.tenon", "--input", name + ".npy"])
        isRight = code in codes and used <= megabytes and took <= seconds and (code == 0) == (text == "") and text.count("\n") == 0
        wrong += not isRight
        print(f"{'ok   ' if isRight else 'WRONG'} {name}: {len(data)} bytes, exit {code}, {took:.2f} s, {used:.0f} MB: {text}", flush=True)
    print(f"{len(FILES)} files, {wrong} wrong")
    return wrong > 0


sys.exit(main(sys.argv[1]))
