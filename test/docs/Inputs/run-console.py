# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Runs the commands of a page and compares their output: run-console.py PAGE FOLDER [NAME=PATH...].

The commands run in FOLDER, where each NAME is a link to PATH; python3 is the interpreter that runs this. Blocks of `mlir` and `python` that begin with a comment of one word become files of that
name. In blocks of `console`, lines that begin with "$ " are commands, and the lines below
are an excerpt of their output, of both streams. "[exit code N]" is the last line below a command that fails.
"""

import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import excerpts


def read_commands(text):
    """Yields each command, its exit code, and the lines below it."""
    for block in excerpts.read_blocks(text, "console"):
        starts = [i for i, line in enumerate(block) if line.startswith("$ ")] + [len(block)]
        assert starts[0] == 0, f"a block does not begin with a command: {block[0]}"
        for begin, end in zip(starts, starts[1:]):
            lines, code = block[begin + 1 : end], 0
            failure = re.fullmatch(r"\[exit code (\d+)\]", lines[-1]) if lines else None
            if failure:
                lines, code = lines[:-1], int(failure.group(1))
            yield block[begin][2:], code, lines


def check_command(command, code, lines, folder):
    """Runs a command. Returns what is wrong, or None."""
    result = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != code:
        return f"exit code {result.returncode}, wanted {code}: {result.stdout}"
    if not lines:
        return f"it prints something: {result.stdout}" if result.stdout else None
    mismatch = excerpts.find_mismatch(lines, result.stdout)
    return None if mismatch is None else f"no line matches '{mismatch}' in its place of\n{result.stdout}"


def main():
    page, folder, *links = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        text = file.read()
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for link in links:
        name, _, path = link.partition("=")
        os.symlink(os.path.abspath(path), os.path.join(folder, name))
    # As for users, what one command has compiled is there for the next.
    os.environ["TENON_CACHE_DIR"] = os.path.join(os.path.abspath(folder), "cache")
    os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
    for language, comment in (("mlir", "// "), ("python", "# ")):
        for name, *lines in excerpts.read_blocks(text, language):
            with open(os.path.join(folder, name.removeprefix(comment)), "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
    commands = list(read_commands(text))
    assert len(commands) >= 2, "the page has lost its commands"
    status = 0
    for command, code, lines in commands:
        fault = check_command(command, code, lines, folder)
        if fault:
            print(f"error: {command}\n{fault}", file=sys.stderr)
            status = 1
    return status


sys.exit(main())
