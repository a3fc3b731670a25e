# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks relative links in Markdown: check-links.py PAGE..., or --tree ROOT for all pages that the source tree has.

Of a source tree, paths in backticks are checked, too: those with a suffix of ours, and those that begin with a folder of the tree. They are
relative to the tree, to the page, or to a folder that pages leave out ("plan/Verify.h" in runtime/). Names of passes are checked as well.
"""

import fnmatch
import glob
import os
import re
import sys

LINK = re.compile(r"(?<!!)\[[^][]*\]\(([^()\s]+)\)")
SKIPPED = {".git", ".deps", "Inputs"}
FOLDERS = ("compiler", "dialects", "passes", "runtime", "test", "tools")
SUFFIXES = r"\.(?:c|cpp|h|td|py|md|def|fbs|test|mlir|txt|json|cmake)"
PATH = re.compile(rf"`([\w./+-]+/[\w.+-]+{SUFFIXES})[`:]|`((?:{'|'.join(FOLDERS)}|cmake|docs|models)/[\w./*+-]+)`")
PASS = re.compile(r"`((?:tenon|plan)-[a-z0-9-]+)`")
PROGRAM = re.compile(r"tenon-(?:run|opt|lsp-server|docs|tools|example|graph-example)\b")
# The files that a how-to page adds stand at the beginning of an entry; test/howto has an eye on them.
ENTRY = re.compile(r"\d+\. `[^`]+`")


def read_lines(path):
    """Yields number and text of the lines outside of blocks of code."""
    is_code = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.lstrip().startswith("```"):
                is_code = not is_code
            elif not is_code and not line.startswith("    "):
                yield number, line


def read_prose(path):
    """The same, with what looks like links in backticks broken."""
    for number, line in read_lines(path):
        yield number, re.sub(r"`[^`]*`", lambda code: code.group().replace("[", " "), line)


def find_anchors(path):
    """The anchors of a page's headings, as GitHub makes them."""
    anchors, seen = set(), {}
    for _, line in read_prose(path):
        if not line.startswith("#"):
            continue
        text = line.lstrip("#").strip().replace("`", "").lower()
        anchor = re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        anchors.add(f"{anchor}-{number}" if number else anchor)
    return anchors


def check_page(path):
    """Yields a line for each link that leads nowhere."""
    for number, line in read_prose(path):
        for target in LINK.findall(line):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            linked = os.path.join(os.path.dirname(path), file) if file else path
            if not os.path.exists(linked):
                yield f"{path}:{number}: there is no file '{file}'"
            elif anchor and anchor not in find_anchors(linked):
                yield f"{path}:{number}: there is no heading '#{anchor}'" + (f" in {file}" if file else "")


def exists(path):
    """Whether there is a file or folder of that name, which may be a pattern or lack its suffix."""
    folder, name = os.path.split(path.rstrip("/"))
    names = os.listdir(folder or ".") if os.path.isdir(folder or ".") else []
    return any(fnmatch.fnmatch(other, name) or fnmatch.fnmatch(other, name + ".*") for other in names)


def check_paths(path, root):
    """Yields a line for each path in backticks that the tree does not have."""
    bases = [root, os.path.dirname(path), os.path.join(root, "runtime", "include"), *(os.path.join(root, folder) for folder in FOLDERS)]
    for number, line in read_lines(path):
        for match in PATH.finditer(ENTRY.sub("", line)):
            named = match.group(1) or match.group(2)
            if not any(exists(os.path.join(base, named)) for base in bases):
                yield f"{path}:{number}: there is no {named}"


def read_passes(root):
    """The names of all passes of a source tree."""
    names = set()
    for path in glob.glob(os.path.join(root, "passes", "**", "*.td"), recursive=True):
        with open(path, encoding="utf-8") as file:
            names.update(re.findall(r'Pass<"([\w-]+)"', file.read()))
    return names


def check_passes(path, passes):
    """Yields a line for each pass in backticks that there is not. Programs have names like those of passes."""
    for number, line in read_lines(path):
        for name in PASS.findall(line):
            if name not in passes and not PROGRAM.match(name):
                yield f"{path}:{number}: there is no pass '{name}'"


def find_pages(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("build"))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".md"))


def main():
    pages = list(find_pages(sys.argv[2])) if sys.argv[1] == "--tree" else sys.argv[1:]
    assert pages, "no page to check"
    faults = [fault for page in pages for fault in check_page(page)]
    if sys.argv[1] == "--tree":
        # The changelog tells of files that are gone.
        current = [page for page in pages if os.path.basename(page) != "CHANGELOG.md"]
        passes = read_passes(sys.argv[2])
        faults += [fault for page in current for fault in [*check_paths(page, sys.argv[2]), *check_passes(page, passes)]]
    print("\n".join(faults) or f"{len(pages)} pages", file=sys.stderr if faults else sys.stdout)
    return 1 if faults else 0


sys.exit(main())
