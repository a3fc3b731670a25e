# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Rules about the text of single files: white space, license, paths of a machine, header guards, retired words,
and of folders: a README."""

import posixpath
import re

from linter.tree import Finding, interpreter

SOURCES = (".c", ".cpp", ".h", ".td", ".fbs", ".py")
LICENSE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
HASH_LICENSE = f"# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.\n# {LICENSE}\n#\n"


def check_whitespace(tree):
    """Lines end without blanks, files with one newline; no tabs, no carriage returns."""
    for path in tree.paths:
        for number, line in tree.lines(path):
            if line.rstrip() != line:
                yield Finding(path, number, "trailing white space", "fix")
            elif "\t" in line and not path.endswith((".md", ".onnxtxt")):
                yield Finding(path, number, "tab: indent with spaces")
        text = tree.text(path)
        if text and not text.endswith("\n"):
            yield Finding(path, text.count("\n") + 1, "no newline at the end of the file", "fix")
        elif text.endswith("\n\n"):
            yield Finding(path, text.count("\n"), "empty lines at the end of the file", "fix")


def fix_whitespace(tree):
    for path in {finding.path for finding in check_whitespace(tree) if finding.mend}:
        text = "\n".join(line.rstrip() for _, line in tree.lines(path)).rstrip("\n")
        tree.write(path, text + "\n" if text else "")


def needs_license(tree, path):
    if path.endswith((*SOURCES, ".cmake")):
        return True
    return bool(interpreter(tree.text(path)))


def check_license(tree):
    """Sources and scripts name the license in their first lines."""
    for path in tree.paths:
        if needs_license(tree, path) and LICENSE not in "\n".join(tree.text(path).split("\n")[:8]):
            mend = None if path.endswith((".c", ".cpp", ".h", ".td", ".fbs")) else "fix"
            yield Finding(path, 1, f"no license in the first lines: '{LICENSE}'", mend)


def fix_license(tree):
    for path in [finding.path for finding in check_license(tree) if finding.mend]:
        text = tree.text(path)
        first, rest = text.split("\n", 1) if text.startswith("#!") else ("", text)
        header = HASH_LICENSE if rest.startswith(("#", '"')) else HASH_LICENSE.removesuffix("#\n") + "\n"
        tree.write(path, (first + "\n" if first else "") + header + rest)


def check_readme(tree):
    """A folder of sources has a README.md, apart from those of tests."""
    folders = set()
    for path in sorted(tree.paths):
        folder = posixpath.dirname(path)
        if folder in folders or not folder or not path.endswith(SOURCES) or path.startswith("test/"):
            continue
        folders.add(folder)
        if not tree.exists(f"{folder}/README.md"):
            yield Finding(path, 1, f"{folder} has no README.md: what lives there, what does not, and why it is so")


MACHINE_PATH = re.compile(r"(?<![\w.}$/-])/(work|home|root|Users|tmp)/\w")


def check_paths(tree):
    """No path of somebody's machine. Tests and examples in documents may use /tmp."""
    for path in tree.paths:
        for number, line in tree.lines(path):
            match = MACHINE_PATH.search(line)
            if match and not (match.group(1) == "tmp" and (path.startswith("test/") or path.endswith(".md"))):
                yield Finding(path, number, f"absolute path '/{match.group(1)}/...': name it from the source or build folder")


# Headers that CMake precompiles and nothing includes.
PRECOMPILED = "dialects/precompiled/"


def check_guards(tree):
    """A header's guard is its path."""
    for path in tree.with_suffix(".h"):
        if path.startswith(PRECOMPILED):
            continue
        guard = re.search(r"^#ifndef (\w+)\n#define (\w+)", tree.text(path), re.MULTILINE)
        wanted = guard_of(path)
        if not guard:
            yield Finding(path, 1, f"no include guard: {wanted}")
        elif guard.groups() != (wanted, wanted):
            line = tree.text(path)[: guard.start()].count("\n") + 1
            yield Finding(path, line, f"include guard {guard.group(1)}: should be {wanted}", "fix")


def guard_of(path):
    name = re.sub(r"\W", "_", path.removeprefix("runtime/include/")).upper()
    return name if name.startswith("TENON_") else "TENON_" + name


def fix_guards(tree):
    for path in [finding.path for finding in check_guards(tree) if finding.mend]:
        old = re.search(r"^#ifndef (\w+)\n#define (\w+)", tree.text(path), re.MULTILINE)
        tree.write(path, re.sub(rf"\b{old.group(1)}\b", guard_of(path), tree.text(path)))


def read_vocabulary(tree):
    """Pairs of a retired word, as a pattern, and what to write."""
    words = []
    path = "tools/linter/vocabulary.txt"
    if tree.exists(path):
        for line in (tree.root / path).read_text(encoding="utf-8").split("\n"):
            retired, arrow, use = line.partition("->")
            if arrow and not line.startswith("#"):
                words.append((re.compile(rf"(?<!\w){re.escape(retired.strip())}(?!\w)"), use.strip()))
    return words


def check_vocabulary(tree):
    """Words that were replaced do not come back."""
    words = read_vocabulary(tree)
    for path in tree.paths:
        # The table itself, and what tells of the past.
        if path == "tools/linter/vocabulary.txt" or path == "CHANGELOG.md":
            continue
        for number, line in tree.lines(path):
            for retired, use in words:
                match = retired.search(line)
                if match:
                    yield Finding(path, number, f"'{match.group(0)}' is retired: write '{use}'")
