# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Walks a page of --report: check-page.py PAGE HEADING...

Tags are balanced, ids unique, each link leads to an id, nothing is loaded from anywhere, the one script is the one that
the page's security policy names, and the page has the headings.
"""

import base64
import hashlib
import html.parser
import re
import sys

VOID = {"meta", "input", "br"}
LOADING = {"src", "srcset", "data", "action", "formaction", "poster", "xlink:href", "ping", "background"}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.scripts, self.headings = [], [], [], [], []
        self.policy, self.styles = "", []

    def handle_starttag(self, tag, attrs):
        self.visit(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)
            if tag == "script":
                self.scripts.append("")
            if tag == "h2":
                self.headings.append("")

    def handle_startendtag(self, tag, attrs):
        self.visit(tag, attrs)

    def visit(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        assert tag not in {"iframe", "object", "embed", "link", "base", "img", "image", "use"}, f"<{tag}>"
        for name, value in attrs:
            assert not name.startswith("on"), f"<{tag}> has {name}"
            assert name not in LOADING, f"<{tag}> has {name}"
            if name == "href":
                assert re.fullmatch("#[a-z0-9]+", value), f"<{tag}> leads to {value}"
                self.links.append(value[1:])
            if name == "id":
                self.ids.append(value)
            if name == "style":
                self.styles.append(value)
        if ("http-equiv", "Content-Security-Policy") in attrs:
            self.policy = dict(attrs)["content"]

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> at {self.getpos()} after {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += data
        elif self.open and self.open[-1] == "style":
            self.styles.append(data)
        elif self.open and self.open[-1] == "h2":
            self.headings[-1] += data


text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
page.close()
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids), "an id is there twice"
assert not set(page.links) - set(page.ids), sorted(set(page.links) - set(page.ids))[:5]
assert all("url(" not in style and "@import" not in style for style in page.styles)
assert len(page.scripts) == 1
digest = base64.b64encode(hashlib.sha256(page.scripts[0].encode()).digest()).decode()
assert page.policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'", page.policy
missing = [heading for heading in sys.argv[2:] if heading not in page.headings]
assert not missing, f"{missing} of {page.headings}"
