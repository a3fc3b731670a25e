# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""The command: options, rules, output."""

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

from linter import cmake_lists, constants, errors, external, includes, links, refusals, size, text, tidy
from linter.external import MissingProgram
from linter.tree import Finding, Tree

# In this order they are checked, and mended.
RULES = {
    "license": (text.check_license, text.fix_license),
    "guards": (text.check_guards, text.fix_guards),
    "format": (external.check_format, external.fix_format),
    "whitespace": (text.check_whitespace, text.fix_whitespace),
    "size": (size.check_size, None),
    "cmake": (cmake_lists.check_cmake, None),
    "includes": (includes.check_includes, None),
    "links": (links.check_links, None),
    "constants": (constants.check_constants, None),
    "errors": (errors.check_errors, None),
    "refusals": (refusals.check_refusals, None),
    "paths": (text.check_paths, None),
    "readme": (text.check_readme, None),
    "vocabulary": (text.check_vocabulary, None),
    "shell": (external.check_shell, None),
    "python": (external.check_python, None),
}


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(
        prog="tools/lint",
        description="Checks the rules that the source tree keeps. Prints a line for each finding; exits 1 where there are any.",
        epilog="\n".join(["rules:"] + [f"  {name:<11} {check.__doc__.strip().splitlines()[0]}" for name, (check, _) in RULES.items()]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("files", nargs="*", metavar="FILE", help="files and folders to check (the whole checkout)")
    parser.add_argument("-f", "--fix", action="store_true", help="mend what needs no thought: format, white space, guards, license")
    parser.add_argument("--rule", action="append", choices=RULES, metavar="RULE", help="check this rule only (may be repeated)")
    parser.add_argument("--root", default=pathlib.Path(__file__).parents[2], help=argparse.SUPPRESS)
    parser.add_argument("--junit", metavar="FILE", help="write a JUnit file with a case for each rule")
    parser.add_argument(
        "--tidy",
        nargs="?",
        const="changed",
        choices=("changed", "all"),
        help="run clang-tidy instead, over sources that differ from --base, or all of FILE (slow where MLIR is included)",
    )
    parser.add_argument("--base", metavar="COMMIT", help="what --tidy compares with (where this branch left main)")
    parser.add_argument("--build", metavar="FOLDER", help="the build whose compile commands --tidy uses (build/)")
    return parser.parse_args(arguments)


def write_junit(path, results):
    suite = ElementTree.Element("testsuite", name="lint")
    for rule, findings in results.items():
        case = ElementTree.SubElement(suite, "testcase", classname="lint", name=rule)
        if findings:
            failure = ElementTree.SubElement(case, "failure", message=f"{len(findings)} findings")
            failure.text = "\n".join(map(str, findings))
    ElementTree.ElementTree(suite).write(path, encoding="unicode", xml_declaration=True)


def main(arguments=None):
    options = parse_arguments(arguments)
    try:
        tree = Tree(options.root, options.files)
        if options.tidy:
            findings = tidy.run(tree, options)
            if options.junit:
                write_junit(options.junit, {"tidy": findings})
            return 1 if findings else 0
        results = {}
        for rule in options.rule or RULES:
            check, fix = RULES[rule]
            if options.fix and fix:
                fix(tree)
            results[rule] = sorted(set(check(tree) or ()))
    except (FileNotFoundError, MissingProgram) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    findings = sorted(finding for found in results.values() for finding in found)
    for finding in findings:
        print(finding)
    if options.junit:
        write_junit(options.junit, results)
    if findings:
        print(advise(findings))
    return 1 if findings else 0


def advise(findings: list[Finding]):
    """One line: how to go on."""
    mendable = sum(finding.mend is not None for finding in findings)
    rest = len(findings) - mendable
    if not mendable:
        return f"{rest} to mend by hand"
    return f"tools/lint --fix mends {mendable} of these" + (f"; {rest} to mend by hand" if rest else "")
