#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Compiles and runs ONNX test cases, and holds the line: a listed case that fails fails the test.

Cases that pass are listed in expected.txt (ONNX's own sets) and models.txt (whole models).
Exit code: 0 no listed case failed, 5 some did, 1 the tools or the data are missing, 2 wrong usage.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile
import time

import cases
import newest_data
import onnx_data
import operators_page
import report
from case_runner import CRASHED, FAILED, PASSED, UNSUPPORTED, Result, Tools, runCase

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def parseArguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=pathlib.Path, help="case folders, instead of a set")
    parser.add_argument("--set", action="append", choices=[*onnx_data.SETS, newest_data.SET, newest_data.CHANGED, "models"], help="a set; may be repeated (node)")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only cases whose set/name matches")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the build folder (build)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="cases at a time (number of cores)")
    parser.add_argument("--time-limit", type=float, default=60, metavar="SECONDS", help="of one case (60)")
    parser.add_argument("--compile-option", action="append", default=[], metavar="OPTION", help="passed to tenon compile")
    parser.add_argument("--run-option", action="append", default=[], metavar="OPTION", help="passed to tenon-run")
    parser.add_argument("--update", action="store_true", help="add newly passing cases to the lists")
    parser.add_argument("--force", action="store_true", help="with --update: also drop cases that no longer pass")
    parser.add_argument("--table", action="store_true", help="show all operators, also those that pass everything")
    parser.add_argument("--reasons", action="store_true", help="show why cases do not pass, the most frequent reason first")
    parser.add_argument("--verbose", action="store_true", help="show each case that does not pass")
    parser.add_argument("--list", action="store_true", help="show the cases and their operators, run nothing")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="leave artifacts and reproducers of cases that do not pass")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write every verdict")
    parser.add_argument("--page", type=pathlib.Path, metavar="FILE", help="write the page of operators (with --set node)")
    parser.add_argument("--junit", type=pathlib.Path, metavar="FILE", help="write a JUnit file")
    arguments = parser.parse_args()
    if arguments.force and not arguments.update:
        parser.error("--force has a meaning only with --update")
    return arguments


def findCases(arguments):
    if arguments.folders:
        found = [cases.load(folder.resolve().parent.name, folder.resolve()) for folder in arguments.folders]
        for folder, case in zip(arguments.folders, found):
            if case is None:
                sys.exit(f"error: {folder}: wanted a folder with a model and test_data_set_0, found none")
        return found, []
    found, messages = cases.find(ROOT, arguments.set or ["node"])
    pattern = re.compile(arguments.filter)
    return [case for case in found if pattern.search(case.name)], messages


def runAll(found, tools, arguments):
    """(case, result) in the order of the cases. Processes do the work: threads that wait for them suffice."""
    progress = sys.stderr.isatty()
    results = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        futures = {pool.submit(runCase, case, tools, arguments.keep): case for case in found}
        for number, future in enumerate(concurrent.futures.as_completed(futures), 1):
            results[futures[future].name] = future.result()
            if progress and (number % 10 == 0 or number == len(found)):
                print(f"\r{number}/{len(found)}", end="\n" if number == len(found) else "", file=sys.stderr)
    return [(case, results[case.name]) for case in found]


def listOf(case):
    """Whole models have a list of their own: they are few, and each is worth a line in a review."""
    return HERE / ("models.txt" if case.name.split("/")[0] in ("models", "shared") else "expected.txt")


def isHeld(case):
    """Whether each case of its set has to have an expectation: those of ONNX."""
    return case.name.split("/")[0] in (*onnx_data.SETS, newest_data.SET)


def isBroken(case, result, expected):
    """Whether a case does not do what is expected of it, or nothing is expected of it where something has to be."""
    if case.name in expected:
        return result.verdict not in (PASSED, expected[case.name])
    return isHeld(case) and result.verdict != PASSED


