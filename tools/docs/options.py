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
    """The names below the heading "Subcommands:" of a help text; none where there is no such heading."""
    heading = re.search(r"^subcommands:$", text, re.MULTILINE | re.IGNORECASE)
    if not heading:
        return []
    # Examples follow after an empty line.
    return re.findall(r"^  (\w[\w-]*)", text[heading.end() :].strip("\n").split("\n\n")[0], re.MULTILINE)


def list_below(binaries, *command):
    """A command and all below it."""
    names = find_subcommands(read_output(binaries, *command, "--help"))
    return [command, *(below for name in names for below in list_below(binaries, *command, name))]


def list_commands(binaries):
    """All commands as tuples of words: tenon and what is below it, and tenon-run."""
    commands = [*list_below(binaries, "tenon"), ("tenon-run",)]
    if len(commands) == 2:
        raise ValueError("tenon --help lists no subcommands")
    return commands


def make_page(binaries):
    lines = ["# Command lines", "", "Generated from what the tools print for `--help`."]
    for command in list_commands(binaries):
        lines += ["", f"## `{' '.join(command)}`", "", "```", read_output(binaries, *command, "--help"), "```"]
    return "\n".join(lines) + "\n"
