# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rule: folders include one another as cmake/dependencies.txt declares, which has no circles."""

import collections
import os
import re

from linter.tree import Finding

DECLARED = "cmake/dependencies.txt"
INCLUDE = re.compile(r'^\s*#?\s*include\s+(["<])([^">]+)[">]')
GENERATED = re.compile(r"(\.inc|_generated\.h)$")
# Where headers are found without the path from the root.
PUBLIC = {"tenon/": "runtime/include/tenon/"}


class Declarations:
    """What the file declares. A unit is a folder with all below it that is no unit itself, or a file."""

    def __init__(self):
        self.lines = {}  # of units
        self.allowed = {}  # names of units and libraries, by unit
        self.libraries = {}  # beginnings of what is included, by name
        self.exceptions = {}  # (unit, unit) -> (line, count)
        self.findings = []

    def find_unit(self, path):
        """The unit that a file belongs to: the longest that its path begins with."""
        while path:
            if path in self.lines:
                return path
            path = os.path.dirname(path)
        return None

    def find_library(self, header):
        for name, beginnings in self.libraries.items():
            if any(header.startswith(b) if b.endswith("/") else header == b for b in beginnings):
                return name
        return None


def read_declarations(text):
    result = Declarations()
    for number, line in enumerate(text.split("\n"), 1):
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        if not line:
            continue
        exception = re.fullmatch(r"except (\S+) -> (\S+) (\d+): (.+)", line)
        name, colon, rest = line.partition(":")
        if exception:
            result.exceptions[exception[1], exception[2]] = (number, int(exception[3]))
        elif not colon or line.startswith("except "):
            result.findings.append(Finding(DECLARED, number, f"cannot read '{line}'"))
        elif name.startswith("library "):
            result.libraries[name.removeprefix("library ").strip()] = rest.split()
        else:
            result.lines[name] = number
            result.allowed[name] = rest.split()
    return result


def check_names(tree, declared):
    """Units exist, and are declared before those that include them: so there is no circle."""
    seen = set(declared.libraries) | {"*"}
    for unit, names in declared.allowed.items():
        line = declared.lines[unit]
        if not tree.exists(unit):
            yield Finding(DECLARED, line, f"{unit} does not exist")
        for name in names:
            if name not in seen:
                reason = "is declared below it" if name in declared.lines else "is not declared"
                yield Finding(DECLARED, line, f"{unit} may not include {name}, which {reason}")
        seen.add(unit)


def read_includes(tree, declared):
    """Yields path, line, unit or library, or a finding in place of the last one."""
    for path in tree.all:
        if not path.endswith((".c", ".cpp", ".h", ".td")):
            continue
        for number, line in tree.lines(path):
            match = INCLUDE.match(line)
            if match:
                yield path, number, find_included(tree, declared, path, number, *match.groups())


def find_included(tree, declared, path, number, quote, header):
    for beginning, folder in PUBLIC.items():
        if header.startswith(beginning):
            header = folder + header.removeprefix(beginning)
    if header.split("/")[0] in tree.rooms and "/" in header:
        if not tree.exists(header) and not GENERATED.search(header):
            return Finding(path, number, f"{header} does not exist")
        # What the build makes of Passes.td for Passes.h belongs to Passes.h.
        return declared.find_unit(header.removesuffix(".inc")) or Finding(path, number, f"{header} is in no folder that {DECLARED} names")
    library = declared.find_library(header)
    if library:
        return library
    beside = os.path.normpath(os.path.join(os.path.dirname(path), header))
    if quote == '"' and (tree.exists(beside) or GENERATED.search(header)):
        return declared.find_unit(beside)
    if "/" in header and not header.startswith(("sys/", "linux/")):
        return Finding(path, number, f"{header} is of no library that {DECLARED} names")
    return None


def check_includes(tree):
    """Folders include one another in the declared direction, without circles."""
    if not tree.exists(DECLARED):
        return
    tree.rooms = {path.split("/")[0] for path in tree.all if "/" in path}
    declared = read_declarations(tree.text(DECLARED))
    findings = list(declared.findings) + list(check_names(tree, declared))
    used = collections.defaultdict(list)
    for path, number, target in read_includes(tree, declared):
        unit = declared.find_unit(path)
        if isinstance(target, Finding):
            findings.append(target)
        elif unit is None:
            findings.append(Finding(path, number, f"is in no folder that {DECLARED} names"))
        elif target not in (None, unit):
            used[unit, target].append((path, number))
    for (unit, target), places in used.items():
        allowed = declared.allowed[unit]
        if target in allowed or "*" in allowed:
            continue
        _, count = declared.exceptions.get((unit, target), (0, 0))
        if len(places) > count:
            exception = f" more than {count} times" if count else ""
            findings += [
                Finding(path, number, f"{unit} may not include {target}{exception} ({DECLARED})") for path, number in places
            ]
    findings += find_stale(declared, used)
    return [finding for finding in findings if finding.path in tree.wanted]


def find_stale(declared, used):
    """What the file allows and nobody needs: it would let the next one in."""
    for unit, names in declared.allowed.items():
        for name in names:
            if name != "*" and (unit, name) not in used:
                yield Finding(DECLARED, declared.lines[unit], f"{unit} does not include {name}: remove it")
    for (unit, target), (line, count) in declared.exceptions.items():
        found = len(used.get((unit, target), []))
        if found < count or target in declared.allowed.get(unit, []):
            yield Finding(DECLARED, line, f"{unit} includes {target} {found} times, not {count}: lower the exception")
