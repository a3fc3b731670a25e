# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compares excerpts of a page with what its own command writes: check-excerpts.py PAGE FOLDER.

The page has a code block for the model, which begins with "// model.mlir", one line "    tenon compile model.mlir ..." with --dump-ir=dumps,
and blocks that begin with "// after PASS" or "// inspect". The lines of a block have to stand in the file in that order, next to each
other but for lines of "..." in between; "..." inside of a line stands for any text.
"""

import glob
import os
import re
import shutil
import subprocess
import sys


def read_blocks(text):
    """The code blocks whose first line is a comment: (comment, lines)."""
    for block in re.findall(r"^```\w+\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        first, *rest = block.splitlines()
        if first.startswith("// "):
            yield first[3:], rest


def to_pattern(line):
    return re.compile("(.*)".join(map(re.escape, re.split(r"\.\.\.", line.strip()))) + "$")


def find_mismatch(excerpt, lines):
    """The first line of an excerpt that the lines do not have in its place; None if they have all of them."""
    position, mayskip = 0, True
    for line in excerpt:
        if line.strip() == "...":
            mayskip = True
            continue
        pattern = to_pattern(line)
        last = len(lines) if mayskip else min(position + 1, len(lines))
        found = next((i for i in range(position, last) if pattern.match(lines[i])), None)
        if found is None:
            return line.strip()
        position, mayskip = found + 1, False
    return None


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result.stdout


def get_lines(comment, folder):
    if comment == "inspect":
        text = run(["tenon", "inspect", "model.tenon"], folder)
    else:
        name = comment.removeprefix("after ")
        paths = sorted(glob.glob(os.path.join(folder, "dumps", f"*-{glob.escape(name)}.mlir")))
        assert paths, f"nothing was written after {name}"
        with open(paths[0], encoding="utf-8") as file:
            text = file.read()
    return [line.strip() for line in text.splitlines()]


def main():
    page, folder = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    blocks = list(read_blocks(text))
    models = [lines for comment, lines in blocks if comment == "model.mlir"]
    commands = re.findall(r"^    (tenon compile model\.mlir .*)$", text, re.MULTILINE)
    excerpts = [(comment, lines) for comment, lines in blocks if comment == "inspect" or comment.startswith("after ")]
    assert len(models) == 1 and len(commands) == 1 and len(excerpts) >= 8, "the page has lost its model, its command or excerpts"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "model.mlir"), "w", encoding="utf-8") as file:
        file.write("\n".join(models[0]) + "\n")
    run(commands[0].split(), folder)
    status = 0
    for comment, excerpt in excerpts:
        mismatch = find_mismatch(excerpt, get_lines(comment, folder))
        if mismatch is not None:
            print(f"error: {comment}, no line matches '{mismatch}' in its place", file=sys.stderr)
            status = 1
    print(f"{len(excerpts)} excerpts")
    return status


sys.exit(main())
