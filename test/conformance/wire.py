# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads from ONNX's protobuf files the little that the runner needs, so that no package is needed.

Field numbers are those of onnx.proto. The files are ONNX's own test data or models that the compiler has
accepted, so a malformed one raises an exception and no more care is taken.
"""

import array
import sys

FLOAT, BOOL, FLOAT16, DOUBLE, BFLOAT16 = 1, 9, 10, 11, 16
_CODES = {FLOAT: "f", DOUBLE: "d", BOOL: "B"}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def fields(data):
    """(field number, value) of each field: an int, or a slice of the bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}[kind] if kind != 2 else _varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def _all(data, number):
    return [value for field, value in fields(data) if field == number]


def _text(data, number):
    found = _all(data, number)
    return bytes(found[-1]).decode("utf-8", "replace") if found else ""


class ValueInfo:
    """A graph input or output: its name, and where it is a tensor, element type and dimensions (0: not fixed)."""

    def __init__(self, data):
        self.name, self.dtype, self.shape = _text(data, 1), 0, []
        for typ in _all(data, 2):
            for tensor in _all(typ, 1):
                self.dtype = (_all(tensor, 1) or [0])[-1]
                for shape in _all(tensor, 2):
                    self.shape = [(_all(dim, 1) or [0])[-1] for dim in _all(shape, 1)]


class Model:
    """Operators (domain-qualified where not ai.onnx), opsets by domain, inputs that are no initializers, and outputs."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = memoryview(file.read())
        self.operators, inputs, self.outputs, initializers = [], [], [], set()
        for graph in _all(data, 7):
            for field, value in fields(graph):
                if field == 1:
                    domain, name = _text(value, 7), _text(value, 4)
                    self.operators.append(name if domain in ("", "ai.onnx") else f"{domain}.{name}")
                elif field == 5:
                    initializers.add(_text(value, 8))
                elif field == 11:
                    inputs.append(ValueInfo(value))
                elif field == 12:
                    self.outputs.append(ValueInfo(value))
        self.inputs = [info for info in inputs if info.name not in initializers]
        self.opsets = {}
        for imported in _all(data, 8):
            version = [value for field, value in fields(imported) if field == 2]
            self.opsets[_text(imported, 1)] = version[-1] if version else 0


class Tensor:
    """A float32, float64 or bool tensor."""

    def __init__(self, path):
        with open(path, "rb") as file:
            data = memoryview(file.read())
        self.shape, self.dtype, raw = [], 0, b""
        for field, value in fields(data):
            if field == 1:
                self.shape += [value] if isinstance(value, int) else []
            elif field == 2:
                self.dtype = value
            elif field == 9:
                raw = value
        if self.dtype not in _CODES:
            raise ValueError(f"{path}: element type {self.dtype} is not handled here")
        self.values = array.array(_CODES[self.dtype], bytes(raw))
        if sys.byteorder == "big":
            self.values.byteswap()


def _encodeVarint(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def writeFloatTensor(path, shape, values):
    raw = array.array("f", values)
    if sys.byteorder == "big":
        raw.byteswap()
    with open(path, "wb") as file:
        for dim in shape:
            file.write(b"\x08" + _encodeVarint(dim))
        file.write(b"\x10\x01\x4a" + _encodeVarint(len(raw) * 4) + raw.tobytes())
