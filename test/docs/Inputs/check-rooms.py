# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks that folders of sources have a README, and that the files it lists exist: check-rooms.py ROOT.

A folder with four sources or more has a README.md; below test/, that of a folder above may name it instead. In tables whose first column is
headed "file", "folder" or both, each name in backticks in that column is a file or folder of the room, with or without its suffix.
"""

import fnmatch
import os
import re
import sys

SOURCES = (".c", ".cpp", ".h", ".td", ".py", ".def", ".fbs")
SKIPPED = {".git", ".deps", "Inputs"}
ENOUGH = 4
HEADS = {"file", "files", "folder", "file, folder", "folder, file"}


def walk(root):
    """Yields each folder of the source tree, relative to the root, with the names in it."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("build"))
        yield os.path.relpath(folder, root), folders, files


def is_described(root, folder):
    """Whether a README of a folder above, below test/, names this one."""
    parts = folder.split("/")
    for length in range(len(parts) - 1, 0, -1):
        path = os.path.join(root, *parts[:length], "README.md")
        if parts[0] == "test" and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return f"`{'/'.join(parts[length:])}/`" in file.read()
    return False


def read_names(path):
    """Yields line and name of what a README lists in tables of files."""
    is_listing = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("|"):
                is_listing = False
                continue
            first = line.split("|")[1].strip()
            if first in HEADS:
                is_listing = True
            elif is_listing:
                yield from ((number, name) for name in re.findall(r"`([^`]+)`", first))


def exists(root, folder, name):
    """Whether a room has what its README calls `name`: a path, a pattern, or files without their suffix."""
    path = os.path.normpath(os.path.join(root, folder, name))
    if os.path.exists(path) or os.path.exists(os.path.join(root, name)):
        return True
    parent, stem = os.path.split(path)
    names = os.listdir(parent) if os.path.isdir(parent) else []
    return any(fnmatch.fnmatch(other, stem) or fnmatch.fnmatch(other, stem + ".*") for other in names)


def find_faults(root):
    for folder, folders, files in walk(root):
        readme = os.path.join(root, folder, "README.md")
        count = sum(name.endswith(SOURCES) for name in files)
        if not os.path.exists(readme):
            if count >= ENOUGH and not is_described(root, folder):
                yield f"{folder}: {count} sources, and no README.md"
            continue
        for number, name in read_names(readme):
            if not exists(root, folder, name):
                yield f"{folder}/README.md:{number}: there is no '{name}'"


def main():
    faults = list(find_faults(sys.argv[1]))
    print("\n".join(faults) or "all rooms are described", file=sys.stderr if faults else sys.stdout)
    return 1 if faults else 0


sys.exit(main())
