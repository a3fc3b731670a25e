# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Checks HTML pages: check-site.py FOLDER. Tags are balanced, links lead to files and anchors, and no Markdown is left over."""

import html.parser
import os
import re
import sys

VOID = {"meta", "br"}


class Page(html.parser.HTMLParser):
    """The anchors and links of one page, and what is wrong with its tags and text."""

    def __init__(self, path):
        super().__init__()
        self.path, self.open, self.anchors, self.links, self.faults = path, [], set(), [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        self.close()
        if self.open:
            self.faults.append(f"<{self.open[-1]}> is not closed")

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors |= {values["id"]} if "id" in values else set()
        self.links += [values["href"]] if "href" in values else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"line {self.getpos()[0]}: </{tag}> closes another tag")

    def handle_data(self, data):
        left = re.search(r"\]\(|\*\*\w|^#+ |^\|.*\|$|```", data, re.MULTILINE)
        if left and not {"code", "pre", "style"} & set(self.open):
            self.faults.append(f"line {self.getpos()[0]}: '{left.group()}' is Markdown")


def find_faults(folder):
    pages = {}
    for root, _, files in os.walk(folder):
        for name in files:
            if name.endswith(".html"):
                path = os.path.join(root, name)
                pages[os.path.normpath(path)] = Page(path)
    assert len(pages) >= 50, f"only {len(pages)} pages"
    for path, page in sorted(pages.items()):
        name = os.path.relpath(path, folder)
        yield from (f"{name}: {fault}" for fault in page.faults)
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), file)) if file else path
            if not os.path.exists(target):
                yield f"{name}: there is no '{file}'"
            elif anchor and anchor not in pages[target].anchors:
                yield f"{name}: there is no '{link}'"


def main():
    faults = list(find_faults(sys.argv[1]))
    print("\n".join(faults) or "the pages are sound", file=sys.stderr if faults else sys.stdout)
    return 1 if faults else 0


sys.exit(main())
