# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rule: CMake's lists and the files agree. Each source is in a list, once, and each list names files that exist."""

import os
import re

from linter.tree import Finding

COMMAND = re.compile(r"^[ \t]*(\w+)[ \t]*\(((?:[^()#\"]|\"[^\"]*\"|#[^\n]*|\([^()]*\))*)\)", re.MULTILINE)
SOURCES = (".c", ".cpp")
# Sources of these folders are no part of the build: tests compile them.
NOT_BUILT = re.compile(r"(^|/)Inputs/")


def check_cmake(tree):
    """Each source is in exactly one list of its target, and each listed file exists."""
    lists = [path for path in tree.all if os.path.basename(path) == "CMakeLists.txt"]
    listed, libraries, added = set(), {}, set()
    findings = []
    for path in lists:
        folder = os.path.dirname(path)
        for line, command, words in read_commands(tree.text(path)):
            if command == "add_subdirectory":
                added.add(os.path.normpath(os.path.join(folder, words[0][1])))
            in_command = set()
            for offset, word in words:
                source = resolve(word, folder)
                if not source:
                    continue
                where = line + offset
                listed.add(source)
                if not tree.exists(source):
                    findings.append(Finding(path, where, f"{word} is listed and does not exist"))
                elif source in in_command and command != "add_custom_command":
                    findings.append(Finding(path, where, f"{word} is listed twice"))
                elif "library" in command and source in libraries:
                    findings.append(Finding(path, where, f"{word} is listed in {libraries[source]} as well"))
                in_command.add(source)
                if "library" in command:
                    libraries.setdefault(source, f"{path}:{where}")
    findings += find_unlisted(tree, lists, listed)
    for path in lists:
        folder = os.path.dirname(path)
        if folder and folder not in added:
            findings.append(Finding(path, 1, f"no add_subdirectory leads to {folder}"))
    return [finding for finding in findings if finding.path in tree.wanted]


def find_unlisted(tree, lists, listed):
    folders = {os.path.dirname(path) for path in lists} - {""}
    for path in tree.all:
        if path.endswith(SOURCES) and path not in listed and not NOT_BUILT.search(path):
            if any(path.startswith(folder + "/") for folder in folders):
                yield Finding(path, 1, "no CMakeLists.txt lists this file: nothing compiles it")


def read_commands(text):
    """The first line, the name and the words of each command, words with the lines that they are behind the first one. Variables
    that the file sets are replaced by each of their words."""
    values = {}
    for match in COMMAND.finditer(text):
        command = match.group(1).lower()
        line = text[: match.start()].count("\n") + 1
        words = []
        for offset, row in enumerate(match.group(2).split("\n")):
            for word in re.sub(r"#.*", "", row).replace('"', "").split():
                words += [(offset, value) for value in expand(word, values)]
        if command == "set" and words:
            values[words[0][1]] = [value for _, value in words[1:]]
        elif command == "foreach" and words:
            values[words[0][1]] = [value for _, value in words[1:] if value not in ("IN", "LISTS", "ITEMS")]
        yield line, command, words


def expand(word, values):
    """The words that a word with a variable of the same file stands for."""
    for name, replacements in values.items():
        variable = "${" + name + "}"
        if variable in word:
            return [result for value in replacements for result in expand(word.replace(variable, value), {})]
    return [word]


def resolve(word, folder):
    """The path of the source that a word names; None for other words, and for files that the build makes."""
    word = word.replace("${CMAKE_SOURCE_DIR}/", "/").replace("${CMAKE_CURRENT_SOURCE_DIR}/", "")
    if not word.endswith(SOURCES) or "$" in word or "\\" in word:
        return None
    return word[1:] if word.startswith("/") else os.path.normpath(os.path.join(folder, word))
