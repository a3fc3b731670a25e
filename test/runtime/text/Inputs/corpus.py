# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Lines of text in many languages, from files of Debian's package `locales` and of this tree, and made-up ones."""

import glob
import os
import random
import re
import unicodedata

ROOT = os.path.normpath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
# Letters that this build of the packages may know and ICU of Debian 12 does not, or the other way round, are left out:
# what is assigned in the Unicode of Python 3.11, which is older than both.
SCRIPTS = [(0x20, 0x7E), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x3FF), (0x400, 0x4FF), (0x531, 0x58A), (0x590, 0x5F4),
           (0x600, 0x6FF), (0x900, 0x97F), (0x980, 0x9FE), (0xB80, 0xBFA), (0xE01, 0xE5B), (0xF00, 0xFDA), (0x10A0, 0x10FF),
           (0x1100, 0x11FF), (0x1200, 0x139F), (0x1780, 0x17F9), (0x1E00, 0x1EFF), (0x1F00, 0x1FFE), (0x2000, 0x206F),
           (0x20A0, 0x214F), (0x2150, 0x2BFF), (0x3000, 0x30FF), (0x3400, 0x3500), (0x4E00, 0x4F00), (0xAC00, 0xAD00),
           (0xF900, 0xFA6D), (0xFB00, 0xFDFB), (0xFE00, 0xFFEF), (0x1D400, 0x1D7FF), (0x1F300, 0x1FAFF), (0x20000, 0x20080)]
ODD = ["", " ", "  ", "\n", "\t \r\n", "a", "\u00a0x\u3000y\u2028z\x7f\x0b\x0cw\x85v\x1cu", "ab\u200d\ufeff\ufffd\u2581 \u2581c",
       "don't I'LL we've 'S it\u2019s", "1234567 \u0661\u0662\u0663 \u00bd\u00b2\u2460", "x" * 300, "\u4e2d" * 120,
       "e\u0301\u0323 \u1e69 s\u0323\u0307 s\u0307\u0323 \ud55c\uae00 \u1112\u1161\u11ab \ufb01 \u2126",
       "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e9\U0001f1ea\U0001f44d\U0001f3fd", "\u0130\u0131 I\u0307 \u1e9e\u00df \u03a3\u03c3\u03c2",
       "<s>[CLS]</s>[MASK] [MASK]x <extra> <Extra><EXTRA>", "  leading and trailing  ", "a.b,c;d!e?f -- ...", "\r\r\n\n  \n x"]


def from_locales(count):
    """Names of days, months and currencies, and the like: lines of a few words of one language."""
    lines = set()
    for path in sorted(glob.glob("/usr/share/i18n/locales/*")):
        with open(path, encoding="utf-8", errors="ignore") as file:
            texts = re.findall(r'"([^"<>/\\\n]{2,})"', file.read())
        texts = [text for text in texts if all(unicodedata.category(c) != "Cn" for c in text)]
        lines.update(" ".join(texts[i : i + 6]) for i in range(0, len(texts), 6))
    lines = sorted(lines)
    random.Random(1).shuffle(lines)
    return lines[:count]


def from_tree(count):
    lines = []
    for name in ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/Architecture.md", "docs/Glossary.md"]:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            lines += [line.rstrip("\n") for line in file if line.strip()]
    return lines[:count]


def made_up(count, seed):
    """Words of random letters of one script or of several, with all kinds of spaces, marks and signs between."""
    source = random.Random(seed)
    spaces = [" ", " ", " ", "  ", "\n", "\t", "\u00a0", "\u3000", ", ", ". ", "-", "' ", "\u2014", "!", "\r\n", "\u200b", "\u200d"]
    lines = []
    for _ in range(count):
        text = ""
        for _ in range(source.randrange(1, 8)):
            first, last = source.choice(SCRIPTS)
            for _ in range(source.randrange(1, 7)):
                c = chr(source.randint(first, last))
                if unicodedata.category(c) != "Cn":
                    text += c
            text += source.choice(spaces)
        lines.append(text)
    return lines


def make(scale=1):
    return ODD + from_locales(2000 * scale) + from_tree(600 * scale) + made_up(1500 * scale, seed=7)
