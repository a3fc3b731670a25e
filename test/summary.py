#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Adds up JUnit files and prints one line: N passed, N failed, N skipped.

usage: summary.py FOLDER SUITE...

Each suite should have left FOLDER/SUITE.xml; one that did not counts as a failure.
"""

import pathlib
import sys
import xml.etree.ElementTree as ElementTree


def count(path):
    passed = failed = skipped = 0
    for case in ElementTree.parse(path).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return passed, failed, skipped


def main():
    folder, suites = pathlib.Path(sys.argv[1]), sys.argv[2:]
    total = [0, 0, 0]
    print()
    for suite in suites:
        try:
            counts = count(folder / f"{suite}.xml")
        except (OSError, ElementTree.ParseError) as error:
            print(f"{suite}: left no result ({error})")
            counts = (0, 1, 0)
        print(f"{suite:<14}{counts[0]:>6} passed {counts[1]:>6} failed {counts[2]:>6} skipped")
        total = [a + b for a, b in zip(total, counts)]
    print(f"{total[0]} passed, {total[1]} failed, {total[2]} skipped")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
