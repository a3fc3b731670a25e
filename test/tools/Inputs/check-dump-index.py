# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compares the page of a folder of dumps with the files: check-dump-index.py FOLDER."""

import base64
import glob
import html.parser
import json
import os
import re
import sys
import zlib


class Scripts(html.parser.HTMLParser):
    """The contents of script elements by their ids."""

    def __init__(self):
        super().__init__()
        self.contents, self.current, self.tags = {}, None, set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag == "script":
            self.current = dict(attrs).get("id", "program")
            self.contents[self.current] = ""

    def handle_endtag(self, tag):
        self.current = None

    def handle_data(self, data):
        if self.current:
            self.contents[self.current] += data


def main():
    folder = sys.argv[1]
    with open(os.path.join(folder, "index.html"), encoding="utf-8") as file:
        page = file.read()
    scripts = Scripts()
    scripts.feed(page)
    assert scripts.tags == {"html", "meta", "title", "style", "body", "script"}, scripts.tags
    assert not re.search(r"https?://|src=|fetch\(|import\(", page), "the page needs other files"
    index = json.loads(scripts.contents["index"])
    paths = sorted(glob.glob(os.path.join(folder, "[0-9]*.mlir")))
    assert [entry["name"] for entry in index["files"]] == [os.path.basename(path) for path in paths]
    for i, (entry, path) in enumerate(zip(index["files"], paths)):
        with open(path, "rb") as file:
            text = file.read()
        packed = base64.b64decode(scripts.contents[f"f{i}"])
        assert (zlib.decompress(packed) if index["compressed"] else packed) == text, path
        assert entry["bytes"] == len(text) and entry["ms"] >= 0, entry
        assert text.decode().startswith(f"// IR after {entry['pass']} of {entry['scope']}, "), entry
    assert index["files"][0]["pass"] == "import" and any(entry["ms"] > 0 for entry in index["files"])


main()
