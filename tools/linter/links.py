# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rule: libraries link those of folders that cmake/dependencies.txt declares above theirs, and link them privately."""

import os

from linter.cmake_lists import read_commands
from linter.includes import DECLARED, read_declarations
from linter.tree import Finding

# Words of these commands that are no libraries.
KEYWORDS = {"PRIVATE", "PUBLIC", "INTERFACE", "STATIC", "SHARED", "MODULE", "OBJECT"}
# Folders whose targets may link anything: nothing links them.
TOP = ("test/", "tools/")


class Link:
    """One library that one target links."""

    def __init__(self, path, line, target, linked, kind):
        self.path, self.line, self.target, self.linked, self.kind = path, line, target, linked, kind


def read_links(tree):
    """The list that declares each target, and all links."""
    owners, links = {}, []
    for path in tree.all:
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        for line, command, words in read_commands(tree.text(path)):
            names = [word for _, word in words]
            if command == "target_link_libraries":
                rest = words[1:]
            elif "library" in command or "executable" in command:
                owners.setdefault(names[0], path)
                rest = words[names.index("LINK") + 1 :] if "LINK" in names else []
            else:
                continue
            kind = ""
            for offset, word in rest:
                if word in KEYWORDS:
                    kind = word
                else:
                    links.append(Link(path, line + offset, names[0], word, kind))
    return owners, links


def check_links(tree):
    """Libraries link those of lower folders only, and privately."""
    if not tree.exists(DECLARED):
        return
    declared = read_declarations(tree.text(DECLARED))
    order = {unit: number for number, unit in enumerate(declared.lines)}
    owners, links = read_links(tree)
    for link in links:
        if link.path not in tree.wanted or link.path.startswith(TOP) or link.linked not in owners:
            continue
        # The folder that lists a target: a file stands for all of them.
        unit, lower = (declared.find_unit(os.path.dirname(owners.get(name, link.path))) for name in (link.target, link.linked))
        if unit in order and lower in order and order[lower] > order[unit]:
            yield Finding(link.path, link.line, f"{unit} may not link {link.linked} of {lower}, which {DECLARED} declares below it")
        if link.kind == "PUBLIC":
            yield Finding(link.path, link.line, f"{link.target} links {link.linked} for all that link it: write PRIVATE, and link it where it is used")
