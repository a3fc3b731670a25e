# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Casts from and to floats of eight and four bits and integers of four and two: every element of each such type, and
of wider types all that lies on, and next to, the border between two of their numbers. Then what else such types do."""

import math
import struct

import reference as ref
import small_numbers as small
from run import Case, single
from tensors import TYPES, Tensor, integers

OPSET = 26

SMALL_FLOATS = ["f8e4m3fn", "f8e4m3fnuz", "f8e5m2", "f8e5m2fnuz"]
SMALL = [*SMALL_FLOATS, "f8e8m0", "f4e2m1", "i4", "u4", "i2", "u2"]
WIDE = ["f32", "f16", "f64", "bf16", "i32", "bool"]


def borders():
    """Numbers half way between two neighbours, and some at the ends of the ranges."""
    result = {0.0, 1e-45, 2.0**-149, 1e-300, 3e38, 1e300, 2.0**128, 2.0**127 * 1.25, 1.0, 1.25, 3.9999, 7.0}
    for dtype in [*SMALL_FLOATS, "f4e2m1"]:
        values = small.ladder(dtype)
        result.update(float((a + b) / 2) for a, b in zip(values, values[1:]))
        result.update(map(float, values))
    result.update(math.ldexp(mantissa, exponent) for mantissa in (1.0, 1.5) for exponent in range(-128, 128, 5))
    return sorted(result)


def stepped(number, bits, step):
    """The number of an IEEE type with so many bits that is `step` codes away from one that it has."""
    float_, word = {16: "eH", 32: "fI", 64: "dQ"}[bits]
    code = struct.unpack("<" + word, struct.pack("<" + float_, number))[0] + step
    return struct.unpack("<" + float_, struct.pack("<" + word, max(code, 0)))[0]


def floatValues(dtype):
    bits = {"f16": 16, "f32": 32, "f64": 64}[dtype]
    values = [small.rounded("e" if bits == 16 else "f" if bits == 32 else "d", x) for x in borders()]
    values = [stepped(x, bits, step) for x in values if math.isfinite(x) for step in (-1, 0, 1)]
    values += [math.inf, math.nan]
    return values + [math.copysign(x, -1.0) for x in values]


def wideValues():
    powers = [2**k + d for k in range(31) for d in (-1, 0, 1)]
    return {
        "f32": floatValues("f32"),
        "f16": floatValues("f16"),
        "f64": floatValues("f64"),
        "bf16": sorted({small.encode("bf16", x) | sign for x in borders() for sign in (0, 0x8000)} | {0x7F80, 0x7FC0, 0xFFC0}),
        "i32": sorted({x * sign for x in [*powers, *range(600)] for sign in (1, -1)}),
        "i64": [2**k + d for k in range(53) for d in (-1, 0, 1)],
        "u8": list(range(256)),
        "i8": list(range(-128, 128)),
        "bool": [False, True],
    }


def isWhole(source, element):
    """Whether a cast to an integer is defined."""
    number = small.decode(source, element)
    return math.isfinite(number) and abs(number) < 2**31


def addCast(result, source, elements, target, **attributes):
    if target in small.INTEGERS:
        elements = [element for element in elements if isWhole(source, element)]
    saturate, rounding = attributes.get("saturate", 1), attributes.get("round_mode", "up")
    wanted = [small.cast(source, element, target, saturate, rounding) for element in elements]
    name = "_".join([source, target, *(f"{key}_{value}" for key, value in attributes.items())])
    x, y = Tensor((len(elements),), elements, source), Tensor((len(elements),), wanted, target)
    result.append(single(name, "Cast", {"x": x}, y, rtol=0, atol=0, to=TYPES[target][2], **attributes))


def addCasts(result, source, elements, targets):
    for target in targets:
        if target == source:
            continue
        addCast(result, source, elements, target)
        if target in SMALL_FLOATS:
            addCast(result, source, elements, target, saturate=0)
        if target == "f8e8m0":
            addCast(result, source, elements, target, saturate=0)
            for mode in ("nearest", "down"):
                addCast(result, source, elements, target, round_mode=mode)


def addConstants(result):
    """Weights of each type: read from the file, moved, and cast by the compiler."""
    for dtype in SMALL:
        codes = (small.codesOf(dtype) * 11)[:11]
        x = Tensor((11,), codes, dtype)
        wanted = Tensor((11,), [small.cast(dtype, code, "f32") for code in codes])
        result.append(single("Folded_" + dtype, "Cast", {}, wanted, {"x": x}, rtol=0, atol=0, to=1))
        result.append(single("Kept_" + dtype, "Identity", {}, x, {"x": x}))
    # More than the compiler keeps as a list of numbers.
    for dtype in ("i4", "u2", "f8e5m2"):
        codes = (small.codesOf(dtype) * 2001)[:2001]
        x = Tensor((2001,), codes, dtype)
        wanted = Tensor((2001,), [small.cast(dtype, code, "f32") for code in codes])
        result.append(single("Large_" + dtype, "Cast", {}, wanted, {"x": x}, rtol=0, atol=0, to=1))


def addMovement(result):
    for dtype in SMALL:
        x = Tensor((3, 5), (small.codesOf(dtype) * 15)[:15], dtype)
        result.append(single("Transposed_" + dtype, "Transpose", {"x": x}, ref.transpose(x, (1, 0)), perm=[1, 0]))
        flat = Tensor((15,), x.data, dtype)
        result.append(single("Reshaped_" + dtype, "Reshape", {"x": x}, flat, {"shape": integers([15])}))
        value = x.data[4]
        padded = Tensor((19,), [value] * 3 + x.data + [value], dtype)
        result.append(single("Padded_" + dtype, "Pad", {"x": flat}, padded,
                             {"pads": integers([3, 1]), "value": Tensor((), [value], dtype)}))


def addBitCasts(result):
    def add(source, elements, target, wanted):
        x, y = Tensor((len(elements),), elements, source), Tensor((len(wanted),), wanted, target)
        result.append(single(f"Bits_{source}_{target}", "BitCast", {"x": x}, y, to=TYPES[target][2]))

    codes = list(range(256))
    signed = [code - 256 if code > 127 else code for code in codes]
    for dtype in [*SMALL_FLOATS, "f8e8m0"]:
        add(dtype, codes, "i8", signed)
        add("u8", codes, dtype, codes)
    nibbles = list(range(16))
    add("f4e2m1", nibbles, "i4", [code - 16 if code > 7 else code for code in nibbles])
    add("i4", small.codesOf("i4"), "u4", [*range(8, 16), *range(8)])
    add("u2", [0, 1, 2, 3], "i2", [0, 1, -2, -1])
    add("u8", [0, 1, 2], "bool", [False, True, True])
    add("bool", [False, True], "i8", [0, 1])
    add("f32", [1.0, -0.0], "i32", [0x3F800000, -(2**31)])
    add("bf16", [0x3F80, 0x4000], "f16", [1.875, 2.0])


def addQuantised(result):
    x = Tensor((2, 4), [-9.0, -1.25, 0.75, 40.0, 3.0, 6.5, -2.5, 1e9])
    scale, zero = Tensor((2, 2), [0.5, 2.0, 1.0, 4.0]), Tensor((2, 2), [1, -1, 0, 2], "i4")
    wanted = Tensor((2, 4), [-8, -1, -1, 7, 3, 6, 1, 7], "i4")
    result.append(single("Quantised", "QuantizeLinear", {"x": x}, wanted, {"scale": scale, "zero": zero}, axis=1, block_size=2))
    back = Tensor((2, 4), [-4.5, -1.0, 0.0, 16.0, 3.0, 6.0, -4.0, 20.0])
    result.append(single("Dequantised", "DequantizeLinear", {}, back, {"x": wanted, "scale": scale, "zero": zero}, axis=1, block_size=2))
    a, b = Tensor((1, 2), [0x40, 0xB8], "f8e4m3fn"), Tensor((2, 1), [0x44, 0x38], "f8e4m3fn")  # 2, -1; 3, 1
    step, nought = Tensor((), [1.0]), Tensor((), [0], "f8e4m3fn")
    known = {"as": Tensor((), [0.5]), "az": nought, "b": b, "bs": step, "bz": nought, "ys": step, "yz": nought}
    result.append(single("Product", "QLinearMatMul", {"a": a}, Tensor((1, 1), [0x42], "f8e4m3fn"), known))


def addChain(result):
    """Quantised and back in one kernel: what lies between is never stored."""
    x = Tensor((4,), [0.3, -500.0, 1.0625, 3.0])
    nodes = [("Cast", ["x"], ["q"], {"to": 17}), ("Cast", ["q"], ["y"], {"to": 1})]
    result.append(Case("Chain", nodes, {"x": x}, {"y": Tensor((4,), [0.3125, -448.0, 1.0, 3.0])}, rtol=0, atol=0))


def cases():
    result = []
    for source in SMALL:
        addCasts(result, source, small.codesOf(source), [*SMALL, *WIDE])
    for source, elements in wideValues().items():
        addCasts(result, source, elements, SMALL)
    addConstants(result)
    addMovement(result)
    addBitCasts(result)
    addQuantised(result)
    addChain(result)
    return result
