#!/usr/bin/env python3
# Part of Tenon, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
"""Follows the how-to pages: applies what they show to a copy of the tree, checks it by lint, builds it and runs their tests."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import time
import xml.sax.saxutils

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import overlay
import pages

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HOWTO = "docs/HowTo"
# What a copy of the tree does without.
SKIPPED = (".git", ".deps", ".cache", "shared", "__pycache__", "build*")
LIT = ("/usr/lib/llvm-22/bin/lit", "lit")


def copy_tree(root, copy):
    """Makes a copy of the source tree that git knows all files of; what an earlier copy has compiled stays."""
    os.makedirs(copy, exist_ok=True)
    for name in os.listdir(copy):
        if name != "build":
            path = os.path.join(copy, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    shutil.copytree(root, copy, ignore=shutil.ignore_patterns(*SKIPPED), dirs_exist_ok=True, symlinks=True)
    for command in (["init", "-q"], ["add", "-A"]):
        subprocess.run(["git", *command], cwd=copy, check=True)


def list_changes(copy):
    """The files of a copy that differ from what was copied."""
    listed = subprocess.run(["git", "status", "--porcelain", "-z", "--untracked-files=all"], cwd=copy, check=True, capture_output=True, text=True)
    return {line[3:] for line in listed.stdout.split("\0") if line and line[1] != " "}


def read_pages(root):
    folder = os.path.join(root, HOWTO)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    return [section for name in names for section in pages.read_page(os.path.join(folder, name), f"{HOWTO}/{name}")]


def apply_pages(sections, copy):
    """Applies all sections that are followed. Yields what the counts and the lists of files miss."""
    before = set()
    for section in sections:
        yield from pages.check_section(section, copy)
    for section in sections:
        if not section.is_followed:
            continue
        pages.apply_section(section, copy)
        touched = list_changes(copy)
        named = {entry.path for entry in section.entries}
        # Pages share files; what this one changes again was changed before.
        if touched - before - named or named - touched:
            difference = sorted((touched - before) ^ (named - before))
            yield f"{section.where()}: the list and what was touched differ in {', '.join(difference)}"
        before = touched


def lint(copy):
    """Mends what a reader would let tools/lint mend, and checks the rest. Returns what it says; nothing where it is content."""
    command = [os.path.join(copy, "tools", "lint"), *sorted(list_changes(copy))]
    subprocess.run([*command, "--fix"], cwd=copy, capture_output=True)
    result = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    return [result.stdout + result.stderr] if result.returncode else []


def get_targets(sections):
    """The programs that the pages' own commands build."""
    targets = []
    for section in sections:
        for command in map(shlex.split, section.commands):
            if command[:3] == ["ninja", "-C", "build"]:
                targets += [target for target in command[3:] if target not in targets]
    return targets


def write_lit_config(build, source, copy):
    """A configuration for lit like that of the existing build, with the programs and tests of the copy."""
    folder = os.path.join(copy, "build", "test")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(build, "test", "lit.site.cfg.py"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace(f'tenon_source_dir = "{source}"', f'tenon_source_dir = "{copy}"')
    text = text.replace(f'tenon_binary_dir = "{build}"', f'tenon_binary_dir = "{copy}/build"')
    text = text.replace(f'"{source}/test/lit.cfg.py"', f'"{copy}/test/lit.cfg.py"')
    with open(os.path.join(folder, "lit.site.cfg.py"), "w", encoding="utf-8") as file:
        file.write(text)


def run_check(command, copy):
    """Runs one command of a page in the copy. Returns its output where it fails."""
    words = shlex.split(command)
    if words[0] == "ninja":
        return None
    if words[0] == "lit":
        words = [next(path for path in map(shutil.which, LIT) if path), "-v", *words[1:]]
    result = subprocess.run(words, cwd=copy, capture_output=True, text=True)
    # lit is content with tests that it does not run, and Catch2 with a name that no test has.
    passed = result.returncode == 0 and ("Passed" in result.stdout or "All tests passed" in result.stdout)
    return None if passed else f"{command}\n{result.stdout}{result.stderr}"


def write_junit(path, results):
    """Writes (name, seconds, fault or None) of each step."""
    failures = sum(1 for _, _, fault in results if fault)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuite name="howto" tests="{len(results)}" failures="{failures}">']
    for name, seconds, fault in results:
        lines.append(f'<testcase classname="howto" name={xml.sax.saxutils.quoteattr(name)} time="{seconds:.1f}">')
        if fault:
            # XML has no place for the control characters of coloured messages.
            text = "".join(c for c in fault if c in "\n\t" or c >= " ")
            lines.append(f"<failure>{xml.sax.saxutils.escape(text)}</failure>")
        lines.append("</testcase>")
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*lines, "</testsuite>"]) + "\n")


class Steps:
    """Runs steps and keeps what they found."""

    def __init__(self):
        self.results = []

    def run(self, name, step):
        """Runs a step, which returns or yields faults. Returns whether there were none."""
        start = time.monotonic()
        try:
            faults = list(step())
        except (pages.PageError, overlay.BuildError) as error:
            faults = [str(error)]
        seconds = time.monotonic() - start
        self.results.append((name, seconds, "\n".join(faults) or None))
        print(f"{'FAIL' if faults else 'pass'} {seconds:6.1f} s  {name}")
        for fault in faults:
            print(fault, file=sys.stderr)
        return not faults


def build_and_check(arguments, sections, steps):
    """Builds the copy and runs the commands of its pages."""
    changed = sorted(list_changes(arguments.copy))
    made = overlay.Overlay(os.path.abspath(arguments.build), arguments.copy, changed, arguments.jobs)
    targets = get_targets(sections)

    def build():
        print(f"     {made.make(targets)} sources for {', '.join(targets)}")
        return ()

    if not steps.run("build", build):
        return
    write_lit_config(made.build, made.source, arguments.copy)
    for section in sections:
        if section.is_followed:
            faults = (fault for fault in (run_check(command, arguments.copy) for command in section.commands) if fault)
            steps.run(f"{section.page}: {section.title}", lambda faults=faults: faults)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", default=ROOT, help="the tree whose pages are followed; it has been built in --build")
    parser.add_argument("--build", help="the build folder; without it, pages are applied and checked by lint, and nothing is built")
    parser.add_argument("--copy", required=True, help="folder for the copy of the tree")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--junit", help="file for the results")
    arguments = parser.parse_args()
    arguments.copy = os.path.abspath(arguments.copy)
    steps = Steps()
    sections = []

    def apply():
        copy_tree(arguments.source, arguments.copy)
        sections.extend(read_pages(arguments.copy))
        if sum(section.is_followed for section in sections) < 4:
            raise pages.PageError(f"{HOWTO}: fewer than four sections can be followed")
        yield from apply_pages(sections, arguments.copy)

    if steps.run("files", apply) and steps.run("lint", lambda: lint(arguments.copy)) and arguments.build:
        build_and_check(arguments, sections, steps)
    if arguments.junit:
        write_junit(arguments.junit, steps.results)
    return 1 if any(fault for _, _, fault in steps.results) else 0


if __name__ == "__main__":
    sys.exit(main())