def updateLists(rows, force):
    """Holds what passes, and of ONNX's sets also what is unsupported; with `force` what fails, too, and what is worse than expected."""
    for path in sorted({listOf(case) for case, _ in rows}):
        expected = report.readList(path)
        old = dict(expected)
        for case, result in rows:
            if listOf(case) != path:
                continue
            mayWorsen = force or expected.get(case.name) != PASSED
            isKnown = result.verdict == UNSUPPORTED or (result.verdict == FAILED and force)
            if result.verdict == PASSED or (isHeld(case) and isKnown and mayWorsen):
                expected[case.name] = result.verdict
            elif force:
                expected.pop(case.name, None)
        report.writeList(path, expected)
        changed = sum(old.get(name) != verdict for name, verdict in expected.items())
        print(f"{path.relative_to(ROOT)}: {changed} added or changed, {len(old.keys() - expected.keys())} dropped, {len(expected)} now")


def printLine(rows, expected):
    """What changed against the lists. Returns the cases that do not do what is expected of them."""
    broken = [(case, result) for case, result in rows if isBroken(case, result, expected)]
    fresh = [case.name for case, result in rows if result.verdict == PASSED and expected.get(case.name) != PASSED]
    if fresh:
        print(f"{len(fresh)} pass of which that is not expected: {', '.join(fresh[:10])}{', ...' if len(fresh) > 10 else ''}")
        print("  run test/conformance/run.py --update to hold them")
    for case, result in broken:
        wanted = expected.get(case.name)
        label = "REGRESSION" if wanted else "NO EXPECTATION"
        print(f"{label} {case.name}: {result.verdict}{f', wanted {wanted}' if wanted else ''}: {result.reason}")
    return broken


def main():
    arguments = parseArguments()
    found, messages = findCases(arguments)
    for message in messages:
        print(message)
    if arguments.list:
        for case in found:
            print(f"{case.name}  {case.operator}  rtol {case.rtol:g} atol {case.atol:g}  {len(case.data_sets)} data sets")
        return 0
    if not found:
        print("error: no case matches", file=sys.stderr)
        return 2

    expected = {name: verdict for path in {listOf(case) for case in found} for name, verdict in report.readList(path).items()}
    tools = Tools(arguments.build.resolve(), arguments.time_limit, arguments.compile_option, arguments.run_option)
    if tools.missing():
        message = f"{tools.missing()[0]} is not built: ninja -C {arguments.build}"
        if expected or not arguments.junit:
            print(f"error: {message}", file=sys.stderr)
            return 1
        # Nothing is promised yet, so nothing is broken.
        print(f"skipped: {message}")
        report.writeJunit(arguments.junit, [(case, Result(UNSUPPORTED, message)) for case in found], lambda case, result: False)
        return 0

    begin = time.monotonic()
    # Many cases have kernels in common. As for users, one that was compiled once is there for the next; the cache is this run's own.
    with tempfile.TemporaryDirectory(prefix="tenon-cases-") as cache:
        os.environ["TENON_CACHE_DIR"] = cache
        rows = runAll(found, tools, arguments)
    if arguments.verbose:
        for case, result in rows:
            if result.verdict != PASSED:
                print(f"{result.verdict:<12} {case.name}: {result.reason}")
    if arguments.reasons:
        report.printReasons(rows)
    report.printTable(rows, arguments.table)
    report.printTotals(rows)
    crashed = [case.name for case, result in rows if result.verdict == CRASHED]
    if crashed:
        print(f"{len(crashed)} crash, which no input may cause: {', '.join(crashed[:10])}{', ...' if len(crashed) > 10 else ''}")
    broken = printLine(rows, expected)
    print(f"took {time.monotonic() - begin:.0f} s with {arguments.jobs} jobs")
    if arguments.update:
        updateLists(rows, arguments.force)
        broken = [] if arguments.force else broken
    if arguments.junit:
        report.writeJunit(arguments.junit, rows, lambda case, result: isBroken(case, result, expected))
    if arguments.page:
        operators_page.write(arguments.page, rows, tools.compiler)
    if arguments.json:
        verdicts = {case.name: {**vars(result), "operator": case.operator} for case, result in rows}
        arguments.json.write_text(json.dumps(verdicts, indent=1) + "\n")
    return 5 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
