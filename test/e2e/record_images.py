#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Writes Inputs/images.json: small files of images, and the pixels that Pillow makes of them. Needs Pillow and numpy."""

import base64
import io
import json
import os

import numpy as np
from PIL import Image

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs", "images.json")


def picture(mode, height=19, width=23):
    """Waves with some noise, so that no coefficient stays zero."""
    random = np.random.default_rng(height * width)
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 100 * np.sin(x / (3 + i) + y / (5 - i) + i) + random.normal(0, 12, (height, width)) for i in range(4)]
    color = Image.fromarray(np.clip(np.stack(planes[:3], -1), 0, 255).astype(np.uint8))
    if mode == "P":
        return color.quantize(13)
    if mode == "CMYK":
        return Image.frombytes("CMYK", color.size, np.clip(np.stack(planes, -1), 0, 255).astype(np.uint8).tobytes())
    return color.convert(mode)


def deepPicture():
    """Gray of 16 bits. Pillow reads such a file, but keeps no more than the lowest values when it makes bytes of it."""
    return Image.fromarray((np.arange(19 * 23).reshape(19, 23) * 149).astype(np.uint16))


def recordDeep(name, format, rounding=0, **options):
    """The upper eight bits of each sample, to which `rounding` was added."""
    entry = record(name, deepPicture(), format, **options)
    pixels = np.repeat(((np.array(deepPicture(), np.int32) + rounding) >> 8).astype(np.uint8)[:, :, None], 3, axis=2)
    return entry | {"pixels": base64.b64encode(pixels.tobytes()).decode()}


def record(name, mode, format, order="RGB", size=(19, 23), turned=False, **options):
    """`mode` is that of a picture, or an image; `turned`: Pillow gives it with height and width exchanged."""
    file = io.BytesIO()
    (picture(mode, *size) if isinstance(mode, str) else mode).save(file, format, **options)
    image = Image.open(io.BytesIO(file.getvalue())).convert("L" if order == "Grayscale" else "RGB")
    pixels = np.array(image).reshape(*size[:: -1 if turned else 1], -1)[:, :, :: -1 if order == "BGR" else 1]
    encode = lambda data: base64.b64encode(data).decode()
    return {
        "name": name,
        "order": order,
        "file": encode(file.getvalue()),
        "shape": pixels.shape,
        "pixels": encode(pixels.tobytes()),
    }


def entries():
    for mode in ("RGB", "L", "P", "1"):
        yield record(f"Bmp{mode}", mode, "BMP")
        yield record(f"Tiff{mode}", mode, "TIFF", compression="packbits")
    for mode in ("RGB", "RGBA", "LA", "L", "P", "1"):
        yield record(f"Png{mode}", mode, "PNG")
    for mode in ("RGB", "L", "1"):
        yield record(f"Pnm{mode}", mode, "PPM")
    for compression in ("tiff_lzw", "tiff_adobe_deflate"):
        yield record(f"Tiff-{compression}", "RGB", "TIFF", compression=compression, tiffinfo={317: 2})
    yield record("TiffCMYK", "CMYK", "TIFF")
    for order in ("RGB", "BGR", "Grayscale"):
        yield record(f"Jpeg{order}", "RGB", "JPEG", order)
    for subsampling in (0, 1, 2):
        yield record(f"JpegProgressive{subsampling}", "RGB", "JPEG", subsampling=subsampling, progressive=True)
    yield record("JpegGray", "L", "JPEG")
    yield record("JpegCMYK", "CMYK", "JPEG")
    yield record("JpegRestarts", "RGB", "JPEG", restart_marker_blocks=2)
    yield record("JpegNarrow", "RGB", "JPEG", size=(5, 3))
    for mode in ("RGB", "L", "RGBA"):
        yield record(f"Jpeg2000{mode}", mode, "JPEG2000")
    yield record("Jpeg2000Reals", "RGB", "JPEG2000", irreversible=True, quality_mode="dB", quality_layers=[45])
    for progression in ("LRCP", "RLCP", "RPCL", "PCRL", "CPRL"):
        parts = {"tile_size": (16, 16), "codeblock_size": (8, 8), "precinct_size": (8, 8)}
        yield record(f"Jpeg2000{progression}", "RGB", "JPEG2000", progression=progression, quality_layers=[20, 4, 1], **parts)
    for mode, quality in (("RGB", 5), ("RGB", 90), ("RGBA", 50)):
        yield record(f"Webp{mode}{quality}", mode, "WEBP", quality=quality)
    for mode in ("RGB", "RGBA", "L", "P", "1"):
        # WebP has no palettes of its own: few colors make one.
        image = picture(mode).convert("RGBA" if mode == "RGBA" else "RGB")
        yield record(f"WebpLossless{mode}", image, "WEBP", lossless=True, exact=True)
    yield record("WebpNarrow", "RGB", "WEBP", size=(18, 1))
    yield from moreKinds()


def moreKinds():
    """What the libraries behind the plug-in read, and our own decoders before them did not."""
    for order in ("BGR", "Grayscale"):
        for format in ("BMP", "JPEG2000", "PNG", "PPM", "TIFF"):
            yield record(f"{format}{order}", "RGB", format, order)
        yield record(f"Webp{order}", "RGB", "WEBP", order, quality=70)
        yield record(f"JpegCMYK{order}", "CMYK", "JPEG", order)
    for compression in ("group3", "group4"):
        yield record(f"Tiff-{compression}", "1", "TIFF", compression=compression)
    for compression in ("zstd", "lzma"):
        yield record(f"Tiff-{compression}", "RGB", "TIFF", compression=compression)
    for mode in ("RGB", "L", "YCbCr"):
        yield record(f"Tiff-jpeg{mode}", mode, "TIFF", compression="jpeg")
    for orientation in range(2, 9):
        yield record(f"TiffTurned{orientation}", "RGB", "TIFF", turned=orientation > 4, tiffinfo={274: orientation})
    yield record("TiffTurnedGray", "RGB", "TIFF", "Grayscale", turned=True, tiffinfo={274: 8}, compression="tiff_lzw")
    for mode in ("RGBA", "LA"):
        yield record(f"Tiff{mode}", mode, "TIFF")
    yield record("TiffPA", picture("P").convert("PA"), "TIFF")
    yield record("TiffBig", "RGB", "TIFF", big_tiff=True)
    yield record("TiffRowsOfStrips", "RGB", "TIFF", tiffinfo={278: 4}, compression="tiff_lzw")
    for mode in ("LA", "CMYK"):
        yield record(f"Jpeg2000{mode}", mode, "JPEG2000")
    yield record("Jpeg2000Stream", "RGB", "JPEG2000", no_jp2=True)
    yield record("Jpeg2000Apart", "RGB", "JPEG2000", mct=0, offset=(5, 3), tile_size=(16, 16), tile_offset=(2, 1))
    yield record("JpegPlainRgb", "RGB", "JPEG", keep_rgb=True)
    yield record("JpegNarrowChroma", "RGB", "JPEG", subsampling="4:1:1")
    yield record("JpegProgressiveCMYK", "CMYK", "JPEG", progressive=True)
    for bits in (1, 2, 4):
        yield record(f"PngPalette{bits}", picture("RGB").quantize(1 << bits), "PNG", bits=bits)
    for format in ("PNG", "TIFF"):
        yield recordDeep(f"{format}Deep", format)
    # Pillow rounds samples of JPEG 2000, in colors of 16 bits.
    yield recordDeep("JPEG2000Deep", "JPEG2000", rounding=128)


if __name__ == "__main__":
    with open(FILE, "w") as file:
        json.dump(list(entries()), file, indent=1)
        file.write("\n")
