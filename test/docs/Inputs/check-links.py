# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks relative links in Markdown: check-links.py PAGE..., or --tree ROOT for all pages that the source tree has."""

import os
import re
import sys

LINK = re.compile(r"(?<!!)\[[^][]*\]\(([^()\s]+)\)")
SKIPPED = {".git", ".deps", "Inputs"}


def read_prose(path):
    """Yields number and text of the lines outside of code."""
    is_code = False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line.lstrip().startswith("```"):
                is_code = not is_code
            elif not is_code and not line.startswith("    "):
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


def find_pages(root):
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in SKIPPED and not name.startswith("build"))
        yield from (os.path.join(folder, name) for name in sorted(files) if name.endswith(".md"))


def main():
    pages = list(find_pages(sys.argv[2])) if sys.argv[1] == "--tree" else sys.argv[1:]
    assert pages, "no page to check"
    faults = [fault for page in pages for fault in check_page(page)]
    print("\n".join(faults) or f"{len(pages)} pages", file=sys.stderr if faults else sys.stdout)
    return 1 if faults else 0


sys.exit(main())
