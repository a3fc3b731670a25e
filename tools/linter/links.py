# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rule: libraries link those of folders that cmake/dependencies.txt declares above theirs, and link them privately; targets link
the libraries whose generated headers their sources include."""

import os

from linter.cmake_lists import read_commands, resolve
from linter.includes import DECLARED, INCLUDE, read_declarations
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


class Headers:
    """The headers of the tree that a source includes, and the generated ones (`tenon_tablegen`) that are found through a library."""

    def __init__(self, tree):
        self.tree, self.known, self.generated = tree, set(tree.all), set()
        self.included = {}  # paths, by the including file
        for path in tree.all:
            if os.path.basename(path) == "CMakeLists.txt":
                for _, command, words in read_commands(tree.text(path)):
                    if command == "tenon_tablegen":
                        self.generated |= {os.path.join(os.path.dirname(path), word) for _, word in words if word.endswith(".inc")}

    def list_included(self, path):
        """What a file includes itself. A generated header with its folder is found from the root of the build: nothing to link."""
        if path not in self.included:
            found = self.included[path] = []
            matches = (INCLUDE.match(line) for _, line in self.tree.lines(path)) if path in self.known else ()
            for header in (match[2] for match in matches if match and match[1] == '"'):
                beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
                found += [beside] if beside in self.generated else [name for name in (header, beside) if name in self.known][:1]
        return self.included[path]

    def find_generated(self, source):
        """The generated headers that a source includes, and for each the file that includes it."""
        seen, open_files, found = {source}, [source], {}
        while open_files:
            path = open_files.pop()
            for name in self.list_included(path):
                if name in self.generated:
                    found.setdefault(name, path)
                elif name not in seen:
                    seen.add(name)
                    open_files.append(name)
        return found


def check_generated(tree, owners, links):
    """A build that begins with this target, or has no precompiled header, finds what its sources include."""
    headers = Headers(tree)
    folders = {}  # of the libraries that a target links
    for link in links:
        folders.setdefault(link.target, set()).add(os.path.dirname(owners.get(link.linked, "")))
    for path in tree.wanted:
        if os.path.basename(path) != "CMakeLists.txt":
            continue
        for line, command, words in read_commands(tree.text(path)):
            if "library" not in command and "executable" not in command:
                continue
            target, told = words[0][1], {os.path.dirname(path)} | folders.get(words[0][1], set())
            for offset, word in words[1:]:
                source = resolve(word, os.path.dirname(path))
                for header, by in headers.find_generated(source).items() if source in headers.known else ():
                    folder = os.path.dirname(header)
                    if folder not in told:
                        told.add(folder)
                        yield Finding(path, line + offset, f"{target} links no library of {folder}, whose {header} {by} includes")


def check_links(tree):
    """Libraries link those of lower folders only, and privately; targets link what their generated headers are of."""
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
    yield from check_generated(tree, owners, links)
