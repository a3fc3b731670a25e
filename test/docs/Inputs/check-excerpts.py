# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compares excerpts of a page with what its own command writes: check-excerpts.py PAGE FOLDER.

The page has a code block for the model, which begins with "// model.mlir", one line "    tenon compile model.mlir ..." with --dump-ir=dumps,
and blocks that begin with "// after PASS" or "// inspect".
"""

import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import excerpts


def read_titled_blocks(text):
    """The code blocks whose first line is a comment: (comment, lines)."""
    for block in excerpts.read_blocks(text, r"\w+"):
        if block[0].startswith("// "):
            yield block[0][3:], block[1:]


def run(command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: {result.stderr}"
    return result.stdout


def get_text(comment, folder):
    if comment == "inspect":
        return run(["tenon", "inspect", "--instructions", "model.tenon"], folder)
    name = comment.removeprefix("after ")
    paths = sorted(glob.glob(os.path.join(folder, "dumps", f"*-{glob.escape(name)}.mlir")))
    assert paths, f"nothing was written after {name}"
    with open(paths[0], encoding="utf-8") as file:
        return file.read()


def main():
    page, folder = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    blocks = list(read_titled_blocks(text))
    models = [lines for comment, lines in blocks if comment == "model.mlir"]
    commands = re.findall(r"^    (tenon compile model\.mlir .*)$", text, re.MULTILINE)
    shown = [(comment, lines) for comment, lines in blocks if comment == "inspect" or comment.startswith("after ")]
    assert len(models) == 1 and len(commands) == 1 and len(shown) >= 8, "the page has lost its model, its command or excerpts"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(folder, "model.mlir"), "w", encoding="utf-8") as file:
        file.write("\n".join(models[0]) + "\n")
    run(commands[0].split(), folder)
    status = 0
    for comment, excerpt in shown:
        mismatch = excerpts.find_mismatch(excerpt, get_text(comment, folder))
        if mismatch is not None:
            print(f"error: {comment}, no line matches '{mismatch}' in its place", file=sys.stderr)
            status = 1
    print(f"{len(shown)} excerpts")
    return status


sys.exit(main())
