# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks the manual pages in a folder against the help pages of the tools on PATH, and that groff sets them without a warning."""

import pathlib
import re
import shutil
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def fail(text):
    sys.exit(f"error: {text}")


def read_help(*command):
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def list_below(*command):
    """A command and all below it."""
    names = re.findall(r"^  ([a-z]+) ", read_help(*command).partition("Subcommands:")[2], re.MULTILINE)
    return [command, *(below for name in names if name != command[0] for below in list_below(*command, name))]


# "tenon run" has no page: tenon-run(1) is the program's.
pages = {"-".join(command): command for command in [*list_below("tenon"), ("tenon-run",)] if command != ("tenon", "run")}
if len(pages) < 10:
    fail(f"tenon --help lists {sorted(pages)} only")
files = {path.stem for path in folder.iterdir()}
if files != set(pages):
    fail(f"pages are {sorted(files)}, expected {sorted(pages)}")
for name, command in pages.items():
    path = folder / f"{name}.1"
    page = path.read_text(encoding="utf-8").replace("\\fR", "").replace("\\", "")
    entries = re.findall(r"^fB(?:-\w,)?(--[a-z][\w-]*)", page, re.MULTILINE)
    for option in re.findall(r"^  (?:-\w,)?(--[a-z][\w-]*)", read_help(*command), re.MULTILINE):
        if option not in entries:
            fail(f"{path.name} lacks {option}")
    # The left column is for people: names of values, no checks of the option parser.
    for entry in re.findall(r"^  (-.*?)(?:  |$)", read_help(*command), re.MULTILINE):
        if re.search(r"[{]|:[A-Z]|Excludes:|Needs:", entry):
            fail(f"the help of '{' '.join(command)}' has '{entry}'")
    for heading in ("NAME", "SYNOPSIS", "EXIT STATUS", "SEE ALSO"):
        if f".SH {heading}\n" not in page:
            fail(f"{path.name} lacks the section {heading}")
    if shutil.which("groff"):
        result = subprocess.run(["groff", "-man", "-Tascii", "-ww", path], capture_output=True, text=True)
        if result.stderr or result.returncode:
            fail(f"{path.name}: {result.stderr.strip()}")
