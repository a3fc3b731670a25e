# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Breaks a page in each way in which one goes stale, and checks that it is found: stale-pages.py SOURCE FOLDER."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "test", "howto"))

import pages

PAGE = """# Add a word

## A word: two files

1. `words.txt`: the word.

   ```diff
    one
   +two
    three
   ```

2. `more/new.txt`: a file.

   ```text
   new
   ```

Then:

    lit words
"""

# What is replaced, by what, and the error.
STALE = [
    (": two files", ": three files", "page.md:3: the heading counts 3 files, the list has 2"),
    (": two files", ": many files", "page.md:3: 'many' is not a number"),
    ("    one\n", "    uno\n", "page.md:5: words.txt: 0 places have the context 'uno', one is wanted"),
    ("    one\n   +two\n    three\n", "    four\n   +five\n", "page.md:5: words.txt: 2 places have the context 'four', one is wanted"),
    ("`words.txt`", "`gone.txt`", "page.md:5: there is no gone.txt"),
    ("`more/new.txt`", "`old.txt`", "page.md:13: old.txt exists already"),
    ("2. `more/new.txt`", "3. `more/new.txt`", "page.md:13: entry 3 is number 2 of the list"),
    ("    lit words\n", "", "page.md:3: no command checks the result"),
    ("   new\n   ```\n", "   new\n", "a code block has no end"),
]


def follow(text, folder):
    """Applies a page to a small tree. Returns what is wrong with it, and the text of its first file."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for name, content in (("page.md", text), ("words.txt", "one\nthree\nfour\nfour\n"), ("old.txt", "old\n")):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    try:
        sections = pages.read_page(os.path.join(folder, "page.md"), "page.md")
        faults = [fault for section in sections for fault in pages.check_section(section, folder)]
        for section in sections if not faults else ():
            pages.apply_section(section, folder)
    except pages.PageError as error:
        faults = [str(error)]
    with open(os.path.join(folder, "words.txt"), encoding="utf-8") as file:
        return faults, file.read()


def main():
    folder = sys.argv[2]
    faults, words = follow(PAGE, folder)
    assert not faults, faults
    assert words == "one\ntwo\nthree\nfour\nfour\n", words
    with open(os.path.join(folder, "more", "new.txt"), encoding="utf-8") as file:
        assert file.read() == "new\n"
    for old, new, error in STALE:
        assert PAGE.count(old) == 1, old
        faults, _ = follow(PAGE.replace(old, new), folder)
        assert any(error in fault for fault in faults), f"{new!r}: expected '{error}', found {faults}"
    return 0


sys.exit(main())
