# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The rule about refusals: tests show what each pass leaves alone, and each message of a verifier."""

import pathlib
import re

from linter.tree import Finding

PASS = re.compile(r'^def \w+ : Pass<"((?:tenon|plan)-([\w-]+))"')
# A lit test that finds something missing, or an error.
REFUSAL = re.compile(r"-NOT:|expected-(?:error|warning)")
MESSAGE = re.compile(r"\bemit(?:OpError|Error|OptionalError)\b")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
# Shorter ones (" and ") are found anywhere.
MIN_LITERAL = 6


def fold(text):
    """The characters that a literal stands for, on one line."""
    return " ".join(re.sub(r"\\(.)", r"\1", text).split())


def check_refusals(tree):
    """Each pass has a lit test with a refusal, and each message of the dialects' verifiers a test that expects it."""
    yield from check_passes(tree)
    yield from check_messages(tree)


def check_passes(tree):
    tests = [pathlib.PurePosixPath(path) for path in tree.all if path.startswith("test/passes/") and path.endswith((".mlir", ".test"))]
    for path in tree.with_suffix(".td"):
        if not path.startswith("passes/"):
            continue
        for number, line in tree.lines(path):
            if not (found := PASS.match(line)):
                continue
            names, name = found.groups(), found.group(1)
            own = [test for test in tests if test.stem in names or test.stem.startswith(tuple(name + "-" for name in names))]
            if not any(REFUSAL.search(tree.text(str(test))) for test in own):
                wanted = " or ".join(map(str, own)) if own else f"a test called {found.group(2)}"
                yield Finding(path, number, f"{name} has no test of what it leaves alone or refuses: {wanted} needs a -NOT or an expected-error")


def check_messages(tree):
    texts = [tree.text(path) for path in tree.all if path.startswith("test/") and path.endswith((".mlir", ".test", ".cpp", ".py"))]
    expected = fold(" ".join(texts))
    for path in tree.with_suffix(".cpp"):
        if not path.startswith("dialects/"):
            continue
        text = tree.text(path)
        for found in MESSAGE.finditer(text):
            statement = text[found.start() : text.find(";", found.start())]
            longest = fold(max(LITERAL.findall(statement), key=len, default=""))
            if len(longest) >= MIN_LITERAL and longest not in expected:
                number = text.count("\n", 0, found.start()) + 1
                yield Finding(path, number, f'no test expects "{longest}"')
