# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The page of operators: what the import table has, and how the cases of each operator and opset fare."""

import collections
import json
import subprocess

from case_runner import PASSED

_HEADER = """\
# Operators

Written by `test/conformance/run.py --set node --page FILE`, from what `tenon operators` prints and the results of ONNX's node
cases. *handler*: imported by code of its own. *function*: by the function body that its schema has. *none*: refused, with exit
code 3. Cases count by the opset that they are written in; `_expanded` cases count with the operator that they spell out.
"""


def _opsetOf(case):
    return case.model.opsets.get("", 0) if case.model else 0


def _split(name):
    domain, _, op = name.rpartition(".")
    return (domain or "ai.onnx"), op


def write(path, rows, compiler):
    output = subprocess.run([str(compiler), "operators", "--json"], check=True, capture_output=True, text=True).stdout
    cases = collections.defaultdict(list)
    for case, result in rows:
        cases[_split(case.operator)].append((case, result))
    lines = [_HEADER]
    domain = None
    for op in json.loads(output):
        if op["domain"] != domain:
            domain = op["domain"]
            lines += [f"\n## {domain}\n", "| operator | since | imported by | opset: passed of all | what does not pass |", "|---|---|---|---|---|"]
        found = cases.get((domain, op["name"]), [])
        opsets = collections.Counter(_opsetOf(case) for case, _ in found)
        passed = collections.Counter(_opsetOf(case) for case, result in found if result.verdict == PASSED)
        counts = ", ".join(f"{opset}: {passed[opset]}/{count}" for opset, count in sorted(opsets.items()))
        left = [f"{case.name.partition('/')[2]} ({result.verdict})" for case, result in found if result.verdict != PASSED]
        lines.append(f"| {op['name']} | {op['since']} | {op['how']} | {counts} | {', '.join(left)} |")
    path.write_text("\n".join(lines) + "\n")
