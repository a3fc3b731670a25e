# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The page on command lines: what the tools print for --help."""

import os
import re
import subprocess


def read_output(binaries, *command):
    """What a tool prints for a command line."""
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="120")
    program = [os.path.join(binaries, command[0]), *command[1:]]
    return subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout.rstrip()


def find_subcommands(text):
    """The names below the heading "Subcommands:" of a help text."""
    heading = re.search(r"^subcommands:$", text, re.MULTILINE | re.IGNORECASE)
    if not heading:
        raise ValueError("tenon --help lists no subcommands")
    # Examples follow after an empty line.
    return re.findall(r"^  (\w[\w-]*)", text[heading.end() :].strip("\n").split("\n\n")[0], re.MULTILINE)


def list_commands(binaries):
    """All commands as tuples of words: tenon, its subcommands, and tenon-run."""
    top = read_output(binaries, "tenon", "--help")
    return [("tenon",), *(("tenon", name) for name in find_subcommands(top)), ("tenon-run",)]


def make_page(binaries):
    lines = ["# Command lines", "", "Generated from what the tools print for `--help`."]
    for command in list_commands(binaries):
        lines += ["", f"## `{' '.join(command)}`", "", "```", read_output(binaries, *command, "--help"), "```"]
    return "\n".join(lines) + "\n"
