# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The page on instructions, from the table that the runtime is compiled from."""

import re

SOURCE = "runtime/format/Instructions.def"
ENTRY = re.compile(r'TENON_INSTRUCTION\((\d+), (\w+), (\w+), (\w+), (\w+), "([^"]*)", "([^"]*)", "([^"]*)"\)')


def read_table(path):
    """Yields opcode, name, the kinds of a, b and c, the letters of buffers and expressions, the synopsis and the comment above."""
    comment = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            entry = ENTRY.match(line)
            if entry:
                yield [*entry.groups(), " ".join(comment)]
            elif line.startswith("TENON_INSTRUCTION"):
                raise ValueError(f"{path}: cannot read '{line.strip()}'")
            comment = comment + [line[2:].strip()] if line.startswith("//") else []


def make_page(path):
    lines = [
        "# Instructions",
        "",
        f"Generated from `{SOURCE}`. `a`, `b` and `c` are the fields of an instruction. Buffers: r is read, w is written, * is any number.",
    ]
    for opcode, name, a, b, c, buffers, exprs, synopsis, comment in read_table(path):
        lines += ["", f"## `{name}`", "", f"{synopsis[0].upper()}{synopsis[1:]}.", ""]
        lines += ["| opcode | a | b | c | buffers | expressions |", "|---|---|---|---|---|---|"]
        lines += [f"| {opcode} | {a} | {b} | {c} | {buffers or 'none'} | {exprs or 'none'} |", "", comment]
    return "\n".join(lines) + "\n"
