# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Reads how-to pages, and applies what they show to a copy of the source tree.

A section of a page that begins with "## Something: three files" has a numbered list of as many files. Each entry begins with the file's path
in backticks. If the section is to be followed, each entry has code blocks: `diff` ones change the file at the only place that has their
context, any other one is the text of a new file. Commands that check the result are indented by four spaces below the list.
"""

import dataclasses
import os
import re

NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen".split()
HEADING = re.compile(r"## (.+): (\w+) files$")
ENTRY = re.compile(r"(\d+)\. `([^`]+)`")
FENCE = re.compile(r"( *)```(\w+)$")


class PageError(Exception):
    """A page that says what does not hold: one line that names the page and the place."""


@dataclasses.dataclass
class Entry:
    """A file of a section, and the code blocks about it: (language, lines)."""

    path: str
    line: int
    blocks: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Section:
    page: str
    title: str
    line: int
    count: int
    entries: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)

    @property
    def is_followed(self):
        return any(entry.blocks for entry in self.entries)

    def where(self, line=None):
        return f"{self.page}:{line or self.line}"


def read_section_lines(section, lines, number):
    """Fills a section from the lines after its heading, of which the first has the number `number`."""
    block, fence = None, ""
    for number, line in enumerate(lines, number):
        if block is not None:
            if line == fence + "```":
                block = None
            else:
                block.append(line.removeprefix(fence) if line.strip() else "")
            continue
        entry, opening = ENTRY.match(line), FENCE.match(line)
        if entry:
            section.entries.append(Entry(entry.group(2), number))
            if int(entry.group(1)) != len(section.entries):
                raise PageError(f"{section.where(number)}: entry {entry.group(1)} is number {len(section.entries)} of the list")
        elif opening:
            if not section.entries:
                raise PageError(f"{section.where(number)}: a code block before the first file")
            fence, block = opening.group(1), []
            section.entries[-1].blocks.append((opening.group(2), block))
        elif line.startswith("    "):
            section.commands.append(line.strip())
    if block is not None:
        raise PageError(f"{section.where(number)}: a code block has no end")


def read_page(path, name):
    """The sections of a page that count files."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("## ")] + [len(lines)]
    sections = []
    for begin, end in zip(starts, starts[1:]):
        heading = HEADING.match(lines[begin])
        if not heading:
            continue
        if heading.group(2) not in NUMBERS:
            raise PageError(f"{name}:{begin + 1}: '{heading.group(2)}' is not a number up to {NUMBERS[-1]}")
        section = Section(name, heading.group(1), begin + 1, NUMBERS.index(heading.group(2)))
        read_section_lines(section, lines[begin + 1 : end], begin + 2)
        sections.append(section)
    return sections


def check_section(section, root):
    """Yields what is wrong with the list of files of a section, before anything is applied."""
    paths = [entry.path for entry in section.entries]
    if len(set(paths)) != section.count:
        yield f"{section.where()}: the heading counts {section.count} files, the list has {len(set(paths))}"
    for entry in section.entries:
        is_new = any(language != "diff" for language, _ in entry.blocks)
        exists = os.path.exists(os.path.join(root, entry.path))
        if is_new and exists:
            yield f"{section.where(entry.line)}: {entry.path} exists already"
        if not is_new and not exists:
            yield f"{section.where(entry.line)}: there is no {entry.path}"
        if section.is_followed and not entry.blocks:
            yield f"{section.where(entry.line)}: nothing shows what {entry.path} gets"
    if section.is_followed and not section.commands:
        yield f"{section.where()}: no command checks the result"


def split_hunks(lines):
    """The old and the new lines of each hunk of a `diff` block; lines of "@@" separate hunks."""
    hunks, old, new = [], [], []
    for line in [*lines, "@@"]:
        if line.startswith("@@"):
            hunks.append((old, new))
            old, new = [], []
            continue
        mark, text = (line[0], line[1:]) if line else (" ", "")
        if mark not in " +-":
            raise PageError(f"a line of a diff begins with '{mark}'")
        if mark != "+":
            old.append(text)
        if mark != "-":
            new.append(text)
    return hunks


def apply_hunk(lines, old, new):
    """The lines of a file after a hunk, whose old lines have to occur exactly once."""
    if not old:
        raise PageError("a hunk has no context")
    places = [i for i in range(len(lines) - len(old) + 1) if lines[i : i + len(old)] == old]
    if len(places) != 1:
        raise PageError(f"{len(places)} places have the context '{old[0].strip()}', one is wanted")
    return lines[: places[0]] + new + lines[places[0] + len(old) :]


def apply_entry(entry, root):
    """Changes or makes one file in the copy of the tree at `root`."""
    path = os.path.join(root, entry.path)
    for language, block in entry.blocks:
        if language == "diff":
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
            for old, new in split_hunks(block):
                lines = apply_hunk(lines, old, new)
            text = "\n".join(lines)
        else:
            text = "\n".join(block) + "\n"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def apply_section(section, root):
    for entry in section.entries:
        try:
            apply_entry(entry, root)
        except PageError as error:
            raise PageError(f"{section.where(entry.line)}: {entry.path}: {error}") from None
