# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The page on command lines: what the tools print for --help."""

import os
import re
import subprocess


def read_help(binaries, *command):
    program = [os.path.join(binaries, command[0]), *command[1:], "--help"]
    environment = dict(os.environ, NO_COLOR="1", COLUMNS="120")
    return subprocess.run(program, check=True, capture_output=True, text=True, env=environment).stdout.rstrip()


def find_subcommands(text):
    """The names below the heading "Subcommands:" of a help text."""
    heading = re.search(r"^subcommands:$", text, re.MULTILINE | re.IGNORECASE)
    if not heading:
        raise ValueError("tenon --help lists no subcommands")
    # Examples follow after an empty line.
    return re.findall(r"^  (\w[\w-]*)", text[heading.end() :].strip("\n").split("\n\n")[0], re.MULTILINE)


def make_page(binaries):
    top = read_help(binaries, "tenon")
    commands = [("tenon",), *(("tenon", name) for name in find_subcommands(top)), ("tenon-run",)]
    lines = ["# Command lines", "", "Generated from what the tools print for `--help`."]
    for command in commands:
        lines += ["", f"## `{' '.join(command)}`", "", "```", read_help(binaries, *command), "```"]
    return "\n".join(lines) + "\n"
