# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The lists of what cases are expected to do, and what the runner prints and writes."""

import collections
import os
import xml.etree.ElementTree as ElementTree

from case_runner import CRASHED, FAILED, PASSED, UNSUPPORTED

VERDICTS = [PASSED, FAILED, UNSUPPORTED, CRASHED]
_HEADER = """\
# Cases that pass and must go on passing, and those of ONNX's that are known to end otherwise, with how. Written by run.py --update.
"""


def readList(path):
    """What is expected of a case, by its name."""
    if not path.is_file():
        return {}
    lines = (line.split("#")[0].split() for line in path.read_text().splitlines())
    return {line[0]: line[1] if len(line) > 1 else PASSED for line in lines if line}


def writeList(path, expected):
    line = lambda name: name + ("" if expected[name] == PASSED else " " + expected[name]) + "\n"
    path.write_text(_HEADER + "".join(map(line, sorted(expected))))


def printTable(rows, whole):
    """One line an operator; without `whole`, only operators with a case that does not pass."""
    counts = collections.defaultdict(collections.Counter)
    for case, result in rows:
        counts[case.operator][result.verdict] += 1
    perfect = [op for op, count in counts.items() if count[PASSED] == count.total()]
    shown = sorted(counts if whole else set(counts) - set(perfect))
    if shown:
        width = max(len(op) for op in shown)
        print(f"{'operator':<{width}}  cases" + "".join(f"{verdict:>13}" for verdict in VERDICTS))
        for op in shown:
            numbers = "".join(f"{counts[op][verdict] or '':>13}" for verdict in VERDICTS)
            print(f"{op:<{width}}  {counts[op].total():>5}{numbers}")
    print(f"{len(perfect)} of {len(counts)} operators pass all of their cases")


def printReasons(rows):
    """The reasons of what does not pass, the most frequent first."""
    reasons = collections.defaultdict(list)
    for case, result in rows:
        if result.verdict != PASSED:
            # A message names its file first, which would make each reason a different one.
            reasons[result.verdict, result.reason.replace(str(case.path), case.path.name)].append(case.name)
    for (verdict, reason), names in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):>5} {verdict:<12} {reason}\n{'':>18} {', '.join(names[:3])}{', ...' if len(names) > 3 else ''}")


def printTotals(rows):
    total = collections.Counter(result.verdict for _, result in rows)
    bySet = collections.defaultdict(collections.Counter)
    for case, result in rows:
        bySet[case.name.partition("/")[0]][result.verdict] += 1
    for name, count in [*sorted(bySet.items()), ("all", total)]:
        share = 100 * count[PASSED] / max(count.total(), 1)
        parts = ", ".join(f"{count[verdict]} {verdict}" for verdict in VERDICTS)
        print(f"{name}: {parts} ({share:.1f} % of {count.total()} pass)")


def writeJunit(path, rows, isBroken):
    """A case that does not pass, and is not expected to, counts as skipped."""
    suite = ElementTree.Element("testsuite", name="conformance", tests=str(len(rows)))
    for case, result in rows:
        kind, _, name = case.name.partition("/")
        element = ElementTree.SubElement(suite, "testcase", classname=kind, name=name, time=f"{result.seconds:.3f}")
        if result.verdict != PASSED:
            tag = "failure" if isBroken(case, result) else "skipped"
            text = "".join(c if c.isprintable() else "?" for c in f"{result.verdict}: {result.reason}")
            ElementTree.SubElement(element, tag, message=text)
    os.makedirs(path.parent, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)
