# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads .npy files of the few types that outputs have here, and writes integers, so that no package is needed."""

import array
import ast
import struct

import wire

_DTYPES = {"<f4": (wire.FLOAT, "f"), "<f8": (wire.DOUBLE, "d"), "|b1": (wire.BOOL, "B")}


class Npy:
    def __init__(self, path):
        with open(path, "rb") as file:
            magic = file.read(8)
            wide = magic[6] > 1
            (length,) = struct.unpack("<I" if wide else "<H", file.read(4 if wide else 2))
            header = ast.literal_eval(file.read(length).decode("latin1"))
            self.shape = list(header["shape"])
            self.dtype, code = _DTYPES.get(header["descr"], (0, "B"))
            self.values = array.array(code, file.read())


def writeIntegers(path, shape, values):
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({''.join(f'{dim}, ' for dim in shape)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(values)}q", *values))
