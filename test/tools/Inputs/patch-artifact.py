# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Changes an artifact and makes its hashes right again: patch-artifact.py FROM TO version|target VALUE.

A target becomes that of all code and plans.

The hash is XXH3 of the section table, which the program `xxhsum` knows too; here it is written out, so that no
package is needed. Only inputs of more than 240 bytes are handled: a table has 512 for each section.
"""

import struct
import sys

MASK = (1 << 64) - 1
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3, P64_4, P64_5 = (
    0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
)  # fmt: skip
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def read64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def accumulate(acc, data, at, secret):
    for i in range(8):
        value = read64(data, at + 8 * i)
        key = value ^ read64(SECRET, secret + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + value & MASK
        acc[i] = acc[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK


def xxh3(data):
    assert len(data) > 240
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]
    perBlock = (len(SECRET) - 64) // 8
    blocks, last = divmod(len(data) - 1, 64 * perBlock)
    for block in range(blocks):
        for stripe in range(perBlock):
            accumulate(acc, data, 64 * (block * perBlock + stripe), 8 * stripe)
        for i in range(8):
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ read64(SECRET, len(SECRET) - 64 + 8 * i)) * P32_1 & MASK
    for stripe in range(last // 64):
        accumulate(acc, data, 64 * (blocks * perBlock + stripe), 8 * stripe)
    accumulate(acc, data, len(data) - 64, len(SECRET) - 64 - 7)
    result = len(data) * P64_1 & MASK
    for i in range(4):
        product = (acc[2 * i] ^ read64(SECRET, 11 + 16 * i)) * (acc[2 * i + 1] ^ read64(SECRET, 19 + 16 * i))
        result = result + (product & MASK ^ product >> 64) & MASK
    result ^= result >> 37
    result = result * 0x165667919E3779F9 & MASK
    return result ^ result >> 32


def main():
    source, target, what, value = sys.argv[1:]
    with open(source, "rb") as file:
        data = bytearray(file.read())
    count = struct.unpack_from("<I", data, 12)[0]
    table = slice(64, 64 + 512 * count)
    assert read64(data, 24) == xxh3(bytes(data[table])), "the table's hash is not as expected"
    if what == "version":
        struct.pack_into("<I", data, 8, int(value))
    else:
        for at in range(64, 64 + 512 * count, 512):
            if struct.unpack_from("<I", data, at)[0] in (1, 2):
                data[at + 32 : at + 512] = value.encode().ljust(480, b"\0")
        struct.pack_into("<Q", data, 24, xxh3(bytes(data[table])))
    with open(target, "wb") as file:
        file.write(data)


main()
