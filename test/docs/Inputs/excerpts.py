# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Excerpts of text on a page, compared with the text itself."""

import re


def normalize(line):
    """A line without its indentation, and with single blanks."""
    return " ".join(line.split())


def to_pattern(line):
    return re.compile("(.*)".join(map(re.escape, normalize(line).split("..."))) + "$")


def find_mismatch(excerpt, text):
    """The first line of an excerpt that the text does not have in its place; None if it has all of them.

    Lines have to stand in the text in that order, next to each other but for lines of "..." in between; "..." inside of a line stands for
    any text. Blanks count as one.
    """
    lines = [normalize(line) for line in text.splitlines()]
    position, may_skip = 0, True
    for line in excerpt:
        if line.strip() == "...":
            may_skip = True
            continue
        pattern = to_pattern(line)
        last = len(lines) if may_skip else min(position + 1, len(lines))
        found = next((i for i in range(position, last) if pattern.match(lines[i])), None)
        if found is None:
            return normalize(line)
        position, may_skip = found + 1, False
    return None


def read_blocks(text, language):
    """The lines of each code block of a language."""
    return [block.splitlines() for block in re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)]
