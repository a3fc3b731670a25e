#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Draws an 8x8 digit and the ten probabilities that a model gave for it, in the terminal.

usage: draw.py IMAGE.npy PROBABILITIES.npy
"""

import array
import ast
import os
import struct
import sys

BAR_WIDTH = 40
SHADES = " ░▒▓█"
EIGHTHS = " ▏▎▍▌▋▊▉█"


def readNpy(path):
    """The float32 values of an .npy file in C order, without numpy."""
    with open(path, "rb") as file:
        if file.read(6) != b"\x93NUMPY":
            sys.exit(f"error: {path}: not an .npy file")
        major, _ = file.read(2)
        (length,) = struct.unpack("<H", file.read(2)) if major == 1 else struct.unpack("<I", file.read(4))
        header = ast.literal_eval(file.read(length).decode("latin1"))
        if header["descr"] != "<f4" or header["fortran_order"]:
            sys.exit(f"error: {path}: wanted float32 in C order, found {header['descr']}")
        values = array.array("f")
        values.frombytes(file.read())
    return list(values)


def drawImage(pixels, colour):
    for row in range(8):
        line = ""
        for value in pixels[row * 8 : row * 8 + 8]:
            value = min(max(value, 0.0), 1.0)
            if colour:  # 232 to 255 are the terminal's 24 grey levels
                line += f"\x1b[48;5;{232 + round(value * 23)}m  "
            else:
                line += SHADES[round(value * 4)] * 2
        print("    " + line + ("\x1b[0m" if colour else ""))


def drawBars(probabilities, colour):
    best = max(range(len(probabilities)), key=lambda digit: probabilities[digit])
    for digit, value in enumerate(probabilities):
        eighths = round(value * BAR_WIDTH * 8)
        bar = "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()
        line = f"    {digit}  {value * 100:6.2f} %  {bar}"
        print(f"\x1b[1m{line}\x1b[0m" if colour and digit == best else line)
    print(f"    the model reads a {best}")


def main():
    if len(sys.argv) != 3:
        print(__doc__.strip().splitlines()[-1], file=sys.stderr)
        return 2
    image, probabilities = readNpy(sys.argv[1]), readNpy(sys.argv[2])
    if len(image) != 64 or len(probabilities) != 10:
        print(f"error: wanted 64 pixels and 10 probabilities, found {len(image)} and {len(probabilities)}", file=sys.stderr)
        return 1
    colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    drawImage(image, colour)
    print()
    drawBars(probabilities, colour)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BrokenPipeError:  # whoever reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
